/* Ranks pass numbers round a ring, and reduce; the first prints the result. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

enum { ROUNDS = 200 };

static uint64_t stir(uint64_t x)
{
	for (int i = 0; i < 100; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	uint64_t x = (uint64_t)rank + 1, sum = 0;
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t in;
		x = stir(x);
		MPI_Sendrecv(&x, 1, MPI_UINT64_T, (rank + 1) % size, 0, &in, 1, MPI_UINT64_T,
			     (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		x = x * 3 + in;
		if (i % 20 == 0)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Reduce(&x, &sum, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank)
		printf("mpi %d ranks %016llx\n", size, (unsigned long long)sum);
	MPI_Finalize();
	return 0;
}
