/* Creates, commits and closes profile files; store_save.c decides which rows are written.
 *
 * The file is in WAL mode while it is recorded to: a commit appends to FILE-wal. Even if the
 * recorder is killed, the next reader finds all commits. At a clean end the log is merged and the
 * file returns to an ordinary journal, so that it is a single file that can be copied and read
 * anywhere.
 *
 * A new file is created under another name and then renamed, so that FILE is always a profile. A
 * recorder does this with a lock on the directory: if several recorders start at the same time, one
 * of them gets the name. */
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
#include "profile/store_save.h"
#include "profile/store_sql.h"

struct store {
	sqlite3 *db;
	char *path;
	struct store_writer writer;
};

int store_commit(struct store *s, struct profile *p, struct err *e)
{
	struct err why;
	bug_on(checks_wanted() && profile_check(p, &why), "N1");
	bool ok = !sql_fault(fault("store-begin", ENOSPC)) &&
		  sql_run(s->db, "BEGIN IMMEDIATE") == SQLITE_OK &&
		  store_writer_save(&s->writer, p) && !sql_fault(fault("store-commit", ENOSPC)) &&
		  sql_run(s->db, "COMMIT") == SQLITE_OK;
	if (!ok) {
		int r = sql_fail(s->db, "write", s->path, e);
		if (!sqlite3_get_autocommit(s->db))
			sql_run(s->db, "ROLLBACK");
		return r;
	}
	debug(LOG_STORE, 2, "%s: %u nodes, %u values", s->path, p->nodes.len, p->values.len);
	store_writer_committed(&s->writer, p);
	return 0;
}

enum { PAUSE_MS = 20 }; /* between two attempts to get a lock */

static void pause_briefly(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_MS * 1000 * 1000}, NULL);
}

/* Merges the log, so that the profile is a single file. A reader blocks this for as long as it
 * reads; after `patience_ms` the result is SQLITE_BUSY. */
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
	store_writer_release(&s->writer);
	if (s->db && leave_wal_mode(s->db, STORE_PATIENCE_MS))
		debug(LOG_STORE, 1, "%s: log not merged: %s", s->path, sqlite3_errmsg(s->db));
	sqlite3_close(s->db);
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

/* What exists under a name. */
enum present { PRESENT_NOTHING, PRESENT_EMPTY, PRESENT_PROFILE, PRESENT_LIVE, PRESENT_OTHER };

/* Looks at the header of the file, which is complete from the moment at which the file got its
 * name. PRESENT_LIVE is a profile in WAL mode: it is being recorded to, or its recorder was
 * killed. */
static enum present look_at(const char *path)
{
	/* The database header, as in https://sqlite.org/fileformat.html. */
	enum { HEADER_SIZE = 100, WRITE_VERSION = 18, IN_WAL_MODE = 2, APPLICATION_ID = 68 };
	unsigned char head[HEADER_SIZE] = {0};
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
	const unsigned char *id = head + APPLICATION_ID;
	uint32_t application =
		(uint32_t)id[0] << 24 | (uint32_t)id[1] << 16 | (uint32_t)id[2] << 8 | id[3];
	if (n != (ssize_t)sizeof(head) || memcmp(head, "SQLite format 3", 16) != 0 ||
	    application != STORE_APPLICATION)
		return PRESENT_OTHER;
	return head[WRITE_VERSION] == IN_WAL_MODE ? PRESENT_LIVE : PRESENT_PROFILE;
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

/* How long to wait for readers of a profile that has to be renamed. This is short, because
 * recorders that start at the same time wait here one after the other. */
enum { OLD_PATIENCE_MS = 100 };

/* Merges the log that a killed recorder left. A log that cannot be merged is renamed together with
 * its file. */
static int merge_old_log(const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	int r = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL);
	r = r ? r : leave_wal_mode(db, OLD_PATIENCE_MS);
	sqlite3_close(db);
	if (r != SQLITE_BUSY)
		return 0;
	return err_set(e, ERR_SYSTEM,
		       "another sonde is writing or reading %s; wait until it ends, or choose "
		       "another file with -o",
		       path);
}

/* Renames the file and those of its companions that exist. */
static int rename_with_companions(const char *from, const char *to, struct err *e)
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

/* Frees the name for a new file: an existing profile FILE becomes FILE.old. */
static int retire(const char *path, const char *old, struct err *e)
{
	enum present present = look_at(path);
	int r = 0;
	if (present == PRESENT_OTHER)
		return refuse_other(path, e);
	if (present == PRESENT_LIVE)
		r = merge_old_log(path, e);
	if (!r && (present == PRESENT_LIVE || present == PRESENT_PROFILE)) {
		remove_companions(old);
		r = rename_with_companions(path, old, e);
	}
	/* SQLite would take a log that is left without its file for the log of the new file. */
	if (!r)
		remove_companions(path);
	return r;
}

static int write_tables(sqlite3 *db)
{
	struct text sql = TEXT_INIT;
	/* Nobody else knows the file yet, so it needs no journal and no waiting for the disk. */
	text_printf(&sql,
		    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; "
		    "PRAGMA application_id=%d; PRAGMA user_version=%d; BEGIN;",
		    STORE_APPLICATION, STORE_SCHEMA);
	for (int i = 0; i < STORE_TABLES; i++) {
		sql_create(&sql, &store_tables[i]);
		text_char(&sql, ';');
	}
	text_add(&sql, store_views);
	text_printf(&sql, "INSERT INTO meta VALUES('schema','%d'); COMMIT;", STORE_SCHEMA);
	int r = sql_run(db, sql.data);
	text_release(&sql);
	return r;
}

/* Creates an empty profile under a unique name, which is returned in `tmp`. */
static int make_empty(struct text *tmp, const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	text_printf(tmp, "%s.XXXXXX", path);
	int fd = fault("store-create", EACCES) ? -1 : mkostemp(tmp->data, O_CLOEXEC), r = 0;
	if (fd < 0)
		return err_errno(e, "cannot create %s", path);
	mode_t mask = umask(0);
	umask(mask);
	fchmod(fd, 0666 & ~mask); /* mkostemp() gives access to the owner only */
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
	/* Only the recorder's thread writes. Locking each call would take a tenth of the time. */
	int r = sqlite3_open_v2(s->path, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	r = sql_fault(fault("store-open", ENOSPC)) ? SQLITE_FULL : r;
	r = r ? r : sqlite3_busy_timeout(s->db, STORE_PATIENCE_MS);
	r = r ? r
	      : sql_run(s->db, /* What is written survives the end of Sonde. Only after a crash of
				* the machine a profile may be unreadable; to exclude that, a
				* program that runs for a millisecond would wait for the disk. */
			"PRAGMA synchronous=OFF; PRAGMA journal_mode=WAL; "
			"PRAGMA cache_size=-16384; "
			/* the first access takes the lock that others see */
			"SELECT count(*) FROM sqlite_schema");
	r = r ? r : store_writer_init(&s->writer, s->db);
	return r ? sql_fail(s->db, "write", s->path, e) : 0;
}

/* Returns a file descriptor that holds a lock on the directory of the file until it is closed, or
 * -1. If the file system has no such locks, or the directory cannot be opened, nothing keeps
 * recorders apart that start at the same time. */
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
