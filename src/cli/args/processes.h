/* The processes that options name, one by one or as groups. */
#pragma once
#include "base/text.h"
#include "cli/args/options.h"
#include "process/threads.h"

/* What the options say; lists are separated by commas. */
struct process_args {
	const char *pids, *cgroups, *units, *containers;
	bool alone; /* without their descendants */
};

#define OPTIONS_PROCESSES(struct_type, member)                                                     \
	OPTION("pid", OPTION_TEXT, struct_type, member.pids, .letter = 'p', .value = "WHO[,WHO]",  \
	       .help = "observe running processes (PID or name) and their descendants"),           \
		OPTION("cgroup", OPTION_TEXT, struct_type, member.cgroups, .value = "PATH",        \
		       .help = "observe the processes of a control group"),                        \
		OPTION("unit", OPTION_TEXT, struct_type, member.units, .value = "NAME",            \
		       .help = "observe the processes of a systemd unit"),                         \
		OPTION("container", OPTION_TEXT, struct_type, member.containers, .value = "NAME",  \
		       .help = "observe the processes of a container (name or ID)"),               \
		OPTION("no-children", OPTION_FLAG, struct_type, member.alone,                      \
		       .help = "with these: without descendants")

struct processes {
	tid_list pids;
	uint32_t members;   /* how many of them, the last ones, were found as members of groups */
	struct text groups; /* what these are called: "unit nginx.service" */
};

/* Whether the options name any process. */
bool names_processes(const struct process_args *a);
/* Adds the processes, but no descendants of others unless they are wanted alone. Ends Sonde with a
 * message if there is none of a name, or several. */
void parse_processes(const struct process_args *a, struct processes *out);
void processes_release(struct processes *p);
