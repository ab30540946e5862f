/* Names of the objects that threads wait for. */
#pragma once
#include "diagnose/waits.h"

/* Kinds of which a process has one object. As their number, no descriptor has this bit, nor has a
 * user-space address. */
#define OBJECT_ONLY_ONE (UINT64_C(1) << 62)
/* An object that is known by its name: the bit besides a hash of it. */
#define OBJECT_BY_NAME (UINT64_C(1) << 63)

/* Names an object that has just been added. */
void object_name(struct waits *w, struct wait_object *o);
/* Names an object in memory again: its module may have been mapped since. */
void object_name_memory(struct waits *w, struct wait_object *o);
/* Finds out where an object was made. Called again when its kind is known: the word that threads
 * wait for may not be its first. */
void object_find_maker(struct waits *w, struct wait_object *o);
/* Finds out who is at the other end of a pipe, and names it so: "from gzip (4711)". */
void object_name_peer(struct waits *w, struct wait_object *o);
/* The same of a connection, by the inode of its socket. */
void object_find_peer(struct waits *w, struct wait_object *o, uint64_t socket);
/* Returns true if the descriptor refers to another file by now: numbers of closed files are
 * reused. */
bool object_refers_elsewhere(struct waits *w, struct wait_object *o);
