/* A lattice in strips, one for each rank of MPI: after each sweep neighbours exchange their edges,
 * and all ranks add up the change. usage: lattice SWEEPS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 1024, ROWS = 1024 };

static double old[ROWS + 2][WIDTH], new[ROWS + 2][WIDTH];
static int rank, ranks, rows;

static void exchange(void)
{
	int up = rank ? rank - 1 : MPI_PROC_NULL,
	    down = rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Sendrecv(old[1], WIDTH, MPI_DOUBLE, up, 0, old[rows + 1], WIDTH, MPI_DOUBLE, down, 0,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Sendrecv(old[rows], WIDTH, MPI_DOUBLE, down, 1, old[0], WIDTH, MPI_DOUBLE, up, 1,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static double sweep(void)
{
	double change = 0;
	for (int i = 1; i <= rows; i++)
		for (int j = 1; j < WIDTH - 1; j++) {
			new[i][j] = 0.25 *
				    (old[i - 1][j] + old[i + 1][j] + old[i][j - 1] + old[i][j + 1]);
			change += (new[i][j] - old[i][j]) * (new[i][j] - old[i][j]);
		}
	memcpy(old[1], new[1], sizeof(old[0]) * (size_t)rows);
	return change;
}

int main(int argc, char **argv)
{
	double all = 0;
	long sweeps = argc > 1 ? atol(argv[1]) : 100;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rows = ROWS / ranks;
	for (int j = 0; j < WIDTH; j++)
		old[1][j] = new[1][j] = rank ? 0 : j % 17;
	for (long i = 0; i < sweeps; i++) {
		exchange();
		double change = sweep();
		MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (!rank)
		printf("%.9g\n", all);
	MPI_Finalize();
	return 0;
}
