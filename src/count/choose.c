/* Which modules the user wants counted. */
#include "count/choose.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/pattern.h"
#include "base/text.h"

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

static bool is_linker(const char *path)
{
	return pattern_match("ld-linux*", base_name(path)) ||
	       pattern_match("ld-musl*", base_name(path)) ||
	       pattern_match("ld.so*", base_name(path)) || pattern_match("ld-2*", base_name(path));
}

/* Why the module is never counted; NULL: it may be. The dynamic linker is in the middle of its work
 * when counting begins. */
static const char *why_never(const char *path)
{
	if (!strcmp(path, "[vdso]"))
		return "the kernel's code is never counted";
	return is_linker(path) ? "the dynamic linker is never counted" : NULL;
}

/* Word `i` of the list; false if there are fewer. */
static bool word_at(const char *list, uint32_t i, char *word, size_t size)
{
	while (*list && i--) {
		list += strcspn(list, ",");
		list += *list == ',';
	}
	snprintf(word, size, "%.*s", (int)strcspn(list, ","), list);
	return *list;
}

static bool is_named(const char *word, int pid, const char *path)
{
	if (!strcmp(word, "all"))
		return true;
	if (!strcmp(word, "main"))
		return is_program(pid, path);
	return pattern_match(word, base_name(path)) || pattern_match(word, path);
}

bool count_chooses(struct count_choice *c, int pid, const char *path)
{
	char word[256];
	bool chosen = false;
	for (uint32_t i = 0; !why_never(path) && word_at(c->modules, i, word, sizeof(word)); i++) {
		if (!is_named(word, pid, path))
			continue;
		chosen = true;
		c->matched |= i < 64 ? UINT64_C(1) << i : 0;
	}
	return chosen;
}

bool count_may_choose(const char *path)
{
	return !why_never(path);
}

const char *count_why_not(const char *path)
{
	return why_never(path) ? why_never(path) : "not asked for (--modules)";
}

bool count_chose_nothing(const struct count_choice *c, uint32_t *at, char *word, size_t size)
{
	for (; *at < 64 && word_at(c->modules, *at, word, size); ++*at)
		if (!(c->matched >> *at & 1)) {
			++*at;
			return true;
		}
	return false;
}
