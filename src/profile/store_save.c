#include "profile/store_save.h"

#include "base/hashmap.h"
#include "profile/store_evidence.h"
#include "profile/store_rows.h"

struct table_rows {
	const uint8_t *data;
	uint32_t len;
};

static struct table_rows table_rows(const struct store_writer *w, const struct profile *p,
				    enum store_table_id table)
{
	if (table == TABLE_EVIDENCE)
		return (struct table_rows){(const uint8_t *)w->numbers, w->number_count};
	const struct store_vector *v =
		(const void *)((const uint8_t *)p + store_tables[table].vector);
	return (struct table_rows){v->data, v->len};
}

/* Identifies the number of samples by 32 bits. Counts may grow by any number, so the lowest 32 bits
 * would not do: they stay the same if the count grows by a multiple of 2^32. */
static uint32_t trace_of(const struct profile_value *v)
{
	return (uint32_t)(v->samples * 0x9e3779b97f4a7c15u >> 32);
}

/* Strings are replaced, not edited. So they have changed if their addresses have. */
static uint64_t hash_row(const struct store_table *t, const void *row)
{
	return hash_bytes(row, t->row_size, 0);
}

static uint64_t hash_rows(const struct store_table *t, struct table_rows rows)
{
	return rows.len ? hash_bytes(rows.data, (uint64_t)rows.len * t->row_size, 0) : 0;
}

/* True if row `i` is in the file in its present form. */
static bool is_saved(const struct store_writer *w, enum store_table_id table, uint32_t i,
		     const void *row)
{
	const struct saved_table *saved = &w->saved[table];
	const struct profile_value *value = row;
	const struct profile_node *node = row;
	if (i >= saved->rows)
		return false;
	switch ((enum table_changes)store_tables[table].changes) {
	case CHANGES_BY_HASH: return saved->hashes.data[i] == hash_row(&store_tables[table], row);
	case CHANGES_SCOPE: return w->node_scopes.data[i] == node->scope;
	case CHANGES_SAMPLES: return value->saved == trace_of(value);
	case CHANGES_NEVER: return true;
	case CHANGES_AS_A_WHOLE: break;
	}
	return false;
}

/* Deletes all rows of a table that is replaced as a whole. From other tables, deletes the rows that
 * the profile no longer has; only tables with an `id` shrink. */
static bool delete_rows(struct store_writer *w, const struct store_table *t, uint32_t kept)
{
	struct text sql = TEXT_INIT;
	text_printf(&sql, "DELETE FROM %s", t->name);
	if (t->changes != CHANGES_AS_A_WHOLE)
		text_printf(&sql, " WHERE id >= %u", kept);
	int r = sql_run(w->db, sql.data);
	text_release(&sql);
	return r == SQLITE_OK;
}

static bool save_table(struct store_writer *w, enum store_table_id table, struct table_rows rows)
{
	const struct store_table *t = &store_tables[table];
	const struct saved_table *saved = &w->saved[table];
	bool whole = t->changes == CHANGES_AS_A_WHOLE, ok = true;
	if (whole && hash_rows(t, rows) == saved->hash)
		return true;
	if (whole || rows.len < saved->rows)
		ok = delete_rows(w, t, rows.len);
	for (uint32_t i = 0; i < rows.len && ok; i++) {
		const uint8_t *row = rows.data + (size_t)i * t->row_size;
		if (!is_saved(w, table, i, row))
			ok = row_save(w->insert[table], t, i, row);
	}
	return ok;
}

/* The rows of `meta` that are not facts. */
static bool save_state(struct store_writer *w, const struct profile *p)
{
	const struct profile_fact state[] = {{"fused", p->fused ? "1" : "0"},
					     {"finished", p->finished ? "1" : "0"}};
	if (w->state && w->fused == p->fused && w->finished == p->finished)
		return true;
	return row_save(w->insert[TABLE_META], &store_tables[TABLE_META], 0, &state[0]) &&
	       row_save(w->insert[TABLE_META], &store_tables[TABLE_META], 0, &state[1]);
}

bool store_writer_save(struct store_writer *w, const struct profile *p)
{
	bool ok = save_state(w, p);
	w->number_count = store_numbers_of(&p->evidence, w->numbers);
	for (enum store_table_id i = 0; i < STORE_TABLES && ok; i++)
		ok = save_table(w, i, table_rows(w, p, i));
	return ok;
}

static void remember_rows(struct saved_table *saved, const struct store_table *t,
			  struct table_rows rows)
{
	saved->rows = rows.len;
	if (t->changes == CHANGES_AS_A_WHOLE)
		saved->hash = hash_rows(t, rows);
	if (t->changes != CHANGES_BY_HASH)
		return;
	vec_resize(&saved->hashes, rows.len);
	for (uint32_t i = 0; i < rows.len; i++)
		saved->hashes.data[i] = hash_row(t, rows.data + (size_t)i * t->row_size);
}

void store_writer_committed(struct store_writer *w, struct profile *p)
{
	for (enum store_table_id i = 0; i < STORE_TABLES; i++)
		remember_rows(&w->saved[i], &store_tables[i], table_rows(w, p, i));
	vec_resize(&w->node_scopes, p->nodes.len);
	for (uint32_t i = 0; i < p->nodes.len; i++)
		w->node_scopes.data[i] = p->nodes.data[i].scope;
	vec_each (v, &p->values)
		v->saved = trace_of(v);
	w->fused = p->fused;
	w->finished = p->finished;
	w->state = true;
}

int store_writer_init(struct store_writer *w, sqlite3 *db)
{
	struct text sql = TEXT_INIT;
	int r = SQLITE_OK;
	w->db = db;
	for (int i = 0; i < STORE_TABLES && !r; i++) {
		text_clear(&sql);
		sql_insert(&sql, &store_tables[i]);
		r = sqlite3_prepare_v3(db, sql.data, -1, SQLITE_PREPARE_PERSISTENT, &w->insert[i],
				       NULL);
	}
	text_release(&sql);
	return r;
}

void store_writer_release(struct store_writer *w)
{
	for (int i = 0; i < STORE_TABLES; i++) {
		sqlite3_finalize(w->insert[i]);
		vec_free(&w->saved[i].hashes);
	}
	vec_free(&w->node_scopes);
}
