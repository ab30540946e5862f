/* What is in profile files: what was committed comes back, and what is no profile, or a damaged
 * one, is refused with a sentence. What happens to the files themselves: test_store_files.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <sqlite3.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "made_profile.h"
#include "store_bench.h"

static void everything_comes_back(void **state)
{
	struct profile p;
	(void)state;
	fill_profile(&p);
	add_scopes(&p);
	struct store *s = create_store();
	commit_profile(s, &p);
	store_close(s);
	assert_true(is_a_single_file());
	assert_loads(&p, file);
	profile_release(&p);
}

/* Reads as another process would: closing a file that SQLite has open drops its locks. */
static void assert_loads_elsewhere(const struct profile *p)
{
	int status;
	pid_t pid = fork_child();
	if (!pid) {
		assert_loads(p, file);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void what_changed_is_written(void **state)
{
	struct profile p;
	(void)state;
	fill_profile(&p);
	struct store *s = create_store();
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	profile_add(&p, 2, 0, 0, 1, 2004008);
	profile_add(&p, profile_child(&p, 1, NODE_LEAF, 0, 0x2004), 1, 0, 1, 2004008);
	profile_count(&p, "complete", 2);
	profile_count(&p, "throttled", 2);
	profile_fact(&p, "seconds", "1.5");
	p.processes.data[1].name = "after exec";
	p.threads.data[1].name = "renamed";
	vec_push(&p.threads, (struct profile_thread){1, 103, "third"});
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	profile_fact(&p, "seconds", "2.5");
	p.modules.data[0].problem = "changed";
	add_scopes(&p);
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);
	p.nodes.data[3].scope = 1;
	p.values.data[0].samples += (uint64_t)1 << 32;
	p.counters.data[0].mix[CLASS_ATOMIC]++;
	profile_add_trips(&p, 0, 0, 0, 1);
	profile_add_trips(&p, 0, 1, 1, 1);
	p.uncovered.data[1].reason = "another";
	profile_counters(&p, 1, 5, true, 0);
	commit_profile(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void a_search_goes_on(void **state)
{
	struct profile p;
	(void)state;
	fill_profile(&p);
	vec_clear(&p.findings);
	vec_clear(&p.remarks);
	struct store *s = create_store();
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	p.experiments.data[1].begun = 0.5;
	p.experiments.data[1].overhead = 1e-9;
	p.resources.data[6].name = "queue_lock";
	p.evidence.run.cpu = 7;
	vec_pop(&p.evidence.chains).length = 0;
	p.evidence.parts.len = 2;
	add_experiment(&p, "cpu", add_resource(&p, 0, PROFILE_CODE, RESOURCE_FUNCTION, "g"),
		       PROFILE_FALSE);
	vec_push(&p.refinements, (struct profile_refinement){0, 3});
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	vec_push(&p.findings, (struct profile_finding){"cpu", 3, PROFILE_NONE, 1, 1, "one"});
	vec_push(&p.findings, (struct profile_finding){"cpu", 1, PROFILE_NONE, 1, 1, "two"});
	vec_push(&p.remarks, (struct profile_remark){1, "path", "a > b"});
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	vec_clear(&p.remarks);
	vec_pop(&p.findings).sentence = "";
	p.findings.data[0].sentence = "only one";
	p.experiments.data[2].state = PROFILE_UNKNOWN;
	commit_profile(s, &p);
	assert_loads_elsewhere(&p);

	/* Parts that only the evidence knew may be fewer the next time. */
	add_experiment(&p, "cpu", 0, PROFILE_FALSE);
	p.experiments.data[3].focus[PROFILE_CODE] = 0;
	p.resources.len--;
	commit_profile(s, &p);
	store_close(s);
	assert_loads(&p, file);
	profile_release(&p);
}

static void searches_can_be_read_with_sql(void **state)
{
	(void)state;
	write_profile();
	run_sql(file,
		"CREATE TABLE good(x NOT NULL); INSERT INTO good SELECT iif(count(*)=1,1,NULL) "
		"FROM search WHERE id=1 AND hypothesis='cpu' AND state='active' AND "
		"code='/Code/f(\"/\")' AND sync='/SyncObject' AND threshold=20.0 AND "
		"measured='probes'");
}

static void unchanged_commits_write_little(void **state)
{
	struct profile p;
	struct stat before, after;
	(void)state;
	fill_profile(&p);
	for (uint64_t i = 0; i < 2000; i++)
		profile_add(&p, profile_child(&p, 0, NODE_LEAF, 0, i), 0, 0, 1, 1);
	struct store *s = create_store();
	commit_profile(s, &p);
	assert_int_equal(stat(wal, &before), 0);
	profile_add(&p, 100, 0, 0, 1, 1);
	commit_profile(s, &p);
	assert_int_equal(stat(wal, &after), 0);
	assert_true(after.st_size - before.st_size < 5 * 4200);
	store_close(s);
	profile_release(&p);
}

static void a_profile_without_a_commit_is_empty(void **state)
{
	struct profile p, q;
	(void)state;
	profile_init(&p);
	store_close(create_store());
	load_profile(&q, file);
	assert_same_profile(&p, &q);
	profile_release(&q);
	profile_release(&p);
}

static uint32_t hash_statement(const char *sql)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
	for (; *sql; sql++)
		hash = (hash ^ (uint8_t)*sql) * 0x100000001b3u;
	return (uint32_t)(hash >> 32);
}

/* Readers compare the statements that made the tables, so any change of one makes all existing
 * files unreadable. It needs a new STORE_SCHEMA; only then may these hashes change. */
static void the_schema_stays(void **state)
{
	static const uint32_t hashes[] = {
		0xca86224d, 0x4d285960, 0xd8df6188, 0x86995d3c, 0x882ac7f5, 0x7c7a9a9d,
		0x7b69b141, 0x542f1825, 0xeb23d57e, 0xdf84e3b8, 0x8ca8b76f, 0x94784b44,
		0x049640e2, 0x22d449db, 0x4ec1e297, 0x281a5c4d, 0x07fe4677, 0x94a649a6,
		0xb68abc59, 0xf19d5b45, 0x3d976e75, 0xcd6714d2, 0xf8dd6a8e, 0xc15989c5,
		0x6c5157da, 0x4cbd9726, 0x3312423a, 0x506605c4, 0x3c0975dc,
	};
	sqlite3 *db;
	sqlite3_stmt *s;
	size_t i = 0;
	(void)state;
	store_close(create_store());
	assert_int_equal(STORE_SCHEMA, 6);
	assert_int_equal(sqlite3_open(file, &db), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(db, "SELECT sql FROM sqlite_schema ORDER BY rowid", -1,
					    &s, NULL),
			 SQLITE_OK);
	for (; sqlite3_step(s) == SQLITE_ROW; i++) {
		const char *sql = (const char *)sqlite3_column_text(s, 0);
		if (i >= ARRAY_SIZE(hashes) || hash_statement(sql) != hashes[i])
			fail_msg("0x%08x is of %s", hash_statement(sql), sql);
	}
	assert_int_equal(i, ARRAY_SIZE(hashes));
	sqlite3_finalize(s);
	sqlite3_close(db);
}

static void what_is_no_profile_is_refused(void **state)
{
	(void)state;
	assert_refused(file, ERR_SYSTEM, "No such file");
	assert_refused(dir, ERR_INPUT, "not a file");
	write_file(file, "");
	assert_refused(file, ERR_INPUT, "not a profile");
	write_file(file,
		   "not much, but enough to be longer than the header of a SQLite file has to "
		   "be, which is one hundred bytes");
	assert_refused(file, ERR_INPUT, "not a profile");
	unlink(file);
	run_sql(file, "CREATE TABLE node(x)");
	assert_refused(file, ERR_INPUT, "not a profile");
}

static void newer_schemas_are_refused(void **state)
{
	(void)state;
	write_profile();
	run_sql(file, "PRAGMA user_version=7");
	assert_refused(file, ERR_UNSUPPORTED, "newer sonde");
}

static void older_schemas_are_refused(void **state)
{
	(void)state;
	write_profile();
	run_sql(file, "PRAGMA user_version=5");
	assert_refused(file, ERR_UNSUPPORTED, "older sonde");
}

static void forged_tables_are_refused(void **state)
{
	static const char *const forgeries[] = {
		"DROP TABLE count",
		"DROP TABLE count; CREATE VIEW count AS WITH RECURSIVE c(x) AS "
		"(SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS name, x AS samples FROM c",
		"ALTER TABLE node ADD COLUMN extra",
		"UPDATE node SET parent=3 WHERE id=2",
		"UPDATE node SET parent='x' WHERE id=2",
		"UPDATE node SET module=99 WHERE id=2",
		"UPDATE node SET id=99 WHERE id=3",
		"UPDATE thread SET process=-1",
		"UPDATE value SET samples=-1",
		"UPDATE value SET metric=5",
		"UPDATE module SET build_id='xyz'",
		"UPDATE module SET path=x'00'",
		"UPDATE scope SET kind=256 WHERE id=1",
		"DELETE FROM node",
		"DROP TABLE counters",
		"UPDATE counters SET scope=1",
		"UPDATE counters SET loop=2",
		"UPDATE counters SET entries='many'",
		"UPDATE trips SET counters=1",
		"UPDATE trips SET high=1000000000000 WHERE low=0",
		"UPDATE uncovered SET share=-1",
		"DROP VIEW search; DROP TABLE experiment",
		"UPDATE resource SET parent=5 WHERE id=5",
		"UPDATE resource SET parent=6 WHERE id=5",
		"UPDATE resource SET hierarchy='sync' WHERE id=5",
		"UPDATE resource SET hierarchy='x' WHERE id=6",
		"UPDATE resource SET kind=2 WHERE id=5",
		"UPDATE resource SET module=2 WHERE id=5",
		"DELETE FROM resource WHERE id=6; UPDATE experiment SET sync=6",
		"UPDATE experiment SET code=1",
		"UPDATE experiment SET machine=-1",
		"UPDATE experiment SET state='maybe'",
		"UPDATE experiment SET origin=''",
		"UPDATE experiment SET priority='low'",
		"UPDATE experiment SET value=9e999 WHERE id=2",
		"UPDATE experiment SET decided=-9e999 WHERE id=2",
		"UPDATE experiment SET threshold='much'",
		"UPDATE experiment SET unsure=2",
		"UPDATE experiment SET tests=-1",
		"UPDATE refinement SET child=3 WHERE parent=0",
		"DROP TABLE evidence",
		"DROP TABLE chain_part",
		"INSERT INTO evidence VALUES('x', 1)",
		"UPDATE evidence SET value=-1 WHERE name='cpu'",
		"UPDATE evidence SET value=9e999 WHERE name='sampled_io'",
		"UPDATE code_name SET resource=1 WHERE function='f'",
		"UPDATE code_name SET resource=99 WHERE function='f'",
		"UPDATE seen_thread SET resource=99",
		"UPDATE seen_thread SET tid=-1",
		"UPDATE seen_thread SET cpu=-1",
		"UPDATE seen_thread SET idle=9e999",
		"UPDATE object SET count=-1",
		"UPDATE object SET name=x'00'",
		"UPDATE object SET resource=99 WHERE id=0",
		"UPDATE chain SET length=0 WHERE id=0",
		"UPDATE chain SET length=100 WHERE id=1",
		"UPDATE chain SET length=4294967294 WHERE id=0",
		"UPDATE chain SET node=99 WHERE id=0",
		"UPDATE chain SET class=5 WHERE id=0",
		"UPDATE chain SET object=9 WHERE id=0",
		"UPDATE chain_part SET resource=1 WHERE id=0",
		"UPDATE amount SET resource=1 WHERE id=1",
		"UPDATE amount SET thread=9",
		"UPDATE amount SET object=9",
		"UPDATE amount SET wait=-1",
		"UPDATE holder SET object=9",
		"UPDATE holder SET node=99",
		"UPDATE command SET closing=-1",
		"UPDATE trip_count SET resource=1",
		"UPDATE finding SET experiment=3",
		"UPDATE finding SET node=99",
		"UPDATE finding SET share=9e999",
		"UPDATE remark SET finding=2",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(forgeries); i++) {
		clean_directory(NULL);
		write_profile();
		run_sql(file, forgeries[i]);
		assert_refused(file, ERR_INPUT, "damaged");
	}
}

static void bad_rows_are_named(void **state)
{
	static const struct {
		const char *forgery, *row;
	} rows[] = {
		{"UPDATE meta SET value=x'00' WHERE key='hz'", "row 3 of table meta"},
		{"UPDATE scope SET kind=256 WHERE id=1", "row 1 of table scope"},
		{"UPDATE node SET id=99 WHERE id=3", "row 3 of table node"},
		{"UPDATE trips SET high=1000000000000 WHERE low=0", "row 1 of table trips"},
		{"UPDATE experiment SET unsure=2 WHERE id=2", "row 2 of table experiment"},
		{"INSERT INTO evidence VALUES('z', 1)", "row 16 of table evidence"},
		{"UPDATE seen_thread SET tid=-1 WHERE id=1", "row 1 of table seen_thread"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		clean_directory(NULL);
		write_profile();
		run_sql(file, rows[i].forgery);
		assert_refused(file, ERR_INPUT, rows[i].row);
	}
}

static void own_additions_do_no_harm(void **state)
{
	struct profile p;
	(void)state;
	fill_profile(&p);
	add_scopes(&p);
	write_profile();
	run_sql(file, "CREATE TABLE mine(x); CREATE INDEX i ON node(parent); "
		      "CREATE VIEW v AS SELECT * FROM node; VACUUM");
	assert_loads(&p, file);
	profile_release(&p);
}

static size_t read_whole(const char *path, char *to, size_t size)
{
	FILE *f = fopen(path, "r");
	size_t n = fread(to, 1, size, f);
	fclose(f);
	return n;
}

static void write_whole(const char *path, const char *from, size_t size)
{
	FILE *f = fopen(path, "w");
	assert_int_equal(fwrite(from, 1, size, f), size);
	fclose(f);
}

/* Loads what may be damaged; whatever loads must be sound, which store_load() itself checks. */
static bool try(const char *path)
{
	struct profile p;
	struct err e = {0};
	if (store_load(&p, path, &e)) {
		assert_true(e.text[0]);
		return false;
	}
	profile_release(&p);
	return true;
}

/* A small page size, so that there are inner pages and most bytes matter; without the views, whose
 * text ends in a page that is mostly empty. */
static size_t small_profile(char *bytes, size_t size)
{
	struct profile p;
	fill_profile(&p);
	add_scopes(&p);
	for (uint64_t i = 0; i < 100; i++)
		profile_add(&p, profile_child(&p, (uint32_t)i / 2, NODE_FRAME, 0, i), 0, 0, 1, 1);
	struct store *s = create_store();
	commit_profile(s, &p);
	store_close(s);
	profile_release(&p);
	run_sql(file, "DROP VIEW search; DROP VIEW resource_path; PRAGMA page_size=512; VACUUM");
	return read_whole(file, bytes, size);
}

static void changed_bytes_do_no_harm(void **state)
{
	static char good[1 << 20], bad[1 << 20];
	(void)state;
	size_t n = small_profile(good, sizeof(good));
	int loaded = 0;
	for (int i = 0; i < 2000; i++) {
		memcpy(bad, good, n);
		for (int flips = 1 + i % 3; flips; flips--)
			bad[(size_t)rand() % n] = (char)rand();
		write_whole(copy, bad, n);
		loaded += try(copy);
	}
	assert_true(loaded > 0 && loaded < 2000);
}

static void cut_off_files_are_refused(void **state)
{
	static char good[1 << 20];
	(void)state;
	size_t n = small_profile(good, sizeof(good));
	for (size_t size = 0; size < n; size += 97) {
		write_whole(copy, good, size);
		assert_refused(copy, ERR_INPUT, size < 512 ? "" : "damaged");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(everything_comes_back, clean_directory),
		cmocka_unit_test_setup(what_changed_is_written, clean_directory),
		cmocka_unit_test_setup(a_search_goes_on, clean_directory),
		cmocka_unit_test_setup(searches_can_be_read_with_sql, clean_directory),
		cmocka_unit_test_setup(unchanged_commits_write_little, clean_directory),
		cmocka_unit_test_setup(a_profile_without_a_commit_is_empty, clean_directory),
		cmocka_unit_test_setup(the_schema_stays, clean_directory),
		cmocka_unit_test_setup(what_is_no_profile_is_refused, clean_directory),
		cmocka_unit_test_setup(newer_schemas_are_refused, clean_directory),
		cmocka_unit_test_setup(older_schemas_are_refused, clean_directory),
		cmocka_unit_test_setup(forged_tables_are_refused, clean_directory),
		cmocka_unit_test_setup(bad_rows_are_named, clean_directory),
		cmocka_unit_test_setup(own_additions_do_no_harm, clean_directory),
		cmocka_unit_test_setup(changed_bytes_do_no_harm, clean_directory),
		cmocka_unit_test_setup(cut_off_files_are_refused, clean_directory),
	};
	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
