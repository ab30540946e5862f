#include "probe/region/region_file.h"

#include <unistd.h>

#include "base/fault.h"

bool region_next_data(const struct target *t, uint64_t *from, uint64_t end, uint64_t *to)
{
	off_t data = lseek(t->region.fd, (off_t)*from, SEEK_DATA);
	if (data < 0 || (uint64_t)data >= end)
		return false;
	off_t hole = lseek(t->region.fd, data, SEEK_HOLE);
	*from = (uint64_t)data;
	*to = hole < 0 || (uint64_t)hole > end ? end : (uint64_t)hole;
	return true;
}

bool region_read(const struct target *t, uint64_t offset, void *out, uint64_t size)
{
	for (ssize_t n; size; size -= (uint64_t)n, offset += (uint64_t)n) {
		n = fault("region-read", EIO) ? -1 : pread(t->region.fd, out, size, (off_t)offset);
		if (n <= 0)
			return false;
		out = (uint8_t *)out + n;
	}
	return true;
}

bool region_write(const struct target *t, uint64_t offset, const void *from, uint64_t size)
{
	for (ssize_t n; size; size -= (uint64_t)n, offset += (uint64_t)n) {
		n = fault("region-write", ENOSPC) ? -1
						  : pwrite(t->region.fd, from, size, (off_t)offset);
		if (n <= 0)
			return false;
		from = (const uint8_t *)from + n;
	}
	return true;
}
