#include "path/selector.h"

#include <stdlib.h>
#include <string.h>

#include "base/pattern.h"

struct selector *selector_new(void)
{
	struct selector *s = xcalloc(1, sizeof(*s));
	arena_init(&s->tmp);
	return s;
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	vec_each (source, &s->sources) {
		debug_unit_free(source->unit);
		debug_close(source->debug);
	}
	vec_free(&s->sources);
	vec_free(&s->modules);
	arena_release(&s->tmp);
	free(s);
}

static struct code_debug *source_of(struct selector *s, struct code *c)
{
	while (s->sources.len <= c->id)
		vec_push(&s->sources, (struct code_debug){0});
	struct code_debug *source = &s->sources.data[c->id];
	static const struct debug_options options = {.use_cache = true};
	struct err ignored;
	if (!source->tried && debug_open(&source->debug, c->module, &options, &ignored))
		source->debug = NULL;
	source->tried = true;
	return source;
}

struct debug *selector_debug(struct selector *s, struct code *c)
{
	return source_of(s, c)->debug;
}

const struct debug_unit *selector_unit(struct selector *s, struct code *c, uint64_t va)
{
	struct code_debug *source = source_of(s, c);
	uint32_t number = source->debug ? debug_unit_at(source->debug, va) : DEBUG_NONE;
	if (number == DEBUG_NONE)
		return NULL;
	if (source->unit && source->unit_number == number)
		return source->unit;
	debug_unit_free(source->unit);
	source->unit = debug_unit_load(source->debug, number);
	source->unit_number = number;
	return source->unit;
}

bool file_is_meant(const char *wanted, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n = strlen(path), end = strlen(wanted);
	if (!strchr(wanted, '/'))
		return pattern_match(wanted, base ? base + 1 : path);
	if (n > end && path[n - end - 1] == '/' && !strcmp(path + n - end, wanted))
		return true;
	return pattern_match(wanted, path);
}

void selector_add(struct selector *s, const struct selected *what)
{
	const uint64_t key[] = {what->code->id, what->bias, what->va, what->loop};
	uint32_t next = s->seen.len;
	if (hashmap_add(&s->seen, hash_bytes(key, sizeof(key), 0), next) == next)
		vec_push(&s->out->list, *what);
}
