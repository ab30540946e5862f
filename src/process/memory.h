/* Reading and writing another process's memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies up to n bytes at address; returns how many could be read (0 if none). */
size_t memory_read(int pid, uint64_t address, void *to, size_t n);

/* Writes to memory of a process that we trace, also where the process itself may only read; the
 * CPU's instruction caches are taken care of. Returns false if not all could be written. */
bool memory_write(int pid, uint64_t address, const void *from, size_t n);

/* Whether other processes may have the memory at the address as well; then *inode and *offset say
 * which it is, the same for all of them. */
bool memory_is_shared(int pid, uint64_t address, uint64_t *inode, uint64_t *offset);

/* A window on a process's memory that is read in pages and kept, for walks: a source of words for
 * unwind/walk.h. Forget it whenever the process may have run. */
struct memory_window {
	int pid;
	uint64_t address; /* of bytes[0] */
	size_t size;
	uint8_t bytes[1 << 16];
};
void memory_window_init(struct memory_window *w, int pid);
bool memory_window_word(void *window, uint64_t address, uint64_t *out);
