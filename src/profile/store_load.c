/* Reading profiles. Files are untrusted: the tables must be the ones that we would make (not views,
 * nor with columns that compute), keys must rise by one from row to row, so that even a file whose
 * pages lead in circles ends the reading, and profile_check() looks at the result. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fault.h"
#include "base/log.h"
#include "profile/store.h"
#include "profile/store_evidence.h"
#include "profile/store_sql.h"

/* Longest text taken; nobody has longer paths or C++ names than that. */
enum { TEXT_MAX = 16 << 20 };

/* Reading a row, column after column. */
struct row {
	sqlite3_stmt *s;
	struct profile *p;
	uint32_t number;
	int columns;
	bool bad;
};

static uint64_t row_number(struct row *r)
{
	int column = r->columns++;
	r->bad |= sqlite3_column_type(r->s, column) != SQLITE_INTEGER;
	return (uint64_t)sqlite3_column_int64(r->s, column);
}

static uint32_t row_u32(struct row *r)
{
	uint64_t n = row_number(r);
	r->bad |= n > UINT32_MAX;
	return (uint32_t)n;
}

static bool row_is_null(const struct row *r)
{
	return sqlite3_column_type(r->s, r->columns) == SQLITE_NULL;
}

/* An index that may be missing. */
static uint32_t row_index(struct row *r)
{
	if (row_is_null(r)) {
		r->columns++;
		return PROFILE_NONE;
	}
	uint32_t i = row_u32(r);
	r->bad |= i == PROFILE_NONE;
	return i;
}

static const char *row_text(struct row *r)
{
	int column = r->columns++;
	if (sqlite3_column_type(r->s, column) != SQLITE_TEXT) {
		r->bad = true;
		return "";
	}
	const char *text = (const char *)sqlite3_column_text(r->s, column);
	return arena_strndup(&r->p->arena, text ? text : "",
			     (size_t)sqlite3_column_bytes(r->s, column));
}

static const char *row_text_or_null(struct row *r)
{
	if (!row_is_null(r))
		return row_text(r);
	r->columns++;
	return NULL;
}

static double row_real(struct row *r)
{
	int column = r->columns++, type = sqlite3_column_type(r->s, column);
	r->bad |= type != SQLITE_FLOAT && type != SQLITE_INTEGER;
	return sqlite3_column_double(r->s, column);
}

/* Where two clocks met, older versions wrote a bit more than all. */
static double row_share(struct row *r)
{
	double share = row_real(r);
	r->bad |= !(share >= 0 && share < 1e9);
	return share < 1 ? share : 1;
}

static double row_time(struct row *r)
{
	if (!row_is_null(r))
		return row_real(r);
	r->columns++;
	return -1;
}

/* A word of a list, as its number. */
static uint8_t row_word(struct row *r, const char *const *words, uint8_t count)
{
	int column = r->columns++;
	const char *text = (const char *)sqlite3_column_text(r->s, column);
	for (uint8_t i = 0; text && i < count; i++)
		if (!strcmp(text, words[i]))
			return i;
	r->bad = true;
	return 0;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

static struct build_id row_build_id(struct row *r)
{
	struct build_id id = {0};
	const char *hex = row_text_or_null(r);
	for (; hex && hex[0]; hex += 2) {
		int high = hex_digit(hex[0]), low = hex_digit(hex[1]);
		if (high < 0 || low < 0 || id.size == sizeof(id.bytes)) {
			r->bad = true;
			break;
		}
		id.bytes[id.size++] = (uint8_t)(high << 4 | low);
	}
	return id;
}

static void load_meta(struct row *r)
{
	struct profile *p = r->p;
	const char *key = row_text(r), *value = row_text(r);
	if (!strcmp(key, "fused"))
		p->fused = !strcmp(value, "1");
	else if (!strcmp(key, "finished"))
		p->finished = !strcmp(value, "1");
	else if (strcmp(key, "schema") != 0)
		vec_push(&p->facts, (struct profile_fact){key, value});
}

static void load_metric(struct row *r)
{
	struct profile_metric m = {.name = row_text(r)};
	m.unit = row_text(r);
	m.period = row_number(r);
	vec_push(&r->p->metrics, m);
}

static void load_image(struct row *r)
{
	struct profile_image m = {.path = row_text(r)};
	m.build_id = row_build_id(r);
	m.file_size = row_number(r);
	m.mtime = row_number(r);
	m.problem = row_text_or_null(r);
	vec_push(&r->p->images, m);
}

static void load_process(struct row *r)
{
	struct profile_process x = {.pid = (int)row_u32(r)};
	x.parent = row_index(r);
	x.name = row_text(r);
	vec_push(&r->p->processes, x);
}

static void load_thread(struct row *r)
{
	struct profile_thread t = {.process = row_u32(r)};
	t.tid = (int)row_u32(r);
	t.name = row_text(r);
	vec_push(&r->p->threads, t);
}

static uint8_t row_u8(struct row *r)
{
	uint64_t n = row_number(r);
	r->bad |= n > UINT8_MAX;
	return (uint8_t)n;
}

static void load_scope(struct row *r)
{
	struct profile_scope c = {.parent = row_index(r)};
	c.image = row_u32(r);
	c.kind = row_u8(r);
	c.flags = row_u8(r);
	c.name = row_text(r);
	c.file = row_text(r);
	c.first_line = row_u32(r);
	c.last_line = row_u32(r);
	c.call_file = row_text(r);
	c.call_line = row_u32(r);
	c.address = row_number(r);
	vec_push(&r->p->scopes, c);
}

static void load_node(struct row *r)
{
	struct profile_node n = {.parent = row_index(r)};
	n.kind = row_u8(r);
	n.image = row_index(r);
	n.address = row_number(r);
	n.scope = row_index(r);
	if (r->number)
		vec_push(&r->p->nodes, n);
	else
		r->p->nodes.data[0] = n; /* every profile has a root, also one without a commit */
}

static int compare_keys(const struct profile_value *a, const struct profile_value *b)
{
	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return a->metric < b->metric ? -1 : a->metric > b->metric;
}

static void load_value(struct row *r)
{
	struct profile_value v = {.node = row_u32(r)};
	v.thread = row_u32(r);
	v.metric = row_u32(r);
	v.samples = row_number(r);
	v.amount = row_number(r);
	r->bad |= r->p->values.len && compare_keys(&vec_last(&r->p->values), &v) >= 0;
	vec_push(&r->p->values, v);
}

static void load_count(struct row *r)
{
	struct profile_count c = {.name = row_text(r)};
	c.samples = row_number(r);
	r->bad |= r->p->counts.len && strcmp(vec_last(&r->p->counts).name, c.name) >= 0;
	vec_push(&r->p->counts, c);
}

static void load_tally(struct row *r)
{
	struct profile_tally t = {.image = row_u32(r)};
	t.address = row_number(r);
	uint8_t loop = row_u8(r);
	r->bad |= loop > 1;
	t.loop = loop;
	t.thread = row_u32(r);
	t.scope = row_index(r);
	t.flags = row_u8(r);
	t.entries = row_number(r);
	t.iterations = row_number(r);
	t.trip_min = row_number(r);
	t.trip_max = row_number(r);
	for (int i = 0; i < INSN_CLASSES; i++)
		t.mix[i] = row_number(r);
	vec_push(&r->p->tallies, t);
}

static void load_trips(struct row *r)
{
	struct profile_trips t = {.tally = row_u32(r)};
	t.low = row_number(r);
	t.high = row_number(r);
	t.entries = row_number(r);
	if (r->p->trips.len) {
		const struct profile_trips *before = &vec_last(&r->p->trips);
		r->bad |= t.tally < before->tally ||
			  (t.tally == before->tally && t.low <= before->high);
	}
	vec_push(&r->p->trips, t);
}

static void load_uncovered(struct row *r)
{
	struct profile_uncovered u = {.image = row_index(r)};
	u.address = row_number(r);
	u.name = row_text(r);
	u.share = row_index(r);
	u.reason = row_text(r);
	vec_push(&r->p->uncovered, u);
}

static void load_resource(struct row *r)
{
	struct profile_resource x = {.parent = row_index(r)};
	x.hierarchy = row_word(r, profile_hierarchy_names, PROFILE_HIERARCHIES);
	x.kind = row_word(r, profile_resource_names, RESOURCE_KINDS);
	x.name = row_text(r);
	x.image = row_index(r);
	x.address = row_number(r);
	x.file = row_text(r);
	x.first_line = row_u32(r);
	x.last_line = row_u32(r);
	vec_push(&r->p->resources, x);
}

static uint8_t row_flag(struct row *r, uint8_t flag)
{
	uint64_t set = row_number(r);
	r->bad |= set > 1;
	return set ? flag : 0;
}

static void load_experiment(struct row *r)
{
	struct profile_experiment x = {.hypothesis = row_text(r)};
	for (int h = 0; h < PROFILE_HIERARCHIES; h++)
		x.focus[h] = row_u32(r);
	x.state = row_word(r, profile_state_names, PROFILE_EXPERIMENT_STATES);
	x.origin = row_word(r, profile_origin_names, PROFILE_ORIGINS);
	x.priority = row_word(r, profile_priority_names, PROFILE_PRIORITIES);
	x.value = row_share(r);
	x.threshold = row_share(r);
	x.confidence = row_share(r);
	x.created = row_time(r);
	x.begun = row_time(r);
	x.decided = row_time(r);
	x.observed = row_real(r);
	x.cost = row_real(r);
	x.tests = row_u32(r);
	x.flags |= row_flag(r, EXPERIMENT_SAMPLED);
	x.flags |= row_flag(r, EXPERIMENT_UNSURE);
	x.flags |= row_flag(r, EXPERIMENT_OVER);
	vec_push(&r->p->experiments, x);
}

static void load_refinement(struct row *r)
{
	struct profile_refinement x = {.parent = row_u32(r)};
	x.child = row_u32(r);
	if (r->p->refinements.len) {
		const struct profile_refinement *before = &vec_last(&r->p->refinements);
		r->bad |= x.parent < before->parent ||
			  (x.parent == before->parent && x.child <= before->child);
	}
	vec_push(&r->p->refinements, x);
}

static void load_finding(struct row *r)
{
	struct profile_finding f = {.hypothesis = row_text(r)};
	f.experiment = row_index(r);
	f.node = row_index(r);
	f.share = row_share(r);
	f.confidence = row_share(r);
	f.sentence = row_text(r);
	vec_push(&r->p->findings, f);
}

static void load_remark(struct row *r)
{
	struct profile_remark m = {.finding = row_index(r)};
	m.kind = row_text(r);
	m.text = row_text(r);
	vec_push(&r->p->remarks, m);
}

/* Of tables with a key `id` that column is not the callback's. */
static const struct {
	void (*load)(struct row *r);
	bool numbered;
} loaders[STORE_TABLES] = {
	[TABLE_META] = {load_meta, false},
	[TABLE_METRIC] = {load_metric, true},
	[TABLE_IMAGE] = {load_image, true},
	[TABLE_PROCESS] = {load_process, true},
	[TABLE_THREAD] = {load_thread, true},
	[TABLE_SCOPE] = {load_scope, true},
	[TABLE_NODE] = {load_node, true},
	[TABLE_VALUE] = {load_value, false},
	[TABLE_COUNT] = {load_count, false},
	[TABLE_TALLY] = {load_tally, true},
	[TABLE_TRIPS] = {load_trips, false},
	[TABLE_UNCOVERED] = {load_uncovered, true},
	[TABLE_RESOURCE] = {load_resource, true},
	[TABLE_EXPERIMENT] = {load_experiment, true},
	[TABLE_REFINEMENT] = {load_refinement, false},
	[TABLE_FINDING] = {load_finding, true},
	[TABLE_REMARK] = {load_remark, true},
};

static int fail_row(const char *path, const char *table, uint32_t number, struct err *e)
{
	return err_set(
		e, ERR_INPUT,
		"%s is damaged: row %u of its table %s makes no sense; record again, or copy "
		"it anew if it came from elsewhere",
		path, number, table);
}

static int next_row(sqlite3_stmt *s)
{
	return sql_fault(fault("load-row", EIO)) ? SQLITE_FULL : sqlite3_step(s);
}

static int load_rows(sqlite3_stmt *s, struct profile *p, enum store_table_id table,
		     const char *path, struct err *e)
{
	int step;
	for (uint32_t number = 0; (step = next_row(s)) == SQLITE_ROW; number++) {
		struct row r = {.s = s, .p = p, .number = number};
		if (store_is_evidence(table))
			r.bad = !store_load_evidence(s, table, number, &p->evidence, &p->arena);
		else if (loaders[table].numbered)
			r.bad = row_number(&r) != number || number == PROFILE_NONE;
		if (!r.bad && !store_is_evidence(table))
			loaders[table].load(&r);
		if (r.bad)
			return fail_row(path, store_tables[table].name, number, e);
	}
	return step == SQLITE_DONE ? 0 : sql_fail(sqlite3_db_handle(s), "read", path, e);
}

static int load_table(sqlite3 *db, struct profile *p, enum store_table_id table, const char *path,
		      struct err *e)
{
	sqlite3_stmt *s = NULL;
	int r;
	if (sqlite3_prepare_v2(db, store_tables[table].load, -1, &s, NULL))
		r = sql_fail(db, "read", path, e);
	else
		r = load_rows(s, p, table, path, e);
	sqlite3_finalize(s);
	return r;
}

/* True if the table is there, as we make it. */
static bool has_table(sqlite3 *db, const struct store_table *t)
{
	sqlite3_stmt *s = NULL;
	bool same = false;
	if (!sqlite3_prepare_v2(
		    db, "SELECT 1 FROM sqlite_schema WHERE type='table' AND name=? AND sql=?", -1,
		    &s, NULL)) {
		sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
		sqlite3_bind_text(s, 2, t->create, -1, SQLITE_STATIC);
		same = sqlite3_step(s) == SQLITE_ROW;
	}
	sqlite3_finalize(s);
	return same;
}

/* Tells the schema, too. */
static int check_kind(sqlite3 *db, const char *path, sqlite3_int64 *schema, struct err *e)
{
	sqlite3_int64 application = sql_number(db, "PRAGMA application_id");
	*schema = sql_number(db, "PRAGMA user_version");
	if (application < 0 || *schema < 0)
		return sql_fail(db, "read", path, e);
	*schema = *schema ? *schema : 1; /* no profile has less: what else is wrong tells */
	if (application != STORE_APPLICATION)
		return err_set(
			e, ERR_INPUT,
			"%s is not a profile; 'sonde record' makes one, sonde.data by default",
			path);
	if (*schema > STORE_SCHEMA)
		return err_set(e, ERR_UNSUPPORTED,
			       "%s was written by a newer sonde (schema %lld, this one knows up to "
			       "%d); read it with that version",
			       path, *schema, STORE_SCHEMA);
	for (int i = 0; i < STORE_TABLES; i++)
		if (store_tables[i].since <= *schema && !has_table(db, &store_tables[i]))
			return err_set(e, ERR_INPUT,
				       "%s is damaged: its table %s is missing or not what it "
				       "should be; record again, or copy it anew",
				       path, store_tables[i].name);
	return 0;
}

/* All in one transaction: a recorder may be adding to the file. */
static int load_all(sqlite3 *db, struct profile *p, const char *path, struct err *e)
{
	sqlite3_int64 schema;
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sql_run(db, "PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON");
	if (sql_run(db, "BEGIN"))
		return sql_fail(db, "read", path, e);
	int r = check_kind(db, path, &schema, e);
	for (int i = 0; i < STORE_TABLES && !r; i++)
		if (store_tables[i].since <= schema)
			r = load_table(db, p, (enum store_table_id)i, path, e);
	if (!r && profile_check(p, e)) {
		err_prefix(e, "%s is damaged; record again, or copy it anew", path);
		r = e->code;
	}
	return r;
}

/* How to open a file for reading, from the usual way to the last one. */
static const struct {
	const char *query;
	const char *before; /* statements to run first */
} ways[] = {
	/* Alone, being recorded to, or with the log of a killed recorder: needs the log's index,
	 * FILE-shm, which SQLite makes if it may write the directory. */
	{"mode=ro", ""},
	/* The recorder was killed while it merged the log: that must be undone first. */
	{"mode=rw", ""},
	/* The directory is read-only and has no index, so no recorder is alive: the index is made
	 * in memory. SQLite does that for who shares with nobody, which without locks is free. */
	{"mode=ro&vfs=unix-none", "PRAGMA locking_mode=EXCLUSIVE"},
	/* The same without a log: what is in the file itself. */
	{"mode=ro&immutable=1", ""},
};

/* "file:PATH?QUERY" */
static void add_uri(struct text *out, const char *path, const char *query)
{
	text_add(out, path[0] == '/' ? "file:" : "file:./");
	for (; *path; path++) {
		if (strchr("%?#", *path))
			text_printf(out, "%%%02x", (unsigned)(unsigned char)*path);
		else
			text_char(out, *path);
	}
	text_printf(out, "?%s", query);
}

/* Opens and reads something, so that it is known to work. */
static int try_way(sqlite3 **db, const char *path, size_t way)
{
	struct text uri = TEXT_INIT;
	add_uri(&uri, path, ways[way].query);
	int r = sqlite3_open_v2(uri.data, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_URI, NULL);
	r = fault("load-open", EMFILE) ? SQLITE_CANTOPEN : r;
	text_release(&uri);
	r = r ? r : sqlite3_busy_timeout(*db, STORE_PATIENCE_MS);
	r = r ? r : sqlite3_db_config(*db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	r = r ? r : sql_run(*db, ways[way].before);
	return r ? r : sql_run(*db, "SELECT count(*) FROM sqlite_schema");
}

static bool another_way_may_help(int r)
{
	return r == SQLITE_CANTOPEN || r == SQLITE_READONLY || r == SQLITE_IOERR ||
	       r == SQLITE_PERM;
}

static int open_for_reading(sqlite3 **out, const char *path, struct err *e)
{
	struct stat st;
	int r = SQLITE_CANTOPEN;
	*out = NULL;
	if (stat(path, &st))
		return err_errno(e, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ERR_INPUT, "%s is not a file; name a profile", path);
	for (size_t way = 0; way < ARRAY_SIZE(ways) && another_way_may_help(r); way++) {
		sqlite3_close(*out);
		r = try_way(out, path, way) & 0xff;
		debug(LOG_STORE, 1, "%s: %s: %s", path, ways[way].query, sqlite3_errmsg(*out));
	}
	return r ? sql_fail(*out, "read", path, e) : 0;
}

int store_load(struct profile *out, const char *path, struct err *e)
{
	sqlite3 *db;
	int r = open_for_reading(&db, path, e);
	if (!r) {
		profile_init(out);
		r = load_all(db, out, path, e);
		if (r)
			profile_release(out);
	}
	sqlite3_close(db);
	return r;
}
