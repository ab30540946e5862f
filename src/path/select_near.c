/* What to say if a name is not found: which names are similar, or that the compiler has inlined the
 * function everywhere. */
#include <string.h>

#include "path/selector.h"

enum { MAX_SUGGESTIONS = 5, MAX_LENGTH = 120 /* of names that are compared */ };

struct similar_name {
	const char *name;
	unsigned distance;
};

struct similar_names {
	const char *wanted;
	struct similar_name list[MAX_SUGGESTIONS]; /* best first */
	unsigned count;
};

static void keep(struct similar_names *n, struct arena *a, const char *name, unsigned distance)
{
	unsigned at = n->count;
	for (unsigned i = 0; i < n->count; i++)
		if (!strcmp(n->list[i].name, name))
			return;
	while (at && n->list[at - 1].distance > distance)
		at--;
	if (at == MAX_SUGGESTIONS)
		return;
	n->count += n->count < MAX_SUGGESTIONS;
	memmove(n->list + at + 1, n->list + at, (n->count - at - 1) * sizeof(*n->list));
	n->list[at] = (struct similar_name){arena_strdup(a, name), distance};
}

/* A name that contains the typed one is similar: four more letters count as one difference. Other
 * names may have one difference for every three letters, and one more. */
static void consider(struct similar_names *n, struct arena *a, const char *name)
{
	size_t typed = strlen(n->wanted), length = strlen(name);
	if (length > MAX_LENGTH || typed > MAX_LENGTH || typed < 2)
		return;
	unsigned limit = (unsigned)typed / 3 + 1;
	if (typed > 2 && strcasestr(name, n->wanted)) {
		keep(n, a, name, 1 + (unsigned)(length - typed) / 4);
	} else if (length <= typed + limit && typed <= length + limit) {
		unsigned d = text_distance(n->wanted, name);
		if (d <= limit)
			keep(n, a, name, d);
	}
}

static void consider_symbols(struct selector *s, const struct module *module,
			     struct similar_names *n)
{
	struct arena tmp;
	arena_init(&tmp);
	uint32_t count;
	const struct symbol *all = module_symbols(module, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *y = &all[i];
		if (y->flags & (SYMBOL_OBJECT | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK) ||
		    !module_is_code(module, y->va))
			continue;
		const char *base = arena_strndup(&tmp, y->name, strcspn(y->name, "."));
		consider(n, &s->tmp, name_bare(&tmp, name_readable(&tmp, base), false));
		arena_clear(&tmp);
	}
	arena_release(&tmp);
}

/* The name without the special characters of globs. */
static const char *literal(struct selector *s)
{
	char *copy = arena_strdup(&s->tmp, s->wanted.name), *out = copy;
	for (const char *at = copy; *at; at++)
		if (!strchr("*?[]\\", *at))
			*out++ = *at;
	*out = '\0';
	return copy;
}

/* ---- inlined everywhere ---- */

struct inlined {
	const struct debug_scope *scope;
	const char *file;
	uint32_t line;
	const char *into;
};

static bool find_inlined(struct selector *s, struct debug *d, struct inlined *out)
{
	for (uint32_t k = 0; k < debug_unit_count(d); k++) {
		struct debug_unit *u = debug_unit_load(d, k);
		for (uint32_t i = 0; u && i < u->scope_count && !out->file; i++) {
			const struct debug_scope *c = &u->scopes[i];
			if (!c->inlined || strcmp(c->name, s->wanted.name) != 0 ||
			    c->call_file >= u->file_count)
				continue;
			const char *path = u->files[c->call_file], *base = strrchr(path, '/');
			out->file = arena_strdup(&s->tmp, base ? base + 1 : path);
			out->line = c->call_line;
			uint32_t p = c->parent;
			out->into = p == DEBUG_NONE ? "" : arena_strdup(&s->tmp, u->scopes[p].name);
		}
		debug_unit_free(u);
		if (out->file)
			return true;
	}
	return false;
}

static int refuse_inlined(struct selector *s, const struct inlined *in, struct err *e)
{
	return err_set(e, ERR_INPUT,
		       "'%s' has no code of its own: all its calls are inlined, such as at %s:%u "
		       "in %s; measure that, or its loops by FILE:LINE",
		       s->wanted.text, in->file, in->line, *in->into ? in->into : "its caller");
}

/* ---- the sentence ---- */

static int refuse_near(struct selector *s, const struct similar_names *n, struct err *e)
{
	struct text list = TEXT_INIT;
	for (unsigned i = 0; i < n->count; i++)
		text_printf(&list, "%s%s",
			    !i                  ? ""
			    : i + 1 == n->count ? " or "
						: ", ",
			    n->list[i].name);
	int rc = n->count ? err_set(e, ERR_INPUT, "there is no function '%s'; did you mean %s?",
				    s->wanted.text, list.data)
			  : err_set(e, ERR_INPUT,
				    "there is no function '%s' in the program or its libraries; "
				    "'sonde structure FILE' lists the functions of a file",
				    s->wanted.text);
	text_release(&list);
	return rc;
}

static int refuse_name(struct selector *s, struct err *e)
{
	struct similar_names n = {.wanted = literal(s)};
	struct inlined in = {0};
	vec_each (m, &s->modules) {
		struct debug *d = selector_debug(s, m->code);
		if (d && find_inlined(s, d, &in))
			return refuse_inlined(s, &in, e);
	}
	vec_each (m, &s->modules)
		consider_symbols(s, m->code->module, &n);
	return refuse_near(s, &n, e);
}

int select_refuse(struct selector *s, struct err *e)
{
	const struct wanted *w = &s->wanted;
	if (s->out->awaits_module)
		return err_set(e, ERR_INPUT, "the process has no module '%s' mapped", w->module);
	if (w->line)
		return err_set(e, ERR_INPUT,
			       "no code is known to come from line %u of %s; is there debugging "
			       "information (-g), and is the file's name right?",
			       w->line, w->file);
	if (w->by_address)
		return err_set(e, ERR_INPUT, "there is no function at address %s", w->text);
	if (s->elsewhere)
		return err_set(e, ERR_INPUT, "'%s' is not in %s, but in %s", w->name, w->file,
			       s->elsewhere);
	if (s->only_resolver)
		return err_set(e, ERR_INPUT,
			       "'%s' is one of several functions, chosen at its first call; it can "
			       "be measured after that",
			       w->name);
	return refuse_name(s, e);
}
