/* The kind of object that a thread waits for, by the names of functions that wait, and by system
 * calls. */
#pragma once
#include <stdint.h>

#include "search/object.h"

/* Returns the kind of object that a function waits for, by its name; OBJECT_KINDS if it is not
 * known to wait. */
enum object_kind kind_of_function(const char *name);
/* Returns the kind of object that a system call waits for, as far as its number shows it. */
enum object_kind kind_of_call(uint32_t call);
