/* Groups of processes that options name: control groups, systemd units, containers. */
#pragma once
#include "base/text.h"
#include "process/threads.h"

enum group_kind { GROUP_CGROUP, GROUP_UNIT, GROUP_CONTAINER, GROUP_KINDS };

/* Adds the processes of a group that may be examined, without kernel threads, Sonde and those that
 * have started Sonde. Appends what the group is called: "unit nginx.service". Tells who had to be
 * left out. Ends Sonde with a message if there is no such group, or several, or if no process is
 * left. */
void find_group(enum group_kind kind, const char *name, tid_list *out, struct text *called);
