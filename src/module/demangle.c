/* Names of a few hundred bytes can stand for gigabytes of text (each part refers twice to the one
 * before). libiberty passes the text on in pieces to a callback, which stops it by longjmp once
 * there is too much. This leaks nothing: libiberty has nothing on the heap at that time. */
#include "module/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum {
	INPUT_MAX = 4096,
	OUTPUT_MAX = 32 * 1024,
	D_REFERENCES_MAX = 16,
	OPTIONS = DMGL_PARAMS | DMGL_ANSI,
};

struct demangle_sink {
	struct text text;
	jmp_buf too_much;
};

static void collect(const char *piece, size_t n, void *arg)
{
	struct demangle_sink *s = arg;
	if (s->text.len + n > OUTPUT_MAX)
		longjmp(s->too_much, 1);
	text_addn(&s->text, piece, n);
}

static int demangle_rust(const char *name, struct demangle_sink *s)
{
	return rust_demangle_callback(name, OPTIONS, collect, s);
}

/* With its recursion limit, libiberty refuses every name longer than 1024 bytes; names of templates
 * can be longer. Without the limit it recurses at most once per letter, with some hundred bytes of
 * stack each, which INPUT_MAX keeps harmless. Rust's names can refer to themselves, so there the
 * limit is needed. */
static int demangle_cxx(const char *name, struct demangle_sink *s)
{
	return cplus_demangle_v3_callback(name, OPTIONS | DMGL_NO_RECURSE_LIMIT, collect, s);
}

/* Adds the text for a language without a callback. */
static int add_whole(char *text, struct demangle_sink *s)
{
	if (text)
		text_add(&s->text, text);
	free(text);
	return text != NULL;
}

/* A back reference (Q) of D can double the text, and nothing can stop libiberty half-way. So only
 * few are allowed. */
static int demangle_d(const char *name, struct demangle_sink *s)
{
	unsigned references = 0;
	for (const char *at = name; (at = strchr(at, 'Q')); at++)
		references++;
	if (references > D_REFERENCES_MAX)
		return 0;
	return add_whole(dlang_demangle(name, OPTIONS), s);
}

static int demangle_ada(const char *name, struct demangle_sink *s)
{
	return add_whole(ada_demangle(name, 0), s);
}

/* Rust is tried first, because the older mangling of Rust looks like C++. */
static const struct scheme {
	const char *prefix;
	int (*demangle)(const char *name, struct demangle_sink *s);
} schemes[] = {
	{"_R", demangle_rust},      {"_ZN", demangle_rust}, {"_Z", demangle_cxx},
	{"_GLOBAL_", demangle_cxx}, {"_D", demangle_d},     {"_ada_", demangle_ada},
};

static bool try_scheme(const struct scheme *scheme, const char *name, struct demangle_sink *s)
{
	text_clear(&s->text);
	if (strncmp(name, scheme->prefix, strlen(scheme->prefix)) != 0 || setjmp(s->too_much))
		return false;
	return scheme->demangle(name, s) && s->text.len;
}

const char *demangle(struct arena *a, const char *name)
{
	struct demangle_sink s = {.text = TEXT_INIT};
	const char *out = name;
	if (name[0] != '_' || strnlen(name, INPUT_MAX) == INPUT_MAX)
		return name;
	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		if (try_scheme(&schemes[i], name, &s)) {
			out = arena_strndup(a, s.text.data, s.text.len);
			break;
		}
	}
	text_release(&s.text);
	return out;
}
