#include "module/lazy_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/check.h"
#include "base/fault.h"
#include "base/log.h"

#if SONDE_CHECKS && defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)   ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum {
	SMALL_FILE = 1 << 20, /* bytes that are read at once */
	PROBLEM_SIZE = 160,
};

static const uint64_t FILE_MAX_SIZE = (uint64_t)16 << 30;

struct lazy_source {
	int fd; /* -1: all bytes are there */
	struct timespec modified;
	pthread_mutex_t lock; /* of loading */
	atomic_bool failed;
	char problem[PROBLEM_SIZE]; /* valid once `failed` is set */
	atomic_uint users;
};

/* ---- opening ---- */

static int refuse_path(struct err *e)
{
	switch (errno) {
	case ENOENT: return err_set(e, ERR_SYSTEM, "there is no such file");
	case EACCES:
	case EPERM:
		return err_set(e, ERR_SYSTEM,
			       "permission denied; try again as the file's owner or with sudo");
	default: return err_errno(e, "it cannot be opened");
	}
}

static int check_regular(const struct stat *st, struct err *e)
{
	if (S_ISDIR(st->st_mode))
		return err_set(e, ERR_INPUT, "it is a directory; name a program or shared library");
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_INPUT, "it is a device, pipe or socket, not a program");
	if ((uint64_t)st->st_size > FILE_MAX_SIZE)
		return err_set(e, ERR_UNSUPPORTED, "it is larger than 16 GiB, the limit");
	return 0;
}

/* O_NONBLOCK: opening a pipe would block until somebody writes to it. */
static int open_regular(const char *path, struct stat *st, struct err *e)
{
	int fd = fault("module-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return refuse_path(e);
	int rc = fstat(fd, st) ? err_errno(e, "its size cannot be read") : check_regular(st, e);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

/* Reserves space for the bytes. Huge pages would fill memory that nobody reads. */
static struct lazy_file *reserve(size_t size)
{
	size_t chunks = (size >> LAZY_CHUNK_BITS) + 1, room = chunks << LAZY_CHUNK_BITS;
	uint8_t *base = fault("module-memory", ENOMEM)
				? MAP_FAILED
				: mmap(NULL, room, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (base == MAP_FAILED)
		return NULL;
	madvise(base, room, MADV_NOHUGEPAGE);
	struct lazy_file *f = xcalloc(1, sizeof(*f));
	*f = (struct lazy_file){.base = base,
				.size = size,
				.loaded = xcalloc(chunks, sizeof(*f->loaded)),
				.source = xcalloc(1, sizeof(*f->source))};
	pthread_mutex_init(&f->source->lock, NULL);
	f->source->users = 1;
	f->source->fd = -1;
	ASAN_POISON_MEMORY_REGION(base, room);
	return f;
}

int lazy_file_open(struct lazy_file **out, const char *path, struct err *e)
{
	struct stat st;
	int fd = open_regular(path, &st, e);
	if (fd < 0)
		return fd;
	struct lazy_file *f = reserve((size_t)st.st_size);
	if (!f) {
		close(fd);
		return err_set(e, ERR_SYSTEM, "its %zu bytes do not fit into memory",
			       (size_t)st.st_size);
	}
	f->source->fd = fd;
	f->source->modified = st.st_mtim;
	*out = f;
	return 0;
}

void lazy_file_settle(struct lazy_file *f)
{
	if (f->source->fd < 0 || f->size > SMALL_FILE)
		return;
	lazy_file_at(f, 0, f->size);
	close(f->source->fd);
	f->source->fd = -1;
}

struct lazy_file *lazy_file_blank(size_t size, uint8_t **bytes)
{
	struct lazy_file *f = reserve(size);
	if (!f)
		alloc_failed(size);
	size_t chunks = (size >> LAZY_CHUNK_BITS) + 1;
	ASAN_UNPOISON_MEMORY_REGION(f->base, size);
	for (size_t i = 0; i < chunks; i++)
		f->loaded[i] = 1;
	*bytes = (uint8_t *)(uintptr_t)f->base;
	return f;
}

struct lazy_file *lazy_file_of_memory(const void *bytes, size_t size)
{
	uint8_t *to;
	struct lazy_file *f = lazy_file_blank(size, &to);
	if (size)
		memcpy(to, bytes, size);
	return f;
}

struct lazy_file *lazy_file_share(struct lazy_file *f)
{
	f->source->users++;
	return f;
}

void lazy_file_close(struct lazy_file *f)
{
	if (!f || --f->source->users)
		return;
	size_t room = ((f->size >> LAZY_CHUNK_BITS) + 1) << LAZY_CHUNK_BITS;
	ASAN_UNPOISON_MEMORY_REGION(f->base, room);
	munmap((void *)(uintptr_t)f->base, room);
	if (f->source->fd >= 0)
		close(f->source->fd);
	pthread_mutex_destroy(&f->source->lock);
	free(f->source);
	free(f->loaded);
	free(f);
}

const char *lazy_file_problem(const struct lazy_file *f)
{
	return atomic_load(&f->source->failed) ? f->source->problem : NULL;
}

/* ---- reading ---- */

/* Reads n bytes at an offset; false if there are fewer, or with errno set. */
static bool read_at(int fd, uint8_t *out, size_t n, uint64_t offset)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = fault("module-read", EIO)
				      ? -1
				      : pread(fd, out + done, n - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			return false;
		done += (size_t)got;
	}
	return true;
}

/* Deleting or renaming a file changes its other times, but neither its bytes nor this one. */
static bool is_unchanged(const struct lazy_file *f)
{
	const struct timespec *was = &f->source->modified;
	struct stat now;
	return fstat(f->source->fd, &now) == 0 && (size_t)now.st_size == f->size &&
	       now.st_mtim.tv_sec == was->tv_sec && now.st_mtim.tv_nsec == was->tv_nsec;
}

static void fail(struct lazy_source *s, int error)
{
	if (error)
		snprintf(s->problem, sizeof(s->problem), "it cannot be read: %s", strerror(error));
	else
		snprintf(s->problem, sizeof(s->problem),
			 "the file changed while it was read; try again when it is complete");
	atomic_store(&s->failed, true);
	debug(LOG_MODULE, 1, "%s", s->problem);
}

static void read_bytes(const struct lazy_file *f, size_t from, size_t to)
{
	uint8_t *at = (uint8_t *)(uintptr_t)f->base + from;
	ASAN_UNPOISON_MEMORY_REGION(at, to - from);
	if (atomic_load(&f->source->failed))
		return;
	errno = 0;
	bool complete = read_at(f->source->fd, at, to - from, from);
	int error = complete ? 0 : errno;
	if (complete && is_unchanged(f))
		return;
	memset(at, 0, to - from);
	fail(f->source, error);
}

void lazy_file_load(const struct lazy_file *f, size_t first, size_t last)
{
	pthread_mutex_lock(&f->source->lock);
	for (size_t i = first, next; i <= last; i = next) {
		for (next = i + 1; next <= last && f->loaded[next] == f->loaded[i]; next++)
			;
		if (f->loaded[i])
			continue;
		size_t end = next << LAZY_CHUNK_BITS;
		read_bytes(f, i << LAZY_CHUNK_BITS, end < f->size ? end : f->size);
		for (size_t k = i; k < next; k++)
			atomic_store_explicit(&f->loaded[k], 1, memory_order_release);
	}
	pthread_mutex_unlock(&f->source->lock);
}

void lazy_file_forget(struct lazy_file *f, uint64_t offset, uint64_t size)
{
	size_t first = (size_t)((offset + (1 << LAZY_CHUNK_BITS) - 1) >> LAZY_CHUNK_BITS);
	size_t end = (size_t)((offset + size) >> LAZY_CHUNK_BITS);
	if (f->source->fd < 0 || end <= first)
		return;
	uint8_t *at = (uint8_t *)(uintptr_t)f->base + (first << LAZY_CHUNK_BITS);
	size_t n = (end - first) << LAZY_CHUNK_BITS;
	madvise(at, n, MADV_DONTNEED);
	for (size_t i = first; i < end; i++)
		atomic_store(&f->loaded[i], 0);
	ASAN_POISON_MEMORY_REGION(at, n);
}
