/* One byte a write(). */
#include "scratch.h"

static uint64_t first, written;

OWN static void put(int fd, const char *text, int length)
{
	for (int i = 0; i < length; i++) /* hot: put */
		if (pwrite(fd, text + i, 1, i) != 1)
			abort();
}

OWN static uint64_t prepare(uint64_t x)
{
	for (int i = 0; i < 50000; i++)
		STIR(x);
	return x;
}

int main(int argc, char **argv)
{
	static const char text[4096] = "text";
	begin(argc, argv);
	int fd = scratch_file("diagnose-bytes", 0);
	while (running()) { /* hot: main */
		same(&first, prepare(7));
		TIME_OF(written, put(fd, text, (int)sizeof(text)));
	}
	finish("bytes");
	tell("small-io", "put", written, elapsed());
}
