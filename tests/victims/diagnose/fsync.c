/* A log whose every line is forced to the disk. */
#include "scratch.h"

static uint64_t first, written;

OWN static uint64_t format_line(uint64_t x)
{
	for (int i = 0; i < 20000; i++)
		STIR(x);
	return x;
}

OWN static void append_line(int fd, uint64_t x)
{
	char line[64];
	int length = snprintf(line, sizeof(line), "entry %016llx\n", (unsigned long long)x);
	if (write(fd, line, (size_t)length) != length || fsync(fd))
		abort();
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	int fd = scratch_file("diagnose-log", O_APPEND);
	while (running()) { /* hot: main */
		uint64_t x = format_line(7);
		same(&first, x);
		TIME_OF(written, append_line(fd, x));
	}
	finish("fsync");
	tell("small-io", "append_line", written, elapsed());
}
