/* Joining what the procedures do along the ways between them, until nothing changes: what one reads
 * at its entry, its callers expect to pass, and keep it over what they call before; what one
 * destroys, its callers destroy; what is kept over one, is kept over those that it calls. */
#include "flow/private.h"

#include <string.h>

#include "base/log.h"
#include "base/order.h"
#include "base/parallel.h"
#include "flow/effects.h"
#include "flow/internal.h"
#include "flow/uses.h"

enum { BATCH = 16 };

const char *const private_loss_name[LOSS_KINDS] = {"none",    "entry", "call",
						   "unknown", "go",    "linker"};

struct search {
	struct flow *flow;
	const struct procedure *procedures;
	struct uses *uses; /* of each procedure */
	struct uses_finder finders[MAX_WORKERS];
	uint32_t finder_count;
	way_list ways;
	/* Sets of candidates, for each procedure: that it has from its caller or gives to others,
	 * and that it leaves as they were or gives to its caller. */
	uint64_t *expected, *passed, *kept;
	struct private_registers *out;
};

static void lose(struct private_registers *p, uint64_t registers, uint64_t va,
		 enum private_loss_kind kind)
{
	for (; registers; registers &= registers - 1) {
		struct private_loss *l = &p->lost[__builtin_ctzll(registers)];
		debug(LOG_FLOW, 2, "register %d is not private: %s %#lx",
		      __builtin_ctzll(registers), private_loss_name[kind], (unsigned long)va);
		if (!l->kind || va < l->va)
			*l = (struct private_loss){(uint8_t)kind, va};
	}
}

static bool is_linkage(const struct procedure *p)
{
	return p->flags & PROCEDURE_PLT;
}

static void find_one(void *ctx, uint32_t item, uint32_t worker)
{
	struct search *s = ctx;
	if (!is_linkage(&s->procedures[item]))
		s->uses[item] = uses_find(&s->finders[worker], item);
}

static void find_all(struct search *s)
{
	s->finder_count = parallel_workers();
	for (uint32_t i = 0; i < s->finder_count; i++)
		uses_init(&s->finders[i], s->flow);
	parallel_for(s->out->count, BATCH, find_one, s);
	for (uint32_t i = 0; i < s->finder_count; i++)
		vec_each (way, &s->finders[i].ways)
			vec_push(&s->ways, *way);
}

/* A way into the middle of a procedure. */
struct inside {
	uint64_t va;
	uint32_t from, to;
	struct way *way;
};

/* Where control goes into the middle of a procedure, the one that it comes from passes what is read
 * there, and the other one expects it. `in` are ways into one procedure. */
static void join_insides_of(struct search *s, const struct inside *in, uint32_t count)
{
	uint64_t *va = xcalloc(count, sizeof(*va)), *reads = xcalloc(count, sizeof(*reads));
	for (uint32_t i = 0; i < count; i++)
		va[i] = in[i].va;
	uses_from(&s->finders[0], in->to, va, count, reads);
	for (uint32_t i = 0; i < count; i++) {
		in[i].way->passed = reads[i];
		s->passed[in[i].from] |= reads[i];
		s->passed[in[i].to] |= reads[i];
		s->expected[in[i].from] |= reads[i] & ~s->uses[in[i].from].written;
	}
	free(va);
	free(reads);
}

static void join_insides(struct search *s)
{
	VEC(struct inside) all = {0};
	vec_each (w, &s->ways)
		if (w->inside)
			vec_push(&all, (struct inside){w->inside, w->from, w->to, w});
	order_by_address(all.data, all.len, sizeof(struct inside), offsetof(struct inside, va));
	for (uint32_t i = 0, n; i < all.len; i += n) {
		for (n = 1; i + n < all.len && all.data[i + n].to == all.data[i].to;)
			n++;
		join_insides_of(s, &all.data[i], n);
	}
	vec_free(&all);
}

static bool add(uint64_t *set, uint64_t more)
{
	bool grows = more & ~*set;
	*set |= more;
	return grows;
}

/* One that sets a register itself does not expect it. */
static void join_entries_and_ends(struct search *s)
{
	bool more;
	for (uint32_t i = 0; i < s->out->count; i++) {
		if (s->uses[i].entry)
			debug(LOG_FLOW, 2, "%#lx reads registers %#lx at its entry",
			      (unsigned long)s->procedures[i].start,
			      (unsigned long)s->uses[i].entry);
		s->expected[i] |= s->uses[i].entry;
	}
	do {
		more = false;
		vec_each (w, &s->ways) {
			struct uses *from = &s->uses[w->from];
			uint64_t expected = w->inside ? 0 : s->expected[w->to];
			if (!w->inside && !w->final && !w->doubtful)
				more |= add(&from->destroys,
					    s->uses[w->to].destroys & ~from->entry);
			more |= add(&s->expected[w->from], expected & ~from->written);
			s->passed[w->from] |= expected;
		}
	} while (more);
}

static bool passes_after_call(const struct way *ways, uint32_t count)
{
	bool passes = false, calls = false;
	for (uint32_t i = 0; i < count; i++) {
		passes |= ways[i].passed != 0;
		calls |= !ways[i].jump && !ways[i].final;
	}
	return passes && calls;
}

/* Of each procedure, what it expects and some caller has set. */
static uint64_t *find_given(const struct search *s)
{
	uint64_t *given = xcalloc(s->out->count + (size_t)1, sizeof(*given));
	bool more;
	do {
		more = false;
		vec_each (w, &s->ways) {
			uint64_t has = s->uses[w->from].written | given[w->from];
			more |= !w->inside && add(&given[w->to], s->expected[w->to] & has);
		}
	} while (more);
	return given;
}

/* Where a procedure goes to one that expects a register, it reads that, as it were: the value may
 * come over calls before. glibc's __clone3 keeps what its thread_start expects over a call of
 * __libc_arm_za_disable. The ways of a procedure are next to each other. */
static void join_passed(struct search *s)
{
	uint64_t *given = find_given(s);
	for (uint32_t i = 0, n; i < s->ways.len; i += n) {
		struct way *ways = &s->ways.data[i];
		uint64_t has = s->uses[ways->from].written | given[ways->from];
		for (n = 0; i + n < s->ways.len && ways[n].from == ways->from; n++) {
			struct way *w = &ways[n];
			w->passed = has & (w->inside ? w->passed : s->expected[w->to]);
		}
		if (passes_after_call(ways, n))
			uses_add_passed(&s->finders[0], ways, n);
	}
	free(given);
}

/* No value is kept over a call that destroys it. What is read behind it nevertheless comes from the
 * callee, if that is at once or nothing else sets it; or it is on a path that is never taken. */
static void join_kept(struct search *s)
{
	uint64_t *got = xcalloc(s->out->count + (size_t)1, sizeof(*got));
	bool more;
	vec_each (w, &s->ways) {
		uint64_t destroyed = w->behind & s->uses[w->to].destroys;
		if (w->behind)
			debug(LOG_FLOW, 2, "%#lx reads registers %#lx behind calls of %#lx",
			      (unsigned long)s->procedures[w->from].start, (unsigned long)w->behind,
			      (unsigned long)s->procedures[w->to].start);
		s->kept[w->to] |= w->behind & ~destroyed;
		got[w->to] |= destroyed & (w->at_once | ~s->uses[w->from].written);
	}
	do {
		more = false;
		vec_each (w, &s->ways) {
			more |= !w->final && add(&s->kept[w->to], s->kept[w->from]);
			more |= w->jump && add(&got[w->to], got[w->from]);
		}
	} while (more);
	for (uint32_t i = 0; i < s->out->count; i++)
		s->kept[i] |= got[i];
	free(got);
}

/* Of what the image itself does not call, or not only by its name, nobody knows who passes what. */
static void lose_entries(struct search *s)
{
	bool *called = xcalloc(s->out->count + (size_t)1, sizeof(*called));
	vec_each (w, &s->ways)
		called[w->to] |= !w->inside;
	for (uint32_t i = 0; i < s->out->count; i++) {
		const struct uses *u = &s->uses[i];
		const struct procedure *p = &s->procedures[i];
		if (!called[i] || p->found_by & (FOUND_POINTER | FOUND_ADDRESS))
			lose(s->out, u->entry, p->start, LOSS_ENTRY);
		lose(s->out, u->strange, u->place, LOSS_CALL);
	}
	free(called);
}

static void lose_gaps(struct search *s)
{
	struct gap_list gaps = {0};
	find_gaps(s->flow, &gaps);
	vec_each (g, &gaps.gaps) {
		uint64_t lowest = 0;
		if (flow_procedure_at(s->flow, g->start) == UINT32_MAX)
			lose(s->out, uses_in_range(&s->finders[0], g->start, g->end, &lowest),
			     lowest, LOSS_UNKNOWN);
	}
	vec_free(&gaps.gaps);
}

/* A set of candidates by their numbers, split into general registers and vectors. */
static struct regset split(const struct search *s, uint64_t set)
{
	const struct regset *all = &s->flow->arch->private_candidates;
	return (struct regset){.core = set & all->core, .vec = (uint32_t)set & all->vec};
}

static void conclude(struct search *s)
{
	struct private_registers *out = s->out;
	uint64_t candidates = s->finders[0].candidates;
	for (unsigned reg = 0; reg <= REG_FLAGS; reg++)
		if (out->lost[reg].kind)
			candidates &= ~(UINT64_C(1) << reg);
	for (uint32_t i = 0; i < out->count; i++) {
		uint64_t expected = s->expected[i] | s->passed[i];
		uint64_t shared = expected | s->uses[i].held | s->kept[i];
		if (is_linkage(&s->procedures[i]))
			continue;
		out->of[i] = (struct private_set){
			.registers = split(s, candidates & ~shared),
			.expected = split(s, expected),
			.held = split(s, s->uses[i].held),
			.kept = split(s, s->kept[i]),
		};
	}
}

/* Other images call the resolvers of TLS descriptors in the dynamic linker, and rely on all
 * registers but the flags. */
static bool is_dynamic_linker(const struct image *im)
{
	for (uint32_t i = 0; i < im->symbol_count; i++)
		if (im->symbols[i].flags & SYMBOL_DYNAMIC &&
		    !strcmp(im->symbols[i].name, "__tls_get_addr"))
			return true;
	return false;
}

static void lose_by_kind(struct private_registers *out, const struct flow *f)
{
	const struct regset *all = &f->arch->private_candidates;
	uint64_t candidates = all->core | all->vec;
	if (is_go(f->im))
		lose(out, candidates, 0, LOSS_GO);
	else if (is_dynamic_linker(f->im))
		lose(out, candidates & ~(UINT64_C(1) << REG_FLAGS), 0, LOSS_LINKER);
}

void private_find(struct private_registers *out, struct flow *f)
{
	struct search s = {.flow = f, .out = out};
	*out = (struct private_registers){0};
	s.procedures = flow_procedures(f, &out->count);
	out->of = xcalloc(out->count + (size_t)1, sizeof(*out->of));
	s.uses = xcalloc(out->count + (size_t)1, sizeof(*s.uses));
	s.expected = xcalloc(out->count + (size_t)1, sizeof(*s.expected));
	s.passed = xcalloc(out->count + (size_t)1, sizeof(*s.passed));
	s.kept = xcalloc(out->count + (size_t)1, sizeof(*s.kept));
	lose_by_kind(out, f);
	find_all(&s);
	join_insides(&s);
	join_entries_and_ends(&s);
	join_passed(&s);
	join_kept(&s);
	lose_entries(&s);
	lose_gaps(&s);
	conclude(&s);
	for (uint32_t i = 0; i < s.finder_count; i++)
		uses_release(&s.finders[i]);
	vec_free(&s.ways);
	free(s.uses);
	free(s.expected);
	free(s.passed);
	free(s.kept);
}

void private_release(struct private_registers *p)
{
	free(p->of);
	*p = (struct private_registers){0};
}
