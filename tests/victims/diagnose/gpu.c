/* Computes a bit, waits for its GPU, and copies the result. The device is made up (gpu_library.c). */
#include "victim.h"

int cuInit(unsigned flags);
int cuLaunchKernel(void);
int cuStreamSynchronize(void);
int cuMemcpyDtoH_v2(void *to, const void *from, size_t size);

enum { SIZE = 96 << 20 };

static uint64_t waited, copied, prepared, first;
static char *host, *device;

OWN static uint64_t prepare(uint64_t x)
{
	for (int i = 0; i < 5000000; i++) /* hot: prepare */
		STIR(x);
	return x;
}

OWN static int await_result(void)
{
	return cuStreamSynchronize() + 1;
}

OWN static int fetch_result(void)
{
	return cuMemcpyDtoH_v2(host, device, SIZE) + 1;
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	host = malloc(SIZE), device = malloc(SIZE);
	memset(host, 1, SIZE), memset(device, 2, SIZE);
	cuInit(0);
	while (running()) { /* hot: main */
		CPU_OF(prepared, same(&first, prepare(7)));
		cuLaunchKernel();
		TIME_OF(waited, await_result());
		TIME_OF(copied, fetch_result());
	}
	finish("gpu");
	tell("sync", "await_result", waited, elapsed());
	tell("sync", "fetch_result", copied, elapsed());
	tell_cpu_of("prepare", prepared, elapsed(), run_seconds());
}
