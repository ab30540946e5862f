#include "search/hypothesis.h"

#include <string.h>

/* MACHINE is before CODE, so that a problem of one thread is searched for in the code of that
 * thread, relative to the thread's own time. Objects are last: a wait is located by thread, then by
 * code, and then by the object that is waited for. */
const struct hypothesis hypotheses[HYPOTHESES] = {
	[CPU_BOUND] =
		{
			.name = "cpu",
			.title = "CPU-bound",
			.measure = MEASURE_CPU,
			.samples = SAMPLE_CPU,
			.general = HYPOTHESIS_NONE,
			.axes = 2,
			.axis = {MACHINE, CODE},
			.threshold = 0.20,
		},
	[SYSTEM_TIME] =
		{
			.name = "system",
			.title = "system time",
			.measure = MEASURE_SYSTEM,
			.samples = SAMPLE_SYSTEM,
			.general = HYPOTHESIS_NONE,
			.axes = 2,
			.axis = {MACHINE, CODE},
			.threshold = 0.20,
		},
	[MEMORY_MANAGEMENT] =
		{
			.name = "memory",
			.title = "memory management",
			.measure = MEASURE_MEMORY,
			.samples = SAMPLE_MEMORY,
			.general = HYPOTHESIS_NONE,
			.axes = 2,
			.axis = {MACHINE, CODE},
			.threshold = 0.20,
		},
	[SYNC_WAITING] =
		{
			.name = "sync",
			.title = "synchronisation wait",
			.measure = MEASURE_SYNC,
			.samples = SAMPLE_SYNC,
			.general = HYPOTHESIS_NONE,
			.axes = 3,
			.axis = {MACHINE, CODE, SYNC},
			.threshold = 0.20,
		},
	[IO_BLOCKED] =
		{
			.name = "io",
			.title = "I/O wait",
			.measure = MEASURE_IO,
			.samples = SAMPLE_IO,
			.general = HYPOTHESIS_NONE,
			.axes = 3,
			.axis = {MACHINE, CODE, FILES},
			.threshold = 0.20,
		},
	[SMALL_IO] =
		{
			.name = "small-io",
			.title = "small I/O",
			.measure = MEASURE_SMALL_IO,
			.samples = SAMPLE_IO,
			.general = IO_BLOCKED,
			.axes = 3,
			.axis = {MACHINE, CODE, FILES},
			.threshold = 0.10,
		},
	[IMBALANCE] =
		{
			.name = "imbalance",
			.title = "load imbalance",
			.measure = MEASURE_IMBALANCE,
			.samples = SAMPLE_CPU,
			.general = HYPOTHESIS_NONE,
			.axes = 2,
			.axis = {MACHINE, CODE},
			.threshold = 0.15,
		},
};

enum hypothesis_id hypothesis_named(const char *name)
{
	uint32_t i = 0;
	while (i < HYPOTHESES && strcmp(hypotheses[i].name, name) != 0)
		i++;
	return (enum hypothesis_id)i;
}
