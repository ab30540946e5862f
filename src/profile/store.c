/* Writing profiles.
 *
 * The file is in WAL mode while it is recorded to: a commit appends to FILE-wal, and whatever kills
 * the recorder, the next reader finds all commits. At a clean end the log is merged and the file
 * goes back to an ordinary journal, so that it is one file that can be copied and read anywhere.
 *
 * A new file is made under another name and then put in place, so that FILE is always a profile.
 * Who does that holds a lock on the directory: of recorders that start together, one gets the name.
 */
#include "profile/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/check.h"
#include "base/err.h"
#include "base/log.h"
#include "profile/store_evidence.h"
#include "profile/store_sql.h"

/* What of the profile is in the file already. Rows of most tables never change: a number is enough.
 * Names are replaced, not edited, so a pointer tells whether one is another. */
struct saved {
	uint32_t metrics, scopes, nodes, values;
	VEC(const char *) image_problems;
	VEC(const char *) process_names;
	VEC(const char *) thread_names;
	VEC(const char *) facts;
	VEC(uint64_t) counts;
	VEC(uint32_t) node_scopes;
	VEC(uint64_t) tallies; /* of these hashes: any number of theirs may change */
	VEC(uint64_t) trips;
	VEC(uint64_t) uncovered;
	VEC(uint64_t) resources;
	VEC(uint64_t) experiments;
	uint32_t refinements;
	/* Of these a hash of all: they are replaced as a whole. */
	uint64_t evidence, findings, remarks;
	bool fused, finished, state; /* state: the two before were written at all */
};

struct store {
	sqlite3 *db;
	char *path;
	sqlite3_stmt *save[STORE_TABLES];
	struct saved saved;
};

/* Binding a row, column after column. */
struct row {
	struct store *store;
	enum store_table_id table;
	int columns;
};

static struct row row_begin(struct store *s, enum store_table_id table)
{
	return (struct row){s, table, 0};
}

static void row_number(struct row *r, uint64_t n)
{
	sqlite3_bind_int64(r->store->save[r->table], ++r->columns, (sqlite3_int64)n);
}

static void row_index(struct row *r, uint32_t i)
{
	if (i != PROFILE_NONE)
		row_number(r, i);
	else
		sqlite3_bind_null(r->store->save[r->table], ++r->columns);
}

/* NULL writes NULL. The text must stay until row_end(). */
static void row_text(struct row *r, const char *text)
{
	sqlite3_bind_text(r->store->save[r->table], ++r->columns, text, -1, SQLITE_STATIC);
}

static void row_real(struct row *r, double n)
{
	sqlite3_bind_double(r->store->save[r->table], ++r->columns, n);
}

/* A negative one has not come. */
static void row_time(struct row *r, double seconds)
{
	if (seconds >= 0)
		row_real(r, seconds);
	else
		sqlite3_bind_null(r->store->save[r->table], ++r->columns);
}

/* A failed binding leaves NULL, which the tables refuse, or is SQLite out of memory. */
static bool row_end(struct row *r)
{
	sqlite3_stmt *s = r->store->save[r->table];
	if (sql_fault(fault("store-row", ENOSPC)))
		return false;
	sqlite3_step(s);
	return sqlite3_reset(s) == SQLITE_OK;
}

static bool save_meta(struct store *s, const char *key, const char *value)
{
	struct row r = row_begin(s, TABLE_META);
	row_text(&r, key);
	row_text(&r, value);
	return row_end(&r);
}

static bool save_state(struct store *s, const struct profile *p)
{
	const struct saved *old = &s->saved;
	if (old->state && old->fused == p->fused && old->finished == p->finished)
		return true;
	return save_meta(s, "fused", p->fused ? "1" : "0") &&
	       save_meta(s, "finished", p->finished ? "1" : "0");
}

static bool save_facts(struct store *s, const struct profile *p)
{
	bool ok = save_state(s, p);
	for (uint32_t i = 0; i < p->facts.len && ok; i++) {
		const struct profile_fact *f = &p->facts.data[i];
		if (i >= s->saved.facts.len || s->saved.facts.data[i] != f->value)
			ok = save_meta(s, f->name, f->value);
	}
	return ok;
}

static bool save_metrics(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = s->saved.metrics; i < p->metrics.len && ok; i++) {
		const struct profile_metric *m = &p->metrics.data[i];
		struct row r = row_begin(s, TABLE_METRIC);
		row_number(&r, i);
		row_text(&r, m->name);
		row_text(&r, m->unit);
		row_number(&r, m->period);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_image(struct store *s, uint32_t id, const struct profile_image *m)
{
	char hex[65];
	struct row r = row_begin(s, TABLE_IMAGE);
	build_id_hex(&m->build_id, hex);
	row_number(&r, id);
	row_text(&r, m->path);
	row_text(&r, m->build_id.size ? hex : NULL);
	row_number(&r, m->file_size);
	row_number(&r, m->mtime);
	row_text(&r, m->problem);
	return row_end(&r);
}

static bool save_images(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->images.len && ok; i++) {
		const struct profile_image *m = &p->images.data[i];
		if (i >= s->saved.image_problems.len ||
		    s->saved.image_problems.data[i] != m->problem)
			ok = save_image(s, i, m);
	}
	return ok;
}

static bool save_processes(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->processes.len && ok; i++) {
		const struct profile_process *x = &p->processes.data[i];
		if (i < s->saved.process_names.len && s->saved.process_names.data[i] == x->name)
			continue;
		struct row r = row_begin(s, TABLE_PROCESS);
		row_number(&r, i);
		row_number(&r, (uint32_t)x->pid);
		row_index(&r, x->parent);
		row_text(&r, x->name);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_threads(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->threads.len && ok; i++) {
		const struct profile_thread *t = &p->threads.data[i];
		if (i < s->saved.thread_names.len && s->saved.thread_names.data[i] == t->name)
			continue;
		struct row r = row_begin(s, TABLE_THREAD);
		row_number(&r, i);
		row_number(&r, t->process);
		row_number(&r, (uint32_t)t->tid);
		row_text(&r, t->name);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_scopes(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = s->saved.scopes; i < p->scopes.len && ok; i++) {
		const struct profile_scope *c = &p->scopes.data[i];
		struct row r = row_begin(s, TABLE_SCOPE);
		row_number(&r, i);
		row_index(&r, c->parent);
		row_number(&r, c->image);
		row_number(&r, c->kind);
		row_number(&r, c->flags);
		row_text(&r, c->name);
		row_text(&r, c->file);
		row_number(&r, c->first_line);
		row_number(&r, c->last_line);
		row_text(&r, c->call_file);
		row_number(&r, c->call_line);
		row_number(&r, c->address);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_nodes(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->nodes.len && ok; i++) {
		const struct profile_node *n = &p->nodes.data[i];
		if (i < s->saved.nodes && s->saved.node_scopes.data[i] == n->scope)
			continue;
		struct row r = row_begin(s, TABLE_NODE);
		row_number(&r, i);
		row_index(&r, n->parent);
		row_number(&r, n->kind);
		row_index(&r, n->image);
		row_number(&r, n->address);
		row_index(&r, n->scope);
		ok = row_end(&r);
	}
	return ok;
}

/* Counts may grow by any number, round ones too: that must not look like none. */
static uint32_t trace_of(const struct profile_value *v)
{
	return (uint32_t)(v->samples * 0x9e3779b97f4a7c15u >> 32);
}

static bool save_values(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->values.len && ok; i++) {
		const struct profile_value *v = &p->values.data[i];
		if (i < s->saved.values && v->saved == trace_of(v))
			continue;
		struct row r = row_begin(s, TABLE_VALUE);
		row_number(&r, v->node);
		row_number(&r, v->thread);
		row_number(&r, v->metric);
		row_number(&r, v->samples);
		row_number(&r, v->amount);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_counts(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->counts.len && ok; i++) {
		const struct profile_count *c = &p->counts.data[i];
		if (i < s->saved.counts.len && s->saved.counts.data[i] == c->samples)
			continue;
		struct row r = row_begin(s, TABLE_COUNT);
		row_text(&r, c->name);
		row_number(&r, c->samples);
		ok = row_end(&r);
	}
	return ok;
}

/* True if row `i` is in the file as it is. */
#define IS_SAVED(saved, rows, i)                                                                   \
	((i) < (saved)->len &&                                                                     \
	 (saved)->data[i] == hash_bytes(&(rows)->data[i], sizeof(*(rows)->data), 0))

static bool save_tallies(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->tallies.len && ok; i++) {
		const struct profile_tally *t = &p->tallies.data[i];
		if (IS_SAVED(&s->saved.tallies, &p->tallies, i))
			continue;
		struct row r = row_begin(s, TABLE_TALLY);
		row_number(&r, i);
		row_number(&r, t->image);
		row_number(&r, t->address);
		row_number(&r, t->loop);
		row_number(&r, t->thread);
		row_index(&r, t->scope);
		row_number(&r, t->flags);
		row_number(&r, t->entries);
		row_number(&r, t->iterations);
		row_number(&r, t->trip_min);
		row_number(&r, t->trip_max);
		for (int k = 0; k < INSN_CLASSES; k++)
			row_number(&r, t->mix[k]);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_trips(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->trips.len && ok; i++) {
		const struct profile_trips *t = &p->trips.data[i];
		if (IS_SAVED(&s->saved.trips, &p->trips, i))
			continue;
		struct row r = row_begin(s, TABLE_TRIPS);
		row_number(&r, t->tally);
		row_number(&r, t->low);
		row_number(&r, t->high);
		row_number(&r, t->entries);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_uncovered(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->uncovered.len && ok; i++) {
		const struct profile_uncovered *u = &p->uncovered.data[i];
		if (IS_SAVED(&s->saved.uncovered, &p->uncovered, i))
			continue;
		struct row r = row_begin(s, TABLE_UNCOVERED);
		row_number(&r, i);
		row_index(&r, u->image);
		row_number(&r, u->address);
		row_text(&r, u->name);
		row_index(&r, u->share);
		row_text(&r, u->reason);
		ok = row_end(&r);
	}
	return ok;
}

/* They are found anew each time, and may be fewer than before. */
static bool drop_resources(struct store *s, const struct profile *p)
{
	char sql[64];
	if (p->resources.len >= s->saved.resources.len)
		return true;
	snprintf(sql, sizeof(sql), "DELETE FROM resource WHERE id >= %u", p->resources.len);
	return sql_run(s->db, sql) == SQLITE_OK;
}

static bool save_resources(struct store *s, const struct profile *p)
{
	bool ok = drop_resources(s, p);
	for (uint32_t i = 0; i < p->resources.len && ok; i++) {
		const struct profile_resource *x = &p->resources.data[i];
		if (IS_SAVED(&s->saved.resources, &p->resources, i))
			continue;
		struct row r = row_begin(s, TABLE_RESOURCE);
		row_number(&r, i);
		row_index(&r, x->parent);
		row_text(&r, profile_hierarchy_names[x->hierarchy]);
		row_text(&r, profile_resource_names[x->kind]);
		row_text(&r, x->name);
		row_index(&r, x->image);
		row_number(&r, x->address);
		row_text(&r, x->file);
		row_number(&r, x->first_line);
		row_number(&r, x->last_line);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_experiment(struct store *s, uint32_t id, const struct profile_experiment *x)
{
	struct row r = row_begin(s, TABLE_EXPERIMENT);
	row_number(&r, id);
	row_text(&r, x->hypothesis);
	for (int h = 0; h < PROFILE_HIERARCHIES; h++)
		row_number(&r, x->focus[h]);
	row_text(&r, profile_state_names[x->state]);
	row_text(&r, profile_origin_names[x->origin]);
	row_text(&r, profile_priority_names[x->priority]);
	row_real(&r, x->value);
	row_real(&r, x->threshold);
	row_real(&r, x->confidence);
	row_time(&r, x->created);
	row_time(&r, x->begun);
	row_time(&r, x->decided);
	row_real(&r, x->observed);
	row_real(&r, x->cost);
	row_number(&r, x->tests);
	row_number(&r, (x->flags & EXPERIMENT_SAMPLED) != 0);
	row_number(&r, (x->flags & EXPERIMENT_UNSURE) != 0);
	row_number(&r, (x->flags & EXPERIMENT_OVER) != 0);
	return row_end(&r);
}

static bool save_experiments(struct store *s, const struct profile *p)
{
	bool ok = true;
	for (uint32_t i = 0; i < p->experiments.len && ok; i++)
		if (!IS_SAVED(&s->saved.experiments, &p->experiments, i))
			ok = save_experiment(s, i, &p->experiments.data[i]);
	for (uint32_t i = s->saved.refinements; i < p->refinements.len && ok; i++) {
		struct row r = row_begin(s, TABLE_REFINEMENT);
		row_number(&r, p->refinements.data[i].parent);
		row_number(&r, p->refinements.data[i].child);
		ok = row_end(&r);
	}
	return ok;
}

/* A hash of all rows; 0 of none, as of what was never saved. */
#define HASH_ALL(rows)                                                                             \
	((rows)->len ? hash_bytes((rows)->data, (rows)->len * sizeof(*(rows)->data), 0) : 0)

static bool save_evidence(struct store *s, const struct profile *p)
{
	return s->saved.evidence == store_hash_evidence(&p->evidence) ||
	       store_save_evidence(s->db, s->save, &p->evidence);
}

static bool save_findings(struct store *s, const struct profile *p)
{
	if (s->saved.findings == HASH_ALL(&p->findings))
		return true;
	bool ok = sql_run(s->db, "DELETE FROM finding") == SQLITE_OK;
	for (uint32_t i = 0; i < p->findings.len && ok; i++) {
		const struct profile_finding *f = &p->findings.data[i];
		struct row r = row_begin(s, TABLE_FINDING);
		row_number(&r, i);
		row_text(&r, f->hypothesis);
		row_index(&r, f->experiment);
		row_index(&r, f->node);
		row_real(&r, f->share);
		row_real(&r, f->confidence);
		row_text(&r, f->sentence);
		ok = row_end(&r);
	}
	return ok;
}

static bool save_remarks(struct store *s, const struct profile *p)
{
	if (s->saved.remarks == HASH_ALL(&p->remarks))
		return true;
	bool ok = sql_run(s->db, "DELETE FROM remark") == SQLITE_OK;
	for (uint32_t i = 0; i < p->remarks.len && ok; i++) {
		const struct profile_remark *m = &p->remarks.data[i];
		struct row r = row_begin(s, TABLE_REMARK);
		row_number(&r, i);
		row_index(&r, m->finding);
		row_text(&r, m->kind);
		row_text(&r, m->text);
		ok = row_end(&r);
	}
	return ok;
}

#define REMEMBER_ROWS(saved, rows)                                                                 \
	do {                                                                                       \
		vec_clear(saved);                                                                  \
		vec_each (row, rows)                                                               \
			vec_push(saved, hash_bytes(row, sizeof(*row), 0));                         \
	} while (0)

#define REMEMBER(saved, rows, field)                                                               \
	do {                                                                                       \
		vec_clear(saved);                                                                  \
		vec_each (row, rows)                                                               \
			vec_push(saved, row->field);                                               \
	} while (0)

/* Only once the transaction is through: after a failure all of it is written again. */
static void remember(struct saved *saved, struct profile *p)
{
	saved->metrics = p->metrics.len;
	saved->scopes = p->scopes.len;
	saved->nodes = p->nodes.len;
	saved->values = p->values.len;
	saved->fused = p->fused;
	saved->finished = p->finished;
	saved->state = true;
	REMEMBER(&saved->image_problems, &p->images, problem);
	REMEMBER(&saved->process_names, &p->processes, name);
	REMEMBER(&saved->thread_names, &p->threads, name);
	REMEMBER(&saved->facts, &p->facts, value);
	REMEMBER(&saved->counts, &p->counts, samples);
	REMEMBER(&saved->node_scopes, &p->nodes, scope);
	vec_each (v, &p->values)
		v->saved = trace_of(v);
	REMEMBER_ROWS(&saved->tallies, &p->tallies);
	REMEMBER_ROWS(&saved->trips, &p->trips);
	REMEMBER_ROWS(&saved->uncovered, &p->uncovered);
	REMEMBER_ROWS(&saved->resources, &p->resources);
	REMEMBER_ROWS(&saved->experiments, &p->experiments);
	saved->refinements = p->refinements.len;
	saved->evidence = store_hash_evidence(&p->evidence);
	saved->findings = HASH_ALL(&p->findings);
	saved->remarks = HASH_ALL(&p->remarks);
}

int store_commit(struct store *s, struct profile *p, struct err *e)
{
	static bool (*const save[])(struct store * s, const struct profile *p) = {
		save_facts,    save_metrics,   save_images,    save_processes,   save_threads,
		save_scopes,   save_nodes,     save_values,    save_counts,      save_tallies,
		save_trips,    save_uncovered, save_resources, save_experiments, save_evidence,
		save_findings, save_remarks,
	};
	struct err why;
	bug_on(checks_wanted() && profile_check(p, &why), "N1");
	bool ok = !sql_fault(fault("store-begin", ENOSPC)) &&
		  sql_run(s->db, "BEGIN IMMEDIATE") == SQLITE_OK;
	for (size_t i = 0; i < ARRAY_SIZE(save) && ok; i++)
		ok = save[i](s, p);
	ok = ok && !sql_fault(fault("store-commit", ENOSPC)) &&
	     sql_run(s->db, "COMMIT") == SQLITE_OK;
	if (!ok) {
		int r = sql_fail(s->db, "write", s->path, e);
		if (!sqlite3_get_autocommit(s->db))
			sql_run(s->db, "ROLLBACK");
		return r;
	}
	debug(LOG_STORE, 2, "%s: %u nodes, %u values", s->path, p->nodes.len, p->values.len);
	remember(&s->saved, p);
	return 0;
}

enum { PAUSE_MS = 20 };

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000 * 1000}, NULL);
}

/* Merges the log and makes it a single file; who reads it at this moment holds that up. */
static int leave_wal_mode(sqlite3 *db, int patience_ms)
{
	int r, waited = 0;
	while ((r = sql_run(db, "PRAGMA journal_mode=DELETE")) == SQLITE_BUSY &&
	       waited < patience_ms) {
		pause_briefly();
		waited += PAUSE_MS;
	}
	return r;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (int i = 0; i < STORE_TABLES; i++)
		sqlite3_finalize(s->save[i]);
	if (s->db && leave_wal_mode(s->db, STORE_PATIENCE_MS))
		debug(LOG_STORE, 1, "%s: log not merged: %s", s->path, sqlite3_errmsg(s->db));
	sqlite3_close(s->db);
	vec_free(&s->saved.image_problems);
	vec_free(&s->saved.process_names);
	vec_free(&s->saved.thread_names);
	vec_free(&s->saved.facts);
	vec_free(&s->saved.counts);
	vec_free(&s->saved.node_scopes);
	vec_free(&s->saved.tallies);
	vec_free(&s->saved.trips);
	vec_free(&s->saved.uncovered);
	vec_free(&s->saved.resources);
	vec_free(&s->saved.experiments);
	free(s->path);
	free(s);
}

/* The names that SQLite derives from the file's. */
static const char *const companions[] = {"-wal", "-shm", "-journal"};

static void remove_companions(const char *path)
{
	struct text name = TEXT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++) {
		text_clear(&name);
		text_printf(&name, "%s%s", path, companions[i]);
		unlink(name.data);
	}
	text_release(&name);
}

/* What stands under a name already. */
enum present { PRESENT_NOTHING, PRESENT_EMPTY, PRESENT_PROFILE, PRESENT_LIVE, PRESENT_OTHER };

/* PRESENT_LIVE: a profile in WAL mode, because it is being recorded to or its recorder was killed.
 * All of this stands in the header of the main file, which is complete since it got its name. */
static enum present look_at(const char *path)
{
	unsigned char head[100] = {0};
	struct stat st;
	if (stat(path, &st))
		return PRESENT_NOTHING;
	if (!S_ISREG(st.st_mode))
		return PRESENT_OTHER;
	if (!st.st_size)
		return PRESENT_EMPTY;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, head, sizeof(head)) : -1;
	if (fd >= 0)
		close(fd);
	uint32_t application = (uint32_t)head[68] << 24 | (uint32_t)head[69] << 16 |
			       (uint32_t)head[70] << 8 | head[71];
	if (n != (ssize_t)sizeof(head) || memcmp(head, "SQLite format 3", 16) != 0 ||
	    application != STORE_APPLICATION)
		return PRESENT_OTHER;
	return head[18] == 2 ? PRESENT_LIVE : PRESENT_PROFILE;
}

static int refuse_other(const char *path, struct err *e)
{
	if (look_at(path) != PRESENT_OTHER)
		return 0;
	return err_set(e, ERR_INPUT,
		       "%s exists and is not a profile, so it is not overwritten; move it away or "
		       "choose another file with -o",
		       path);
}

/* Short, because recorders that start together wait here one after the other. */
enum { SETTLE_MS = 100 };

/* Merges the log that a killed recorder left. A log that cannot be merged is moved along. */
static int settle(const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	int r = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
	r = r ? r : leave_wal_mode(db, SETTLE_MS);
	sqlite3_close(db);
	if (r != SQLITE_BUSY)
		return 0;
	return err_set(e, ERR_SYSTEM,
		       "another sonde is recording to %s or reading it; wait for its end or choose "
		       "another file with -o",
		       path);
}

/* Renames the file and what of its companions is still there. */
static int move_along(const char *from, const char *to, struct err *e)
{
	struct text a = TEXT_INIT, b = TEXT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++) {
		text_clear(&a);
		text_clear(&b);
		text_printf(&a, "%s%s", from, companions[i]);
		text_printf(&b, "%s%s", to, companions[i]);
		rename(a.data, b.data);
	}
	text_release(&a);
	text_release(&b);
	return fault("store-retire", EACCES) || rename(from, to)
		       ? err_errno(e, "cannot rename %s to %s", from, to)
		       : 0;
}

/* Makes way: FILE becomes FILE.old. */
static int retire(const char *path, const char *old, struct err *e)
{
	enum present present = look_at(path);
	int r = 0;
	if (present == PRESENT_OTHER)
		return refuse_other(path, e);
	if (present == PRESENT_LIVE)
		r = settle(path, e);
	if (!r && (present == PRESENT_LIVE || present == PRESENT_PROFILE)) {
		remove_companions(old);
		r = move_along(path, old, e);
	}
	/* A log without its file would be taken for that of the new one. */
	if (!r)
		remove_companions(path);
	return r;
}

static int write_tables(sqlite3 *db)
{
	struct text sql = TEXT_INIT;
	/* Nobody knows the file yet: no journal, no waiting for the disk. */
	text_printf(&sql,
		    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
		    "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN;",
		    STORE_APPLICATION, STORE_SCHEMA);
	for (int i = 0; i < STORE_TABLES; i++)
		text_printf(&sql, "%s;", store_tables[i].create);
	text_add(&sql, store_views);
	text_printf(&sql, "INSERT INTO meta VALUES('schema','%d'); COMMIT;", STORE_SCHEMA);
	int r = sql_run(db, sql.data);
	text_release(&sql);
	return r;
}

/* An empty profile under a name of its own, which `tmp` gets. */
static int make_empty(struct text *tmp, const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	text_printf(tmp, "%s.XXXXXX", path);
	int fd = fault("store-create", EACCES) ? -1 : mkostemp(tmp->data, O_CLOEXEC), r = 0;
	if (fd < 0)
		return err_errno(e, "cannot create %s", path);
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask); /* mkostemp() lets only the owner in */
	close(fd);
	if (sqlite3_open_v2(tmp->data, &db, SQLITE_OPEN_READWRITE, NULL) || write_tables(db))
		r = sql_fail(db, "create", path, e);
	sqlite3_close(db);
	if (r) {
		unlink(tmp->data);
		remove_companions(tmp->data);
	}
	return r;
}

static int open_for_writing(struct store *s, struct err *e)
{
	/* Only the recorder's thread writes: locks for each call take a tenth of the time.
	 */
	int r = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	r = sql_fault(fault("store-open", ENOSPC)) ? SQLITE_FULL : r;
	r = r ? r : sqlite3_busy_timeout(s->db, STORE_PATIENCE_MS);
	r = r ? r
	      : sql_run(s->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
			       "PRAGMA cache_size=-16384; "
			       /* the lock that others see is taken with the first use */
			       "SELECT count(*) FROM sqlite_schema");
	for (int i = 0; i < STORE_TABLES && !r; i++)
		r = sqlite3_prepare_v3(s->db, store_tables[i].save, -1, SQLITE_PREPARE_PERSISTENT,
				       &s->save[i], NULL);
	return r ? sql_fail(s->db, "write", s->path, e) : 0;
}

/* A file system that has no such locks does without: then simultaneous starts are not told apart.
 */
static int lock_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *dir = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
	int fd = dir && !fault("store-lock", EMFILE) ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
						     : -1;
	free(dir);
	for (int waited = 0; fd >= 0 && waited < STORE_PATIENCE_MS; waited += PAUSE_MS) {
		if (!flock(fd, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
			break;
		pause_briefly();
	}
	return fd;
}

/* Puts the new file in place of the previous one, and opens it. */
static int take_name(struct store *s, const char *tmp, const char *old, struct err *e)
{
	int r = retire(s->path, old, e);
	if (!r && (fault("store-rename", EACCES) || rename(tmp, s->path)))
		r = err_errno(e, "cannot create %s", s->path);
	if (r)
		unlink(tmp);
	return r ? r : open_for_writing(s, e);
}

int store_create(struct store **out, const char *path, struct err *e)
{
	struct text tmp = TEXT_INIT, old = TEXT_INIT;
	struct store *s = xcalloc(1, sizeof(*s));
	s->path = strdup(path);
	text_printf(&old, "%s.old", path);
	int r = refuse_other(path, e);
	r = r ? r : refuse_other(old.data, e);
	r = r ? r : make_empty(&tmp, path, e);
	if (!r) {
		int lock = lock_directory(path);
		r = take_name(s, tmp.data, old.data, e);
		if (lock >= 0)
			close(lock);
	}
	text_release(&tmp);
	text_release(&old);
	if (r) {
		store_close(s);
		return r;
	}
	*out = s;
	return 0;
}
