/* Rank 0 has most of the work; the others wait for its message. */
#include <mpi.h>

#include "victim.h"

static uint64_t first, hot, waited;

OWN static uint64_t assemble(uint64_t x)
{
	for (int i = 0; i < 4000000; i++) /* hot: assemble */
		STIR(x);
	return x;
}

OWN static uint64_t await_part(void)
{
	uint64_t x = 0;
	TIME_OF(waited, MPI_Recv(&x, 1, MPI_UINT64_T, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	return x;
}

OWN static void send_part(uint64_t x, int ranks)
{
	for (int i = 1; i < ranks; i++)
		MPI_Send(&x, 1, MPI_UINT64_T, i, 7, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank, ranks;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	begin(argc, argv);
	for (uint64_t x = 1; x;) { /* hot: main */
		if (rank == 0) {
			CPU_OF(hot, x = assemble(7));
			same(&first, x);
			x = running() ? x : 0;
			send_part(x, ranks);
		} else if ((x = await_part())) {
			same(&first, x);
		}
	}
	double passed = elapsed(), used = (double)nanoseconds(CLOCK_PROCESS_CPUTIME_ID) / 1e9;
	if (rank == 0) {
		finish("mpi");
		/* The others poll: that is no work. */
		tell_cpu_of("assemble", hot, used, run_seconds());
	} else if (getenv("DIAGNOSE_TRUTH")) {
		truth_file = fopen(getenv("DIAGNOSE_TRUTH"), "a");
		tell("sync", "await_part", waited, passed * ranks);
	}
	MPI_Finalize();
}
