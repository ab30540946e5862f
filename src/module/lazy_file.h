/* The bytes of a file, read when they are first needed.
 *
 * A large library has hundreds of megabytes, of which one sample needs a few thousand. So address
 * space is reserved for all bytes, and they are read into it in chunks. A file is read, not mapped,
 * because Sonde would be killed if somebody truncated a mapped file. Bytes that were read once do
 * not change any more. The file stays open as long as some bytes are missing: it may be deleted or
 * replaced by another one meanwhile. If the file itself is changed or truncated, or cannot be read
 * any more, lazy_file_problem() says so, and the bytes that were not read yet are zeros.
 *
 * Any number of threads may ask for bytes. */
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { LAZY_CHUNK_BITS = 16 };

struct lazy_file {
	const uint8_t *base; /* of the reserved space; use lazy_file_at() */
	size_t size;
	atomic_uchar *loaded; /* for each chunk */
	struct lazy_source *source;
};

/* Opens a regular file. The error gives the reason, without the path. */
int lazy_file_open(struct lazy_file **out, const char *path, struct err *e);
/* Reads a small file whole, so that it needs no descriptor any more: processes map hundreds of
 * small libraries. Call it before sharing f. */
void lazy_file_settle(struct lazy_file *f);
/* A file in memory. The bytes are copied. */
struct lazy_file *lazy_file_of_memory(const void *bytes, size_t size);
/* The same, to be filled in by the caller before anybody reads it; *bytes are zeros. */
struct lazy_file *lazy_file_blank(size_t size, uint8_t **bytes);
/* One more user of the same bytes, who has to close it as well. */
struct lazy_file *lazy_file_share(struct lazy_file *f);
void lazy_file_close(struct lazy_file *f);

/* A sentence if bytes could not be read although they belong to the file, otherwise NULL. */
const char *lazy_file_problem(const struct lazy_file *f);

/* Reads the chunks first .. last, if they were not read before. */
void lazy_file_load(const struct lazy_file *f, size_t first, size_t last);

/* Gives the memory of these bytes back, as far as they fill chunks. They are read again when they
 * are next needed. Nobody may be using them, or pointers to them, at this moment. */
void lazy_file_forget(struct lazy_file *f, uint64_t offset, uint64_t size);

/* `size` bytes at `offset`; both must lie within the file. */
static inline const uint8_t *lazy_file_at(const struct lazy_file *f, uint64_t offset, uint64_t size)
{
	size_t first = (size_t)(offset >> LAZY_CHUNK_BITS);
	size_t last = size ? (size_t)((offset + size - 1) >> LAZY_CHUNK_BITS) : first;
	for (size_t i = first; size && i <= last; i++) {
		if (!atomic_load_explicit(&f->loaded[i], memory_order_acquire)) {
			lazy_file_load(f, i, last);
			break;
		}
	}
	return f->base + offset;
}
