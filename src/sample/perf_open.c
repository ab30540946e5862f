#include "sample/perf_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"

int perf_open(struct perf_event_attr *a, int tid, int cpu)
{
	a->size = sizeof(*a);
	if (fault("perf-open", EACCES))
		return -1;
	return (int)syscall(SYS_perf_event_open, a, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static bool read_line(const char *path, char *line, int size)
{
	FILE *f = fopen(path, "re");
	bool good = f && fgets(line, size, f);
	if (f)
		fclose(f);
	return good;
}

long kernel_setting(const char *name)
{
	char path[80], line[40];
	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return read_line(path, line, sizeof(line)) ? strtol(line, NULL, 10) : -1;
}

static bool locked_down(void)
{
	char line[80];
	return read_line("/sys/kernel/security/lockdown", line, sizeof(line)) &&
	       strstr(line, "[confidentiality]");
}

/* Mainline kernels know levels up to 2, which still lets users watch their own programs; Debian,
 * Ubuntu and Android have 3 and 4, which do not. */
static int explain_denied(struct err *e)
{
	long paranoid = kernel_setting("perf_event_paranoid");
	if (locked_down())
		return err_set(e, ERR_UNSUPPORTED,
			       "perf events are switched off by kernel lockdown (confidentiality); "
			       "only booting with lockdown=integrity or none changes that");
	if (paranoid > 2 && geteuid() != 0)
		return err_set(e, ERR_UNSUPPORTED,
			       "perf events are for root only (kernel.perf_event_paranoid is %ld); "
			       "to change that: sudo sysctl kernel.perf_event_paranoid=2",
			       paranoid);
	return err_set(e, ERR_UNSUPPORTED,
		       "perf_event_open is blocked here (container or seccomp); start the "
		       "container with the capability PERFMON and a seccomp profile that permits "
		       "it%s",
		       paranoid > 2 ? ", or on the host: sudo sysctl kernel.perf_event_paranoid=2"
				    : "");
}

static bool machine_counts(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = {.type = type,
				    .config = config,
				    .disabled = 1,
				    .exclude_kernel = 1,
				    .exclude_hv = 1};
	int fd = perf_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int explain_absent(const struct event *ev, struct err *e)
{
	if (ev->type == PERF_TYPE_SOFTWARE)
		return err_set(e, ERR_UNSUPPORTED, "this kernel does not count %s", ev->name);
	if (machine_counts(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES) ||
	    machine_counts(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS))
		return err_set(e, ERR_UNSUPPORTED,
			       "this machine has hardware counters, but none for %s", ev->name);
	return err_set(e, ERR_UNSUPPORTED,
		       "%s cannot be counted: this machine has no hardware counters (as most "
		       "virtual machines); cpu-clock and the other software events work",
		       ev->name);
}

static int explain_invalid(const struct event *ev, struct err *e)
{
	return err_set(
		e, ERR_UNSUPPORTED,
		"the kernel does not sample %s as requested; it permits %ld samples per second "
		"(kernel.perf_event_max_sample_rate), and not every event can be sampled",
		ev->name, kernel_setting("perf_event_max_sample_rate"));
}

int perf_explain(const struct event *ev, struct err *e)
{
	switch (errno) {
	case EACCES:
	case EPERM: return explain_denied(e);
	case ENOSYS:
		return err_set(e, ERR_UNSUPPORTED,
			       "perf_event_open is not available (a kernel without perf events, or "
			       "a container that hides them)");
	case EMFILE:
		return err_set(e, ERR_UNSUPPORTED,
			       "too many open files, one for each thread, CPU and event; raise the "
			       "limit (ulimit -n)");
	case EINVAL:
		if (ev)
			return explain_invalid(ev, e);
		break;
	case ENOENT:
	case EOPNOTSUPP:
	case ENODEV:
		if (ev)
			return explain_absent(ev, e);
		break;
	}
	err_errno(e, "perf_event_open for %s failed", ev ? ev->name : "a ring");
	return e->code = ERR_UNSUPPORTED;
}

int perf_check_countable(const struct event *ev, struct err *e)
{
	return machine_counts(ev->type, ev->config) ? 0 : perf_explain(ev, e);
}
