/* Reading and writing another process's memory. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies up to n bytes at address; returns how many could be read (0 if none). */
size_t memory_read(int pid, uint64_t address, void *to, size_t n);

/* Writes to the memory of a process that we trace, even where the process itself may only read.
 * Instruction caches are kept coherent. Returns false if not all bytes could be written. */
bool memory_write(int pid, uint64_t address, const void *from, size_t n);

/* Whether other processes may have mapped the memory at the address as well. If so, *inode and
 * *offset identify it, with the same values in all of them. */
bool memory_is_shared(int pid, uint64_t address, uint64_t *inode, uint64_t *offset);

/* A window on the memory of a process, for walks: a source of words for unwind/walk.h. It is read
 * in whole pages, and keeps them. Initialise it again whenever the process may have run. */
struct memory_window {
	int pid;
	uint64_t address; /* of bytes[0] */
	size_t size;
	uint8_t bytes[1 << 16];
};
void memory_window_init(struct memory_window *w, int pid);
bool memory_window_word(void *window, uint64_t address, uint64_t *out);
