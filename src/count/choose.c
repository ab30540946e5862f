/* Which images the user wants counted. */
#include "count/choose.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Whether the path is what the process executes. */
static bool is_program(int pid, const char *path)
{
	char link[64], target[4096];
	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	ssize_t n = readlink(link, target, sizeof(target) - 1);
	if (n <= 0)
		return false;
	target[n] = 0;
	return !strcmp(target, path);
}

/* The dynamic linker is in the middle of its work when counting begins. */
static bool is_linker(const char *path)
{
	return pattern_match("ld-linux*", base_name(path)) ||
	       pattern_match("ld-musl*", base_name(path)) ||
	       pattern_match("ld.so*", base_name(path)) || pattern_match("ld-2*", base_name(path));
}

static bool is_named(const char *list, const char *path)
{
	char word[256];
	while (*list) {
		size_t n = strcspn(list, ",");
		snprintf(word, sizeof(word), "%.*s", (int)n, list);
		if (pattern_match(word, base_name(path)) || pattern_match(word, path))
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

bool count_chooses(const char *images, int pid, const char *path)
{
	if (is_linker(path))
		return false;
	if (!strcmp(images, "all"))
		return true;
	if (!strcmp(images, "main"))
		return is_program(pid, path);
	return is_named(images, path) || (is_named(images, "main") && is_program(pid, path));
}
