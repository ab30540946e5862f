#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "made_profile.h"
#include "store_bench.h"

char dir[] = "/tmp/sonde-store-XXXXXX";
char file[64], old[80], wal[80], shm[80], copy[64];

int make_directory(void **state)
{
	(void)state;
	if (!mkdtemp(dir) || chmod(dir, 0777))
		return -1;
	snprintf(file, sizeof(file), "%s/sonde.data", dir);
	snprintf(old, sizeof(old), "%s.old", file);
	snprintf(wal, sizeof(wal), "%s-wal", file);
	snprintf(shm, sizeof(shm), "%s-shm", file);
	snprintf(copy, sizeof(copy), "%s/copy", dir);
	return 0;
}

int clean_directory(void **state)
{
	char command[128];
	(void)state;
	snprintf(command, sizeof(command), "chmod -R u+rwX %s && rm -rf %s/*", dir, dir);
	return system(command) || chmod(dir, 0777);
}

int remove_directory(void **state)
{
	return clean_directory(state) || rmdir(dir);
}

pid_t fork_child(void)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("CMOCKA_TEST_ABORT", "1", 1);
	}
	return pid;
}

bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool is_a_single_file(void)
{
	return exists(file) && !exists(wal) && !exists(shm);
}

struct store *create_store(void)
{
	struct store *s;
	struct err e;
	if (store_create(&s, file, &e))
		fail_msg("%s", e.text);
	return s;
}

void commit_profile(struct store *s, struct profile *p)
{
	struct err e;
	if (store_commit(s, p, &e))
		fail_msg("%s", e.text);
}

void load_profile(struct profile *p, const char *path)
{
	struct err e;
	if (store_load(p, path, &e))
		fail_msg("%s", e.text);
}

void assert_loads(const struct profile *p, const char *path)
{
	struct profile q;
	load_profile(&q, path);
	assert_same_profile(p, &q);
	profile_release(&q);
}

void assert_refused(const char *path, int code, const char *words)
{
	struct profile q;
	struct err e = {0};
	assert_int_equal(store_load(&q, path, &e), code);
	if (!strstr(e.text, words) || !strstr(e.text, path))
		fail_msg("'%s' does not say '%s'", e.text, words);
}

void run_sql(const char *path, const char *statements)
{
	sqlite3 *db;
	char *why = NULL;
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, statements, NULL, NULL, &why))
		fail_msg("%s", why);
	sqlite3_close(db);
}

void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

void write_profile(void)
{
	struct profile p;
	fill_profile(&p);
	add_scopes(&p);
	struct store *s = create_store();
	commit_profile(s, &p);
	store_close(s);
	profile_release(&p);
}
