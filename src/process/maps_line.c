#include "process/maps_line.h"

#include <string.h>

static int digit(char c, unsigned base)
{
	int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
	return value < (int)base ? value : -1;
}

/* Reads a number and the character after it, and moves *at behind both. */
static bool read_number(const char **at, unsigned base, char after, uint64_t *out)
{
	const char *begin = *at;
	*out = 0;
	for (int value; (value = digit(**at, base)) >= 0; ++*at)
		*out = *out * base + (unsigned)value;
	return *at != begin && *(*at)++ == after;
}

static bool read_access(const char **at, char out[4])
{
	for (unsigned i = 0; i < 4; i++, ++*at) {
		if (!**at || !strchr("rwxsp-", **at))
			return false;
		out[i] = **at;
	}
	return *(*at)++ == ' ';
}

/* "start-end access offset major:minor inode   path" */
static bool parse(struct maps_line *l, const char *at, const char *end)
{
	uint64_t major, minor;
	if (!read_number(&at, 16, '-', &l->start) || !read_number(&at, 16, ' ', &l->end) ||
	    !read_access(&at, l->access) || !read_number(&at, 16, ' ', &l->offset) ||
	    !read_number(&at, 16, ':', &major) || !read_number(&at, 16, ' ', &minor))
		return false;
	l->device_major = (uint32_t)major;
	l->device_minor = (uint32_t)minor;
	l->inode = 0;
	if (digit(*at, 10) < 0)
		return false;
	for (; digit(*at, 10) >= 0; at++)
		l->inode = l->inode * 10 + (unsigned)digit(*at, 10);
	while (*at == ' ')
		at++;
	l->path = at;
	l->path_length = (size_t)(end - at);
	return at <= end && l->start < l->end;
}

bool maps_next_line(const char **text, struct maps_line *out)
{
	while (**text) {
		const char *line = *text, *end = strchrnul(line, '\n');
		*text = end + (*end == '\n');
		if (parse(out, line, end))
			return true;
	}
	return false;
}

bool maps_line_is_code(const struct maps_line *l)
{
	return l->access[2] == 'x';
}

bool maps_line_has_path(const struct maps_line *l, const char *path)
{
	return l->path_length == strlen(path) && !memcmp(l->path, path, l->path_length);
}
