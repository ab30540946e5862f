/* Profiles as SQLite files; sonde-profile(5) is the contract. Only store*.c know SQLite.
 *
 * A store that records is committed at least every second: whatever ends the recorder, the file is
 * a valid profile up to its last commit. */
#pragma once
#include "profile/profile.h"

/* Each change of the tables makes a new one; files of other schemas are refused. */
enum { STORE_SCHEMA = 5 };

struct store;

/* Creates a file; one that is there already is kept as FILE.old, unless it is no profile: then it
 * is an error. */
int store_create(struct store **out, const char *path, struct err *e);
/* Writes what is new or changed in the profile since the last call, in one transaction. After an
 * error (disk full) what was committed before stays, and the call may be repeated. */
int store_commit(struct store *s, struct profile *p, struct err *e);
/* Closes the file; what was committed is safe. */
void store_close(struct store *s);

/* Reads a whole profile. Errors: no such file, no profile, another schema, damaged; each says the
 * way out. A file that another sonde is still recording to reads as of its last commit. After an
 * error there is nothing to release. */
int store_load(struct profile *out, const char *path, struct err *e);
