#include "structure/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vec.h"
#include "structure/storage.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 1 };

enum {
	NAMES_MAX = 16 * 1024,       /* bytes of path and debuglink together */
	STALE_SECONDS = 3600,        /* a temporary file of this age was abandoned by its writer */
	REFRESH_SECONDS = 24 * 3600, /* precision of the time of last use */
};

static const uint64_t TOTAL_MAX = (uint64_t)1 << 30; /* bytes of all files */
static const char magic[8] = "sondestr";

/*  head | debug_path NUL debuglink NUL | storage  */
struct head {
	char magic[8];
	uint64_t checksum; /* of everything after it */
	uint64_t key;
	uint64_t fingerprint;
	struct storage_counts counts;
	uint32_t names_size;
	uint16_t machine;
	uint8_t has_lines;
	struct build_id build_id;
	uint8_t zero[12];
};

_Static_assert(sizeof(struct head) == 104 && sizeof(struct build_id) == 33, "no padding");

/* A hash of this program: after a rebuild, its results may differ. */
static uint64_t program_hash(void)
{
	struct build_id id;
	struct err e;
	if (module_read_build_id("/proc/self/exe", &id, &e) < 0)
		return 0;
	return hash_bytes(id.bytes, id.size, FORMAT);
}

static uint64_t key_of(const struct cache_subject *subject)
{
	uint64_t parts[] = {FORMAT, program_hash(), subject->size, subject->options->use_debug};
	return hash_bytes(parts, sizeof(parts), 0);
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

static bool file_name(struct text *out, const struct cache_subject *subject, uint64_t key)
{
	char hex[65];
	if (!subject->build_id.size || !directory(out))
		return false;
	build_id_hex(&subject->build_id, hex);
	text_printf(out, "structure-%s-%016llx", hex, (unsigned long long)key);
	return true;
}

/* A hash of whether a file exists, and in which version. */
static uint64_t file_state(const char *path, uint64_t seed)
{
	struct stat st;
	uint64_t state[4] = {0};
	if (path[0] && !stat(path, &st)) {
		state[0] = 1;
		state[1] = (uint64_t)st.st_size;
		state[2] = (uint64_t)st.st_mtim.tv_sec;
		state[3] = (uint64_t)st.st_mtim.tv_nsec;
	}
	return hash_bytes(state, sizeof(state), seed);
}

/* A hash of the states of the debug file in use and of all files that would be used instead if they
 * appeared. */
static uint64_t fingerprint(const struct cache_subject *subject, const char *debug_path,
			    const char *debuglink)
{
	static const char *const around[][2] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug/", ""}};
	if (!subject->options->use_debug)
		return 0;
	char hex[65];
	const char *slash = strrchr(subject->path, '/');
	int dir_size = slash ? (int)(slash - subject->path) + 1 : 0;
	struct text path = TEXT_INIT;
	build_id_hex(&subject->build_id, hex);

	uint64_t h = file_state(debug_path, 1);
	text_printf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	h = file_state(path.data, h);
	for (size_t i = 0; debuglink[0] && i < ARRAY_SIZE(around); i++) {
		text_clear(&path);
		text_printf(&path, "%s%.*s%s%s", around[i][0], dir_size, subject->path,
			    around[i][1], debuglink);
		h = file_state(path.data, h);
	}
	text_release(&path);
	return h;
}

static uint64_t checksum(const struct head *h, const char *names, const void *storage)
{
	const uint64_t *from = &h->key;
	uint64_t sum = hash_bytes(from, sizeof(*h) - offsetof(struct head, key), 0);
	sum = hash_bytes(names, h->names_size, sum);
	return hash_bytes(storage, storage_size(&h->counts), sum);
}

static bool read_all(int fd, void *p, uint64_t size)
{
	char *at = p;
	while (size) {
		ssize_t n = fault("cache-read", EIO) ? -1 : read(fd, at, size);
		if (n <= 0)
			return false;
		at += n;
		size -= (uint64_t)n;
	}
	return true;
}

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

/* Reads the head and the names after it (at most NAMES_MAX bytes). The sizes must agree with the
 * file's. */
static bool read_head(int fd, struct head *h, char *names)
{
	struct stat st;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !read_all(fd, h, sizeof(*h)) ||
	    memcmp(h->magic, magic, sizeof(magic)) != 0)
		return false;
	uint64_t size = sizeof(*h) + h->names_size + storage_size(&h->counts);
	return size == (uint64_t)st.st_size && h->names_size >= 2 && h->names_size <= NAMES_MAX &&
	       read_all(fd, names, h->names_size) && !names[h->names_size - 1] &&
	       strlen(names) + 1 < h->names_size;
}

/* True if the file belongs to this subject and nothing has changed since it was written. */
static bool is_current(const struct cache_subject *subject, const struct head *h, const char *names,
		       uint64_t key)
{
	const struct debug_options *debug = &subject->options->debug;
	bool may_fetch = subject->options->use_debug && debug->fetch && getenv("DEBUGINFOD_URLS");
	return h->key == key && h->build_id.size == subject->build_id.size &&
	       !memcmp(h->build_id.bytes, subject->build_id.bytes, subject->build_id.size) &&
	       (h->has_lines || !may_fetch) &&
	       h->fingerprint == fingerprint(subject, names, names + strlen(names) + 1);
}

static struct structure *read_structure(int fd, const struct head *h, const char *names)
{
	uint64_t size = storage_size(&h->counts);
	struct structure *s = xcalloc(1, sizeof(*s));
	storage_attach(s, xmalloc(size + 1), &h->counts);
	s->machine = h->machine;
	s->build_id = h->build_id;
	s->has_lines = h->has_lines;
	s->cached = true;
	if (read_all(fd, s->storage, size) && checksum(h, names, s->storage) == h->checksum &&
	    storage_is_sound(s))
		return s;
	debug(LOG_CACHE, 1, "damaged file");
	structure_free(s);
	return NULL;
}

/* Updates the time of last use, which prune() needs, but not at each use. */
static void refresh(int fd)
{
	struct stat st;
	if (!fstat(fd, &st) && time(NULL) - st.st_mtim.tv_sec > REFRESH_SECONDS)
		futimens(fd, NULL);
}

struct structure *cache_load(const struct cache_subject *subject)
{
	struct text path = TEXT_INIT;
	struct structure *s = NULL;
	struct head h;
	char names[NAMES_MAX];
	uint64_t key = key_of(subject);
	if (!file_name(&path, subject, key))
		goto out;
	int fd = fault("cache-open", EMFILE) ? -1 : open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		goto out;
	if (read_head(fd, &h, names) && is_current(subject, &h, names, key))
		s = read_structure(fd, &h, names);
	if (s)
		refresh(fd);
	close(fd);
	debug(LOG_CACHE, 1, "%s: %s", path.data, s ? "used" : "not usable");
out:
	text_release(&path);
	return s;
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
		if ((!partial && strncmp(d->d_name, "structure-", 10) != 0) ||
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

static bool write_file(int fd, const struct head *h, const struct text *names,
		       const struct structure *s)
{
	return write_all(fd, h, sizeof(*h)) && write_all(fd, names->data, names->len) &&
	       write_all(fd, s->storage, storage_size(&h->counts));
}

static void write_and_rename(const char *dir, const char *path, const struct head *h,
			     const struct text *names, const struct structure *s)
{
	struct text tmp = TEXT_INIT;
	text_printf(&tmp, "%stmp-XXXXXX", dir);
	int fd = fault("cache-create", EACCES) ? -1 : mkostemp(tmp.data, O_CLOEXEC);
	if (fd >= 0) {
		bool ok = write_file(fd, h, names, s);
		ok = !close(fd) && ok && !fault("cache-rename", EACCES) && !rename(tmp.data, path);
		if (!ok)
			unlink(tmp.data);
		debug(LOG_CACHE, 1, "%s: %s", path, ok ? "written" : "could not be written");
	}
	text_release(&tmp);
}

void cache_store(const struct cache_subject *subject, const struct cache_sources *sources,
		 const struct structure *s)
{
	const char *debug_path = sources->debug_path ? sources->debug_path : "";
	const char *debuglink = sources->debuglink ? sources->debuglink : "";
	struct text dir = TEXT_INIT, path = TEXT_INIT, names = TEXT_INIT;
	struct head h = {
		.key = key_of(subject),
		.fingerprint = fingerprint(subject, debug_path, debuglink),
		.counts = {s->function_count, s->loop_count, s->range_count, s->scope_count,
			   s->text_size},
		.machine = s->machine,
		.has_lines = s->has_lines,
		.build_id = subject->build_id,
	};
	memcpy(h.magic, magic, sizeof(magic));
	text_addn(&names, debug_path, strlen(debug_path) + 1);
	text_addn(&names, debuglink, strlen(debuglink) + 1);
	h.names_size = (uint32_t)names.len;
	if (names.len <= NAMES_MAX && file_name(&path, subject, h.key) && directory(&dir) &&
	    make_directory(dir.data)) {
		h.checksum = checksum(&h, names.data, s->storage);
		write_and_rename(dir.data, path.data, &h, &names, s);
		prune(dir.data);
	}
	text_release(&names);
	text_release(&path);
	text_release(&dir);
}
