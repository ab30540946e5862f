/* The name by which a process's program was started. A link may have led to the file: redis-server
 * is one to redis-check-rdb, and python3 one to python3.11. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

/* Puts the path into `out`; false if it is not absolute, or cannot be read. It is that of a script
 * if the program is its interpreter. */
bool started_as(int pid, char *out, size_t size);
