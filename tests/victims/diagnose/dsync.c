/* Large blocks, each written through to the disk: blocked, but not by small operations. */
#include "scratch.h"

enum { BLOCK = 1 << 20, BLOCKS = 16 };

static uint64_t first, written;
static char block[BLOCK];

OWN static uint64_t fill(uint64_t x)
{
	for (int i = 0; i < BLOCK; i += 64) {
		STIR(x);
		block[i] = (char)x;
	}
	return x;
}

OWN static void save(int fd, int number)
{
	if (pwrite(fd, block, BLOCK, (off_t)number * BLOCK) != BLOCK)
		abort();
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	int fd = scratch_file("diagnose-blocks", O_DSYNC);
	for (int n = 0; running(); n++) { /* hot: main */
		same(&first, fill(7));
		TIME_OF(written, save(fd, n % BLOCKS));
	}
	finish("dsync");
	tell("io", "save", written, elapsed());
}
