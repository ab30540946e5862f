#include "path/select.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parallel.h"
#include "base/pattern.h"
#include "path/selector.h"
#include "process/memory.h"

void selection_init(struct selection *s)
{
	*s = (struct selection){0};
	arena_init(&s->arena);
}

void selection_release(struct selection *s)
{
	vec_free(&s->list);
	arena_release(&s->arena);
}

/* ---- source ---- */

/* The subprogram at va, or NULL. */
static const struct debug_scope *subprogram_at(const struct debug_unit *u, uint64_t va)
{
	uint32_t i = u ? debug_scope_at(u, va) : DEBUG_NONE;
	while (i != DEBUG_NONE && u->scopes[i].inlined)
		i = u->scopes[i].parent;
	return i == DEBUG_NONE ? NULL : &u->scopes[i];
}

/* ---- modules ---- */

static bool is_main(const char *program, const struct mapped_module *mi)
{
	return !strcmp(program, mi->path);
}

static void add_module(struct selector *s, const struct mapped_module *mi)
{
	struct place p =
		mi->code_count ? space_find(s->space, mi->code[0].start) : (struct place){0};
	if (!p.code || !p.code->module || !p.code->flow)
		return;
	vec_push(&s->modules, (struct mapped_code){p.code, mi->code[0].start - p.va});
}

static int list_modules(struct selector *s, struct err *e)
{
	struct maps m;
	char link[64], program[4096];
	int rc = maps_read(&m, s->pid, e);
	if (rc)
		return rc;
	snprintf(link, sizeof(link), "/proc/%d/exe", s->pid);
	ssize_t n = readlink(link, program, sizeof(program) - 1);
	program[n > 0 ? n : 0] = '\0';
	vec_clear(&s->modules);
	for (int own = 1; own >= 0; own--)
		for (uint32_t i = 0; i < m.module_count; i++)
			if (is_main(program, &m.modules[i]) == own)
				add_module(s, &m.modules[i]);
	maps_release(&m);
	return 0;
}

/* "libm" means libm.so.6 as well. */
static bool module_is_meant(const char *wanted, const struct mapped_code *m)
{
	char versioned[512];
	const char *path = m->code->path, *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	snprintf(versioned, sizeof(versioned), "%s.so*", wanted);
	return pattern_match(wanted, base) || pattern_match(wanted, path) ||
	       pattern_match(versioned, base);
}

/* ---- adding ---- */

static void find_place(struct selector *s, struct selected *what)
{
	const struct debug_unit *u = selector_unit(s, what->code, what->va);
	const struct debug_scope *f = subprogram_at(u, what->va);
	if (!f || f->decl_file >= u->file_count)
		return;
	what->file = arena_strdup(&s->out->arena, u->files[f->decl_file]);
	what->first_line = f->decl_line;
}

static void add_function(struct selector *s, const struct mapped_code *m, uint64_t va,
			 const char *name)
{
	struct selected what = {.code = m->code,
				.va = va,
				.bias = m->bias,
				.name = name_readable(&s->out->arena, name),
				.file = ""};
	find_place(s, &what);
	if (!s->wanted.file || (*what.file && file_is_meant(s->wanted.file, what.file)))
		selector_add(s, &what);
	else if (*what.file)
		s->elsewhere = arena_strdup(&s->tmp, what.file);
}

/* ---- by name ---- */

static bool is_function(const struct mapped_code *m, const struct symbol *y)
{
	if (y->flags & (SYMBOL_OBJECT | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK) ||
	    !module_is_code(m->code->module, y->va))
		return false;
	uint32_t count, i = flow_function_at(m->code->flow, y->va);
	const struct function *p = flow_functions(m->code->flow, &count);
	return i == UINT32_MAX || !(p[i].flags & FUNCTION_PLT);
}

/* Whether the relocation is of a word that the dynamic linker fills with the address that the
 * resolver of the symbol chose. */
static bool is_slot_of(const struct reloc *r, const struct symbol *y, bool own)
{
	if (r->kind == RELOC_IFUNC)
		return own && r->value == y->va;
	return r->symbol && !strcmp(r->symbol, y->name);
}

/* The symbol (an IFUNC) leads to a resolver, which chooses one of several functions when the
 * program is loaded. Calls go through words that hold the address of the chosen function: it is
 * found there. */
static void add_chosen(struct selector *s, const struct mapped_code *m, const struct symbol *y)
{
	size_t before = s->out->list.len;
	vec_each (slots, &s->modules) {
		const struct module *module = slots->code->module;
		uint32_t count;
		const struct reloc *all = module_slots(module, &count);
		for (uint32_t i = 0; i < count; i++) {
			uint64_t pc = 0;
			if (!is_slot_of(&all[i], y, slots->code == m->code) ||
			    memory_read(s->pid, slots->bias + all[i].va, &pc, sizeof(pc)) !=
				    sizeof(pc))
				continue;
			struct place p = space_find(s->space, pc);
			if (p.code == m->code && p.va != y->va)
				add_function(s, m, p.va, y->name);
		}
	}
	if (s->out->list.len == before)
		s->only_resolver = y->name;
}

static void select_symbols(struct selector *s, const struct mapped_code *m,
			   const struct module *from)
{
	uint32_t count;
	const struct symbol *all = module_symbols(from, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbol *y = &all[i];
		if (!name_matches(&s->wanted.pattern, y->name, &s->tmp) || !is_function(m, y))
			continue;
		if (y->flags & SYMBOL_IFUNC)
			add_chosen(s, m, y);
		else
			add_function(s, m, y->va, y->name);
	}
}

static bool is_stripped(const struct module *module)
{
	uint32_t count;
	const struct symbol *all = module_symbols(module, &count);
	for (uint32_t i = 0; i < count; i++)
		if (!(all[i].flags & (SYMBOL_DYNAMIC | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK)))
			return false;
	return true;
}

static void select_by_name(struct selector *s, const struct mapped_code *m)
{
	select_symbols(s, m, m->code->module);
	if (!is_stripped(m->code->module))
		return;
	struct debug *d = selector_debug(s, m->code);
	if (d && debug_file(d))
		select_symbols(s, m, debug_file(d));
}

static void select_by_address(struct selector *s, const struct mapped_code *m)
{
	char name[32];
	uint32_t count, i = flow_function_at(m->code->flow, s->wanted.address);
	const struct function *p = flow_functions(m->code->flow, &count);
	if (i == UINT32_MAX || p[i].flags & FUNCTION_PLT)
		return;
	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)p[i].start);
	add_function(s, m, p[i].start, p[i].name ? p[i].name : name);
}

/* ---- the word ---- */

/* The colon between file and name or line: not one of "::", and not in a parameter list. */
static char *find_colon(char *text)
{
	char *end = text + strcspn(text, "(<");
	for (char *at = text; at < end; at++) {
		if (*at == ':' && at[1] == ':')
			at++;
		else if (*at == ':')
			return at;
	}
	return NULL;
}

static bool parse_number(const char *text, int base, uint64_t *out)
{
	char *end;
	errno = 0;
	*out = strtoull(text, &end, base);
	return *text >= '0' && *text <= '9' && !*end && !errno;
}

static int parse(struct wanted *w, char *text, struct err *e)
{
	uint64_t line = 0;
	char *mark = strchr(text, '!');
	if (mark && mark > text && !strstr(text, "operator!")) {
		w->module = text;
		*mark = '\0';
		text = mark + 1;
	}
	char *colon = find_colon(text);
	if (colon && colon > text) {
		w->file = text;
		*colon = '\0';
		text = colon + 1;
	}
	if (!*text)
		return err_set(e, ERR_INPUT, "'%s' names no function", w->text);
	w->by_address = !strncmp(text, "0x", 2) && parse_number(text, 16, &w->address);
	if (w->file && parse_number(text, 10, &line) && line && line < UINT32_MAX)
		w->line = (uint32_t)line;
	else if (!w->by_address)
		w->name = text;
	name_pattern_init(&w->pattern, w->name ? w->name : "");
	return 0;
}

static int select_in(struct selector *s, const struct mapped_code *m, struct err *e)
{
	if (s->wanted.line)
		return select_by_line(s, m, e);
	if (s->wanted.by_address)
		select_by_address(s, m);
	else
		select_by_name(s, m);
	return 0;
}

static void read_symbols(void *selector, uint32_t item, uint32_t worker)
{
	const struct selector *s = selector;
	uint32_t count;
	(void)worker;
	module_symbols(s->modules.data[item].code->module, &count);
}

/* An address without a module is one of the program itself. */
static int select_all(struct selector *s, struct err *e)
{
	size_t before = s->out->list.len;
	int rc = 0;
	s->out->awaits_module = s->wanted.module;
	if (s->wanted.name && !s->wanted.module) /* all of them are needed */
		parallel_for(s->modules.len, 1, read_symbols, s);
	vec_each (m, &s->modules) {
		if (s->wanted.module && !module_is_meant(s->wanted.module, m))
			continue;
		s->out->awaits_module = false;
		int one = select_in(s, m, e);
		rc = rc ? rc : one;
		if (s->wanted.by_address && !s->wanted.module)
			break;
	}
	if (s->out->list.len > before)
		return 0;
	return rc ? rc : select_refuse(s, e);
}

int selector_find(struct selector *s, int pid, struct space *space, const char *what,
		  struct selection *out, struct err *e)
{
	arena_clear(&s->tmp);
	s->pid = pid;
	s->space = space;
	s->out = out;
	s->elsewhere = s->only_resolver = NULL;
	s->wanted = (struct wanted){.text = what};
	int rc = parse(&s->wanted, arena_strdup(&s->tmp, what), e);
	rc = rc ? rc : list_modules(s, e);
	rc = rc ? rc : select_all(s, e);
	name_pattern_release(&s->wanted.pattern);
	hashmap_release(&s->seen);
	s->seen = (struct hashmap){0};
	return rc;
}
