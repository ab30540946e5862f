#include "module/cache_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vec.h"

enum {
	STALE_SECONDS = 3600,        /* a temporary file of this age was abandoned by its writer */
	REFRESH_SECONDS = 24 * 3600, /* precision of the time of last use */
};

static const uint64_t TOTAL_MAX = (uint64_t)1 << 30; /* bytes of all files */
static const char *const kinds[] = {"structure-", "functions-", "starts-",
				    "recipes-",   "calls-",     "dwarf-"};

static struct build_id own_id; /* size 0: unknown */
static pthread_once_t own_id_read = PTHREAD_ONCE_INIT;

static void read_own_id(void)
{
	struct err e;
	if (module_read_build_id("/proc/self/exe", &own_id, &e) < 0)
		own_id.size = 0;
}

uint64_t cache_program_hash(uint64_t seed)
{
	pthread_once(&own_id_read, read_own_id);
	return own_id.size ? hash_bytes(own_id.bytes, own_id.size, seed) : 0;
}

/* The cache directory, with a slash at the end; false if the environment names none. */
static bool directory(struct text *out)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (base && base[0] == '/') {
		text_add(out, base);
	} else if (home && home[0] == '/') {
		text_add(out, home);
		text_add(out, "/.cache");
	} else {
		return false;
	}
	text_add(out, "/sonde/");
	return true;
}

static bool file_name(struct text *out, const struct cache_name *n)
{
	char hex[65];
	if (!n->build_id.size || !directory(out))
		return false;
	build_id_hex(&n->build_id, hex);
	text_printf(out, "%s-%s-%016llx", n->kind, hex, (unsigned long long)n->key);
	return true;
}

struct cache_name cache_name(const char *kind, const struct build_id *id, const uint64_t *parts,
			     uint32_t count)
{
	uint64_t seed = hash_bytes(id->bytes, id->size, 0);
	return (struct cache_name){kind, *id, hash_bytes(parts, count * sizeof(*parts), seed)};
}

/* ---- reading ---- */

int cache_file_open(const struct cache_name *n, uint64_t *size)
{
	struct text path = TEXT_INIT;
	struct stat st;
	int fd = -1;
	if (file_name(&path, n) && !fault("cache-open", EMFILE))
		fd = open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
		close(fd);
		fd = -1;
	}
	if (fd >= 0) {
		*size = (uint64_t)st.st_size;
		debug(LOG_CACHE, 1, "%s: opened", path.data);
	}
	text_release(&path);
	return fd;
}

bool cache_file_read(int fd, void *out, uint64_t size)
{
	char *at = out;
	while (size) {
		ssize_t n = fault("cache-read", EIO) ? -1 : read(fd, at, size);
		if (n <= 0)
			return false;
		at += n;
		size -= (uint64_t)n;
	}
	return true;
}

/* Updates the time of last use, which prune() needs, but not at each use. */
static void refresh(int fd)
{
	struct stat st;
	if (!fstat(fd, &st) && time(NULL) - st.st_mtim.tv_sec > REFRESH_SECONDS)
		futimens(fd, NULL);
}

void cache_file_close(int fd, bool used)
{
	if (used)
		refresh(fd);
	close(fd);
	debug(LOG_CACHE, 1, "%s", used ? "used" : "not usable");
}

/* ---- writing ---- */

static bool write_all(int fd, const void *p, uint64_t size)
{
	const char *at = p;
	while (size) {
		ssize_t n = fault("cache-write", ENOSPC) ? -1 : write(fd, at, size);
		if (n <= 0)
			return false;
		at += n;
		size -= (uint64_t)n;
	}
	return true;
}

struct cached_file {
	char name[NAME_MAX + 1];
	time_t used;
	uint64_t size;
};

typedef VEC(struct cached_file) file_list;

static int by_use(const void *a, const void *b)
{
	const struct cached_file *x = a, *y = b;
	return x->used < y->used ? -1 : x->used > y->used;
}

static bool is_ours(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strncmp(name, kinds[i], strlen(kinds[i])))
			return true;
	return false;
}

/* Lists our files, and removes temporary files of writers that crashed. Returns the size of all
 * files. */
static uint64_t list_files(DIR *dir, file_list *files)
{
	uint64_t total = 0;
	struct dirent *d;
	struct stat st;
	while ((d = readdir(dir))) {
		struct cached_file f = {0};
		bool partial = !strncmp(d->d_name, "tmp-", 4);
		if ((!partial && !is_ours(d->d_name)) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (partial) {
			if (time(NULL) - st.st_mtim.tv_sec > STALE_SECONDS)
				unlinkat(dirfd(dir), d->d_name, 0);
			continue;
		}
		memcpy(f.name, d->d_name, strlen(d->d_name) + 1);
		f.used = st.st_mtim.tv_sec;
		f.size = (uint64_t)st.st_size;
		total += f.size;
		vec_push(files, f);
	}
	return total;
}

/* Removes the least recently used files if all files together are too large. It goes down to three
 * quarters of the limit, so that not every new file prunes again. */
static void prune(const char *path)
{
	DIR *dir = opendir(path);
	file_list files = {0};
	if (!dir)
		return;
	uint64_t total = list_files(dir, &files);
	if (total > TOTAL_MAX) {
		qsort(files.data, files.len, sizeof(*files.data), by_use);
		for (uint32_t i = 0; i < files.len && total > TOTAL_MAX / 4 * 3; i++) {
			if (!unlinkat(dirfd(dir), files.data[i].name, 0))
				debug(LOG_CACHE, 2, "removed %s", files.data[i].name);
			total -= files.data[i].size;
		}
	}
	vec_free(&files);
	closedir(dir);
}

/* Makes the directory and those above it; true if it exists afterwards. */
static bool make_directory(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	struct stat st;
	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

/* Whoever writes beyond the limit that `ulimit -f` sets gets a signal, which would end Sonde. */
static bool is_permitted(const struct slice *parts, uint32_t count)
{
	struct rlimit limit;
	uint64_t size = 0;
	for (uint32_t i = 0; i < count; i++)
		size += parts[i].size;
	return getrlimit(RLIMIT_FSIZE, &limit) || size <= limit.rlim_cur;
}

static void write_and_rename(const char *dir, const char *path, const struct slice *parts,
			     uint32_t count)
{
	struct text tmp = TEXT_INIT;
	text_printf(&tmp, "%stmp-XXXXXX", dir);
	int fd = fault("cache-create", EACCES) ? -1 : mkostemp(tmp.data, O_CLOEXEC);
	if (fd >= 0) {
		bool ok = true;
		for (uint32_t i = 0; i < count && ok; i++)
			ok = write_all(fd, parts[i].at, parts[i].size);
		ok = !close(fd) && ok && !fault("cache-rename", EACCES) && !rename(tmp.data, path);
		if (!ok)
			unlink(tmp.data);
		debug(LOG_CACHE, 1, "%s: %s", path, ok ? "written" : "could not be written");
	}
	text_release(&tmp);
}

static atomic_uint written; /* number of files */

void cache_file_write(const struct cache_name *n, const struct slice *parts, uint32_t count)
{
	struct text dir = TEXT_INIT, path = TEXT_INIT;
	if (is_permitted(parts, count) && file_name(&path, n) && directory(&dir) &&
	    make_directory(dir.data)) {
		write_and_rename(dir.data, path.data, parts, count);
		if (written++ % CACHE_PRUNE_PERIOD == 0)
			prune(dir.data);
	}
	text_release(&path);
	text_release(&dir);
}
