/* A directory for profile files, and calls of the store that must succeed. Tests include <cmocka.h>
 * first. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>

#include "profile/store.h"

/* The directory, the file that is recorded to, the previous one, SQLite's companions, and another
 * name. */
extern char dir[], file[64], old[80], wal[80], shm[80], copy[64];

/* Fixtures: before and after all tests, and before each. */
int make_directory(void **state);
int remove_directory(void **state);
int clean_directory(void **state);

/* A child whose assertions end it, rather than going on with the tests, and that ends with us. */
pid_t fork_child(void);

bool exists(const char *path);
/* True if `file` is there and has no companions. */
bool is_a_single_file(void);
void write_file(const char *path, const char *content);
/* Runs statements on a file. */
void run_sql(const char *path, const char *statements);

/* Makes `file`. */
struct store *create_store(void);
void commit_profile(struct store *s, struct profile *p);
void load_profile(struct profile *p, const char *path);
/* Writes what fill_profile() and add_scopes() make to `file`. */
void write_profile(void);
void assert_loads(const struct profile *p, const char *path);
/* Loading must fail with the code, and with a sentence that has the words and the path in it. */
void assert_refused(const char *path, int code, const char *words);
