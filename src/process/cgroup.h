/* Control groups. A hierarchy of them is a tree of folders; each folder is a group, with its
 * processes in the file cgroup.procs. Version 2 has one hierarchy; version 1 has one for each
 * controller, and one of systemd's; both may be mounted beside each other. */
#pragma once
#include "base/arena.h"
#include "process/threads.h"

typedef VEC(const char *) cgroup_list; /* paths of folders */

/* Adds the folders at which hierarchies are mounted, according to /proc/self/mountinfo: that of
 * version 2, then systemd's, then those of controllers. */
void cgroup_hierarchies(const char *mountinfo, struct arena *a, cgroup_list *out);
/* Adds a group and all groups below it, sorted by path. */
void cgroup_tree(const char *folder, struct arena *a, cgroup_list *out);

struct cgroup_members {
	tid_list pids;
	uint32_t outside; /* how many more there are, outside of our PID namespace */
	uint32_t closed;  /* how many groups could not be read */
	struct err why;   /* the first of them, and why */
};

/* Adds the processes of a group and of all groups below it. Groups that vanish meanwhile have
 * none. */
void cgroup_read(const char *folder, struct cgroup_members *out);

/* The name of the systemd unit that a group belongs to; NULL if it is no unit's. */
const char *cgroup_unit(const char *folder);
/* Whether this is the unit's name; ".service" and ".scope" may be left out. */
bool unit_has_name(const char *unit, const char *name);
