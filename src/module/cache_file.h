/* Files in the user's cache directory, with what was learnt of a module.
 *
 * $XDG_CACHE_HOME/sonde (or ~/.cache/sonde) holds files named after their kind, the module's build
 * id, and a hash of what else determines the contents, Sonde's own executable included. Files are
 * written under another name and renamed, so readers and writers need no locks. What is read is not
 * trusted: callers have a checksum in their files, which detects what a crash left incomplete. A
 * failure is never an error: it is done without the cache. If all files together become too large,
 * the least recently used ones are removed. */
#pragma once
#include "module/bytes.h"
#include "module/module.h"

struct cache_name {
	const char *kind; /* one of the list in cache_file.c */
	struct build_id build_id;
	uint64_t key;
};

/* A hash of this program: after a rebuild, its results may differ. */
uint64_t cache_program_hash(uint64_t seed);

/* The name with the hash of these parts and of the build id as its key. Callers have the key in
 * their files, too, so that one which somebody renamed is not taken for that of another module. */
struct cache_name cache_name(const char *kind, const struct build_id *id, const uint64_t *parts,
			     uint32_t count);

/* Opens a file for reading; -1 if there is none. *size is its size. */
int cache_file_open(const struct cache_name *n, uint64_t *size);
bool cache_file_read(int fd, void *out, uint64_t size);
/* Closes the file. If it was of use, prune later. */
void cache_file_close(int fd, bool used);
/* Writes a file from its parts. The first time, and once in so many times, old files are looked
 * for; a program with 100 libraries has as many files. */
enum { CACHE_PRUNE_PERIOD = 16 };
void cache_file_write(const struct cache_name *n, const struct slice *parts, uint32_t count);
