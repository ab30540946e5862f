#include "diagnose/wait_kinds.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/vec.h"

static const struct {
	const char *name; /* or its beginning, followed by a star */
	uint8_t kind;
} functions[] = {
	{"pthread_mutex_lock", OBJECT_MUTEX},
	{"pthread_mutex_timedlock", OBJECT_MUTEX},
	{"pthread_mutex_clocklock", OBJECT_MUTEX},
	{"__lll_lock_wait*", OBJECT_MUTEX},
	{"pthread_rwlock_*", OBJECT_RWLOCK},
	/* Of PostgreSQL: locks of rows and tables; locks of what its processes share. */
	{"ProcSleep", OBJECT_LOCK},
	{"LWLockAcquire", OBJECT_LOCK},
	{"LWLockAcquireOrWait", OBJECT_LOCK},
	{"LWLockWaitForVar", OBJECT_LOCK},
	{"pthread_cond_*", OBJECT_CONDITION},
	{"pthread_barrier_wait", OBJECT_BARRIER},
	{"sem_wait*", OBJECT_SEMAPHORE},
	{"sem_timedwait*", OBJECT_SEMAPHORE},
	{"sem_clockwait*", OBJECT_SEMAPHORE},
	{"new_sem_*", OBJECT_SEMAPHORE},
	{"pthread_join", OBJECT_JOIN},
	{"pthread_timedjoin_np", OBJECT_JOIN},
	{"pthread_clockjoin_np", OBJECT_JOIN},
	{"__pthread_clockjoin_ex", OBJECT_JOIN},
	{"thrd_join", OBJECT_JOIN},
	{"pthread_spin_lock", OBJECT_SPIN},
	{"GOMP_*", OBJECT_OPENMP},
	{"gomp_*", OBJECT_OPENMP},
	{"omp_*", OBJECT_OPENMP},
	{"__kmpc_*", OBJECT_OPENMP},
	{"__kmp_*", OBJECT_OPENMP},
	{"MPI_*", OBJECT_MESSAGE},
	{"PMPI_*", OBJECT_MESSAGE},
	{"runtime.*", OBJECT_PARKED},
	{"cuStreamSynchronize*", OBJECT_GPU},
	{"cuCtxSynchronize*", OBJECT_GPU},
	{"cuEventSynchronize*", OBJECT_GPU},
	{"cuStreamQuery*", OBJECT_GPU},
	{"cuEventQuery*", OBJECT_GPU},
	{"cuMemcpy*", OBJECT_GPU},
	{"cudaStreamSynchronize*", OBJECT_GPU},
	{"cudaDeviceSynchronize*", OBJECT_GPU},
	{"cudaEventSynchronize*", OBJECT_GPU},
	{"cudaStreamQuery*", OBJECT_GPU},
	{"cudaEventQuery*", OBJECT_GPU},
	{"cudaMemcpy*", OBJECT_GPU},
	{"hipStreamSynchronize*", OBJECT_GPU},
	{"hipDeviceSynchronize*", OBJECT_GPU},
	{"hipEventSynchronize*", OBJECT_GPU},
	{"hipStreamQuery*", OBJECT_GPU},
	{"hipEventQuery*", OBJECT_GPU},
	{"hipMemcpy*", OBJECT_GPU},
	{"hsa_signal_wait*", OBJECT_GPU},
	{"clFinish", OBJECT_GPU},
	{"clWaitForEvents", OBJECT_GPU},
	{"clEnqueueReadBuffer*", OBJECT_GPU},
	{"clEnqueueWriteBuffer*", OBJECT_GPU},
	{"clEnqueueMapBuffer", OBJECT_GPU},
	{"zeCommandQueueSynchronize", OBJECT_GPU},
	{"zeCommandListHostSynchronize", OBJECT_GPU},
	{"zeFenceHostSynchronize", OBJECT_GPU},
	{"zeEventHostSynchronize", OBJECT_GPU},
};

/* Skips the leading underscores of a library's internal names, except where the table has them. */
static const char *skip_underscores(const char *name)
{
	while (name[0] == '_' && strncmp(name, "__lll", 5) != 0 && strncmp(name, "__kmp", 5) != 0 &&
	       strncmp(name, "__pthread_clockjoin", 19) != 0)
		name++;
	return name;
}

enum object_kind kind_of_function(const char *function)
{
	function = skip_underscores(function);
	for (uint32_t i = 0; i < ARRAY_SIZE(functions); i++) {
		const char *name = functions[i].name;
		size_t n = strcspn(name, "*");
		size_t length = strcspn(function, "@");
		if (!strncmp(function, name, n) && (name[n] || length == n))
			return functions[i].kind;
	}
	return OBJECT_KINDS;
}

enum object_kind kind_of_call(uint32_t call)
{
	switch (call) {
	case SYS_futex:
#ifdef SYS_futex_waitv
	case SYS_futex_waitv:
#endif
#ifdef SYS_futex_wait
	case SYS_futex_wait:
#endif
		return OBJECT_FUTEX;
	case SYS_semop:
	case SYS_semtimedop: return OBJECT_SEMAPHORE;
	case SYS_waitid:
	case SYS_wait4: return OBJECT_PROCESS;
	case SYS_nanosleep:
	case SYS_clock_nanosleep: return OBJECT_SLEEP;
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
#ifdef SYS_pause
	case SYS_pause:
#endif
		return OBJECT_SIGNAL;
	default: return OBJECT_OTHER;
	}
}
