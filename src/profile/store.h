/* Profiles as SQLite files; sonde-profile(5) is the contract. Only store*.c know SQLite.
 *
 * While a run is recorded, the store is committed at least every second. However the recorder ends,
 * the file is a valid profile up to its last commit. */
#pragma once
#include "profile/profile.h"

/* The version of the tables. Every change of the tables needs a new one; files with another one are
 * refused. */
enum { STORE_SCHEMA = 6 };

struct store;

/* Creates a file. An existing profile is kept as FILE.old. It is an error if FILE or FILE.old
 * exists and is not a profile. */
int store_create(struct store **out, const char *path, struct err *e);
/* Writes what is new or changed in the profile since the last call, in one transaction. After an
 * error (such as a full disk), earlier commits stay, and the call may be repeated. */
int store_commit(struct store *s, struct profile *p, struct err *e);
/* Closes the file. What was committed stays. */
void store_close(struct store *s);

/* Reads a whole profile. It is an error if the file does not exist, is not a profile, has another
 * schema or is damaged; the sentence says what to do. If another sonde is still recording to the
 * file, the result is its last commit. After an error there is nothing to release. */
int store_load(struct profile *out, const char *path, struct err *e);
