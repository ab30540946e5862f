#include "diagnose/plumbing.h"

#include <string.h>

#include "diagnose/allocation.h"
#include "diagnose/teams.h"
#include "diagnose/wait_kinds.h"
#include "flow/flow.h"

static const char *const libraries[] = {
	"libc.",     "libc-",       "libpthread",  "ld-",      "librt",    "libstdc++", "libc++",
	"libmpi",    "libopen-pal", "libopen-rte", "libucp",   "libucs",   "libuct",    "libpmix",
	"libfabric", "libtbb.",     "mca_",        "libevent", "libhwloc", "[vdso]",
};

static const char *const calls[] = {
	"read",
	"write",
	"readv",
	"writev",
	"pread64",
	"pwrite64",
	"pread",
	"pwrite",
	"fsync",
	"fdatasync",
	"open",
	"open64",
	"openat",
	"openat64",
	"close",
	"poll",
	"ppoll",
	"select",
	"pselect",
	"epoll_wait",
	"epoll_pwait",
	"accept",
	"connect",
	"send",
	"sendto",
	"sendmsg",
	"recv",
	"recvfrom",
	"recvmsg",
	"nanosleep",
	"clock_nanosleep",
	"usleep",
	"sleep",
	"wait4",
	"waitpid",
	"waitid",
	"futex",
	"sendfile",
	"fwrite",
	"fread",
	"fflush",
	"fputs",
	"fputc",
	"fgets",
	"fgetc",
	"printf",
	"fprintf",
	"puts",
	/* Of PostgreSQL: all that its processes wait for is waited for in one of these. */
	"WaitLatch",
	"WaitLatchOrSocket",
	"WaitEventSetWait",
	"PGSemaphoreLock",
	/* Called by glibc's cancellable functions, and by those that wait for a futex. */
	"syscall",
	"syscall_cancel",
	"internal_syscall_cancel",
	"syscall_cancel_arch",
	"futex_abstimed_wait_common",
	"futex_abstimed_wait64",
	"futex_abstimed_wait_cancelable64",
};

/* Of CUDA, HIP, OpenCL and Level Zero. */
static const char *const gpu_runtimes[] = {"libcuda.",   "libcudart",  "libnvidia-", "libamdhip64",
					   "libhsa-run", "libOpenCL.", "libze_"};

static const char *const team_runtimes[] = {"libgomp", "libomp.", "libomp5", "libiomp"};

static bool is_one_of(const char *path, const char *const *list, uint32_t count)
{
	const char *file = strrchr(path, '/');
	file = file ? file + 1 : path;
	for (uint32_t i = 0; i < count; i++)
		if (!strncmp(file, list[i], strlen(list[i])))
			return true;
	return false;
}

static bool is_call(const char *name)
{
	name = code_plain_name(name);
	for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (!strcmp(name, calls[i]))
			return true;
	return false;
}

bool is_plumbing_at(const struct code *code, uint64_t va)
{
	const char *name = code_name_at(code, va);
	return code && (is_one_of(code->path, libraries, ARRAY_SIZE(libraries)) ||
			runtime_of(code) != RUNTIME_NONE || is_call(name) || is_allocator(name) ||
			kind_of_function(name) != OBJECT_KINDS);
}

enum runtime runtime_of(const struct code *code)
{
	if (is_one_of(code->path, team_runtimes, ARRAY_SIZE(team_runtimes)))
		return RUNTIME_TEAM;
	return is_one_of(code->path, gpu_runtimes, ARRAY_SIZE(gpu_runtimes)) ? RUNTIME_GPU
									     : RUNTIME_NONE;
}

bool is_plumbing(struct code_parts *c, uint32_t part)
{
	struct code_part p = code_part(c, part);
	return is_plumbing_at(p.code, p.va) || code_part_relays(c, part);
}

bool is_spinning(struct code_parts *c, uint32_t part)
{
	struct code_part p = code_part(c, part);
	const char *name = code_name_at(p.code, p.va);
	enum object_kind kind = kind_of_function(name);
	return kind == OBJECT_SPIN || kind == OBJECT_MESSAGE || kind == OBJECT_GPU ||
	       (kind == OBJECT_OPENMP && team_waits_for(name)) || code_part_spin(c, part).spins;
}
