#include "cli/report/source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_BYTES = 64 << 20 }; /* a larger file is not source text */

static char *read_all(int fd, size_t size)
{
	char *bytes = xmalloc(size + 1);
	size_t done = 0;
	while (done < size) {
		ssize_t n = read(fd, bytes + done, size - done);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	bytes[done] = '\0';
	return bytes;
}

/* Reads regular files only: the path comes from a binary, so it may name a device or a pipe, and
 * reading one has side effects. */
static char *read_file(const char *path)
{
	struct stat st;
	char *bytes = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= MAX_BYTES)
		bytes = read_all(fd, (size_t)st.st_size);
	close(fd);
	return bytes;
}

static bool is_regular_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Tries the whole path below `folder`, then without its first component, and so on. */
static bool find_below(struct text *out, const char *folder, const char *path)
{
	while (*path) {
		path += strspn(path, "/");
		text_clear(out);
		text_printf(out, "%s/%s", folder, path);
		if (*path && is_regular_file(out->data))
			return true;
		path += strcspn(path, "/");
	}
	return false;
}

static bool find_source(struct text *out, const char *recorded, const char *folder)
{
	text_add(out, recorded);
	if (*recorded == '/' && is_regular_file(recorded))
		return true;
	if (folder && find_below(out, folder, recorded))
		return true;
	return find_below(out, ".", recorded);
}

static void split(struct source_file *s)
{
	char *at = s->bytes;
	while (*at) {
		char *end = at + strcspn(at, "\n");
		bool last = !*end;
		*end = '\0';
		vec_push(&s->lines, at);
		at = last ? end : end + 1;
	}
}

bool source_open(struct source_file *s, const char *recorded, const char *folder)
{
	*s = (struct source_file){0};
	if (*recorded && find_source(&s->path, recorded, folder))
		s->bytes = read_file(s->path.data);
	if (s->bytes)
		split(s);
	else
		text_clear(&s->path);
	return s->bytes;
}

void source_close(struct source_file *s)
{
	text_release(&s->path);
	vec_free(&s->lines);
	free(s->bytes);
	s->bytes = NULL;
}

const char *source_line(const struct source_file *s, uint32_t line)
{
	return line && line <= s->lines.len ? s->lines.data[line - 1] : NULL;
}
