#include "profile/short_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/vec.h"

static const char *const inline_namespaces[] = {"std::__cxx11::", "std::__1::", "std::__debug::"};
static const char *const defaults[] = {
	", std::allocator<", ", std::char_traits<", ", std::less<",
	", std::hash<",      ", std::equal_to<",    ", std::default_delete<",
};

static bool begins(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static void cut(char *from, const char *to)
{
	memmove(from, to, strlen(to) + 1);
}

/* Returns the end of the template arguments that begin with the '<' at s; NULL if they are not
 * closed. */
static const char *after_arguments(const char *s)
{
	unsigned depth = 0;
	for (; *s; s++) {
		depth += *s == '<';
		if (*s == '>' && s[-1] != '-' && --depth == 0)
			return s + 1;
	}
	return NULL;
}

/* Removes the template argument at `at` if it is a default one and the last of its list: a '>'
 * follows. (After a function parameter of such a type comes a ')' or ','.) If only one closing
 * bracket is left, the space between the two goes, too. */
static void cut_default(char *name, char *at)
{
	for (size_t i = 0; i < ARRAY_SIZE(defaults); i++) {
		if (!begins(at, defaults[i]))
			continue;
		const char *end = after_arguments(at + strlen(defaults[i]) - 1);
		const char *next = end && *end == ' ' ? end + 1 : end;
		if (next && *next == '>')
			cut(at, at > name && at[-1] == '>' ? end : next);
		return;
	}
}

/* std::basic_NAME<char> becomes std::NAME. */
static void cut_basic(char *at)
{
	static const char prefix[] = "std::basic_", argument[] = "<char>";
	if (!begins(at, prefix))
		return;
	char *word = at + strlen(prefix), *end = strchr(word, '<');
	if (!end || strcspn(word, ":( ,>") < (size_t)(end - word) || !begins(end, argument))
		return;
	cut(end, end + strlen(argument));
	cut(at + strlen("std::"), word);
}

/* Works from the end to the beginning: when the last argument of a list is removed, the one
 * before it becomes the last. */
const char *short_name(struct arena *a, const char *name)
{
	if (!strstr(name, "std::"))
		return name;
	char *out = arena_strdup(a, name);
	for (char *at = out + strlen(out); at-- > out;) {
		for (size_t i = 0; i < ARRAY_SIZE(inline_namespaces); i++)
			if (begins(at, inline_namespaces[i]))
				cut(at + strlen("std::"), at + strlen(inline_namespaces[i]));
		cut_default(out, at);
		cut_basic(at);
	}
	return out;
}

/* Adds a part of a name that contains brackets of its own: "(anonymous namespace)",
 * "{lambda(int)#1}", "operator()". Returns the length of the part in `at`, 0 if there is none. */
static size_t add_special(struct text *out, const char *at)
{
	static const char anonymous[] = "(anonymous namespace)", lambda[] = "{lambda(";
	size_t n = 0;
	if (!strncmp(at, anonymous, strlen(anonymous))) {
		text_add(out, "(anonymous)");
		return strlen(anonymous);
	}
	if (!strncmp(at, lambda, strlen(lambda))) {
		text_add(out, "{lambda}");
		n = strcspn(at, "}");
		return n + (at[n] == '}');
	}
	if (!strncmp(at, "operator", 8)) {
		n = 8 + strspn(at + 8, "<>=!+-*/%^&|~[],");
		if (n == 8)
			n += !strncmp(at + n, "()", 2) ? 2 : strcspn(at + n, "(<");
		text_addn(out, at, n);
	}
	return n;
}

void bare_name(struct text *out, const char *name)
{
	struct text bare = TEXT_INIT;
	unsigned depth = 0;
	size_t word = 0; /* start of the last word; the result type is before it */
	bool plain = !strpbrk(name, "<(") || *name == '<';
	for (const char *at = name; *at && !plain;) {
		size_t special = depth ? 0 : add_special(&bare, at);
		if (special) {
			at += special;
			continue;
		}
		if (*at == '(' && !depth)
			break;
		depth += *at == '<' || *at == '(';
		bool separates = *at == ' ' && at[1] != '<'; /* but not in "operator< <char>" */
		if (!depth && (*at != ' ' || separates))
			text_char(&bare, *at);
		if (!depth && separates)
			word = bare.len;
		depth -= depth && (*at == '>' || *at == ')');
		at++;
	}
	text_add(out, bare.len > word ? bare.data + word : name);
	text_release(&bare);
}

/* The brackets of "operator<" are no brackets. */
static size_t operator_signs(const char *at)
{
	static const char word[] = "operator";
	return begins(at, word) ? strlen(word) + strspn(at + strlen(word), "<>=!+-*/%^&|~") : 0;
}

size_t chain_step(const char *chain)
{
	unsigned depth = 0;
	const char *at = chain;
	while (*at && (depth || !begins(at, " > "))) {
		size_t signs = operator_signs(at);
		depth += !signs && (*at == '<' || *at == '(');
		depth -= !signs && depth && (*at == '>' || *at == ')');
		at += signs ? signs : 1;
	}
	return (size_t)(at - chain);
}
