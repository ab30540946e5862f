#include "failures.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/text.h"

enum { OPEN_MAX = 4096, ALIKE_MAX = 64, SHOWN_FRAMES = 4, SHOWN_PLACES = 10 };

static void difference_release(struct difference *d)
{
	vec_free(&d->got);
	vec_free(&d->expected);
}

void failures_release(struct failures *f)
{
	vec_each (it, &f->list)
		difference_release(&it->first);
	vec_each (d, &f->open)
		difference_release(d);
	vec_free(&f->list);
	vec_free(&f->open);
	hashmap_release(&f->by_pc);
}

static bool same_caller(const struct frame *callee, const struct frame *caller,
			const struct true_call *c)
{
	return caller->pc == c->ret && (c->signal ? caller->exact : callee->cfa == c->sp);
}

uint32_t walk_difference(const struct walk *w, const struct truth *t)
{
	uint32_t n = t->calls.len, len = w->frames.len;
	for (uint32_t i = 0; i < n; i++)
		if (i + 1 >= len || !same_caller(&w->frames.data[i], &w->frames.data[i + 1],
						 &t->calls.data[n - 1 - i]))
			return i < len ? i : len - 1;
	return len == n + 1 && w->end == WALK_COMPLETE ? UINT32_MAX : n;
}

static void record(struct failures *f, struct difference *d)
{
	uint64_t pc = d->got.data[d->frame].pc;
	uint32_t i = hashmap_add(&f->by_pc, pc, f->list.len);
	f->steps += d->steps;
	f->false_ends += d->end == WALK_COMPLETE ? d->steps : 0;
	if (i == f->list.len)
		vec_push(&f->list, (struct failure){.pc = pc, .first = *d});
	f->list.data[i].steps += d->steps;
	if (i + 1 < f->list.len || f->list.data[i].first.got.data != d->got.data)
		difference_release(d);
}

/* An open difference at the same frame of the same call, or NULL. */
static struct difference *find_alike(const struct failures *f, const struct difference *d,
				     uint64_t pc)
{
	for (uint32_t n = 0; n < f->open.len && n < ALIKE_MAX; n++) {
		struct difference *it = &f->open.data[f->open.len - 1 - n];
		if (it->depth == d->depth && it->frame == d->frame &&
		    it->overwritten == d->overwritten && it->end == d->end &&
		    it->got.data[it->frame].pc == pc)
			return it;
	}
	return NULL;
}

void failures_add(struct failures *f, const struct walk *w, const struct truth *t, uint32_t frame,
		  uint64_t step, bool overwritten)
{
	struct difference d = {.step = step,
			       .steps = 1,
			       .frame = frame,
			       .depth = t->calls.len - frame,
			       .overwritten = overwritten,
			       .end = w->end};
	struct difference *alike = find_alike(f, &d, w->frames.data[frame].pc);
	if (alike) {
		alike->steps++;
		return;
	}
	vec_each (it, &w->frames)
		vec_push(&d.got, *it);
	for (uint32_t i = t->calls.len; i-- > 0;)
		vec_push(&d.expected, t->calls.data[i]);
	if (f->open.len < OPEN_MAX)
		vec_push(&f->open, d);
	else
		record(f, &d);
}

/* Did the walk show, behind its innermost frame, the stack as it is now? */
static bool shows(const struct difference *d, const struct truth *t, uint64_t pc)
{
	uint32_t n = t->calls.len;
	if (d->frame || d->end != WALK_COMPLETE || d->got.len != n + 2 || d->got.data[1].pc != pc)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!same_caller(&d->got.data[i + 1], &d->got.data[i + 2],
				 &t->calls.data[n - 1 - i]))
			return false;
	return true;
}

void failures_settle(struct failures *f, const struct truth *t, bool jumped, uint64_t pc)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < f->open.len; i++) {
		struct difference d = f->open.data[i];
		if (d.depth <= t->calls.len) {
			f->open.data[kept++] = d;
		} else if (jumped && (d.overwritten || shows(&d, t, pc))) {
			f->excused += d.steps;
			difference_release(&d);
		} else {
			record(f, &d);
		}
	}
	f->open.len = kept;
}

static const char *function_of(const struct place *p, uint64_t *start)
{
	const struct module *m = p->code->module;
	uint32_t count, i = module_symbol_from(m, p->va + 1);
	const struct symbol *all = module_symbols(m, &count);
	while (i && all[i - 1].flags & (SYMBOL_OBJECT | SYMBOL_DATA_MARK | SYMBOL_CODE_MARK))
		i--;
	if (i) {
		*start = all[i - 1].va;
		return all[i - 1].name;
	}
	return NULL;
}

static void print_place(struct space *s, uint64_t pc)
{
	struct place p = space_find(s, pc);
	uint64_t start = 0;
	if (!p.code || !p.code->module) {
		printf("%#" PRIx64, pc);
		return;
	}
	const char *slash = strrchr(p.code->path, '/');
	const char *name = function_of(&p, &start);
	printf("%s:%#" PRIx64, slash ? slash + 1 : p.code->path, p.va);
	if (name)
		printf(" <%s+%#" PRIx64 ">", name, p.va - start);
}

static void print_instruction(struct space *s, uint64_t pc)
{
	struct place p = space_find(s, pc);
	struct text text = TEXT_INIT;
	struct insn in;
	size_t n = 0;
	const uint8_t *bytes = p.code && p.code->module
				       ? module_at(p.code->module, p.va, p.code->arch->insn_max, &n)
				       : NULL;
	if (!bytes || !p.code->arch->decode(bytes, n, p.va, DECODE_FLOW, &in))
		return;
	struct insn_printer *printer = insn_printer_new(p.code->arch);
	insn_print(printer, bytes, in.length, p.va, &text);
	printf("  %s", text.data);
	insn_printer_free(printer);
	text_release(&text);
}

static void print_recipe(struct space *s, const struct frame *frame)
{
	static const char *const cfas[] = {"unknown", "", "memory ", "signal"};
	static const char *const returns[] = {"unknown", "saved", "register", "none"};
	static const char *const sources[] = {"analysis", "cfi", "assumed"};
	struct place p = space_find(s, frame->exact ? frame->pc : frame->pc - 1);
	if (!p.code || !p.code->recipes)
		return;
	const struct recipe *r = recipes_at(p.code->recipes, p.va);
	printf("    recipe: cfa %s%s%+d, add %+d; return %s", cfas[r->cfa],
	       p.code->arch->reg_name(r->cfa_reg), r->cfa_offset, r->cfa_add, returns[r->ret]);
	if (r->ret == RETURN_SAVED)
		printf(" at cfa%+d", r->ret_offset);
	else if (r->ret == RETURN_REGISTER)
		printf(" %s", p.code->arch->reg_name(r->ret_reg));
	printf("%s; from %s\n", r->switches ? ", which it jumps to" : "",
	       r->source < ARRAY_SIZE(sources) ? sources[r->source] : "?");
}

static void print_stacks(const struct difference *d, struct space *s)
{
	printf("    expected: sp %#" PRIx64 " in",
	       d->frame < d->expected.len ? d->expected.data[d->frame].sp : 0);
	for (uint32_t i = d->frame; i < d->expected.len && i < d->frame + SHOWN_FRAMES; i++) {
		printf(" ");
		print_place(s, d->expected.data[i].ret);
	}
	printf("\n    got:      sp %#" PRIx64 " in", d->got.data[d->frame].cfa);
	for (uint32_t i = d->frame + 1; i < d->got.len && i < d->frame + 1 + SHOWN_FRAMES; i++) {
		printf(" ");
		print_place(s, d->got.data[i].pc);
	}
	printf(" (%u frames of %u, %s)\n", d->got.len, d->expected.len + 1,
	       d->end ? walk_end_name[d->end] : "complete");
}

static void print_failure(const struct failure *f, struct space *s)
{
	const struct difference *d = &f->first;
	printf("FAILURE ");
	print_place(s, f->pc);
	print_instruction(s, f->pc);
	printf("\n    %" PRIu64 " steps, first %" PRIu64 ", as frame %u below ", f->steps, d->step,
	       d->frame);
	print_place(s, d->got.data[0].pc);
	printf("\n");
	print_recipe(s, &d->got.data[d->frame]);
	print_stacks(d, s);
}

/* Which function a place is in, as one number. */
static uint64_t function_key(struct space *s, uint64_t pc)
{
	struct place p = space_find(s, pc);
	if (!p.code || !p.code->flow)
		return pc;
	uint32_t function = flow_function_at(p.code->flow, p.va);
	return (uint64_t)p.code->id << 32 | (function == UINT32_MAX ? (uint32_t)p.va : function);
}

/* The other places in the same function, briefly. */
static void print_others(const struct failures *f, struct space *s, const uint64_t *keys,
			 uint32_t first)
{
	unsigned shown = 0, more = 0;
	uint64_t steps = 0;
	for (uint32_t i = first + 1; i < f->list.len; i++) {
		if (keys[i] != keys[first])
			continue;
		steps += f->list.data[i].steps;
		if (shown++ < SHOWN_PLACES)
			printf("%s%#" PRIx64, shown == 1 ? "    also at " : " ",
			       space_find(s, f->list.data[i].pc).va);
		else
			more++;
	}
	if (more)
		printf(" and %u more", more);
	if (shown)
		printf(": %" PRIu64 " steps\n", steps);
}

void failures_print(const struct failures *f, struct space *s, unsigned limit)
{
	struct hashmap seen = {0};
	uint64_t *keys = xcalloc(f->list.len + 1, sizeof(*keys));
	for (uint32_t i = 0; i < f->list.len; i++)
		keys[i] = function_key(s, f->list.data[i].pc);
	for (uint32_t i = 0; i < f->list.len; i++) {
		if (hashmap_add(&seen, keys[i], i) != i || seen.len > limit)
			continue;
		print_failure(&f->list.data[i], s);
		print_others(f, s, keys, i);
	}
	if (seen.len > limit)
		printf("(%" PRIu32 " more functions)\n", seen.len - limit);
	hashmap_release(&seen);
	free(keys);
}
