/* Probes at the same place execute in the order in which they are listed: first those that find the
 * context (after a call, at a landing pad, at the entry), then loops and counters, finally those
 * that give the context up (before a call, at an exit). */
#include "counters/coder.h"

static struct spot spot_before(uint64_t va)
{
	return (struct spot){.kind = POINT_ITERATION_BEGIN,
			     .place = SPOT_BEFORE,
			     .loop = LOOP_NONE,
			     .edge = UINT32_MAX,
			     .va = va};
}

/* Counters in registers, general or vector. */
static void begin_counter(struct coder *c, unsigned counter)
{
	op(c, counter < EMIT_VECTOR ? EMIT_SET : EMIT_VECTOR_BEGIN, counter, 0, 0, 0);
}

static void count_in(struct coder *c, unsigned counter)
{
	if (counter < EMIT_VECTOR)
		op(c, EMIT_ADD, counter, counter, 0, 1);
	else
		op(c, EMIT_VECTOR_COUNT, counter, 0, 0, 0);
}

/* Returns the operand that holds the count; it may be `where`. */
static unsigned read_counter(struct coder *c, unsigned counter, unsigned where)
{
	if (counter < EMIT_VECTOR)
		return counter;
	op(c, EMIT_VECTOR_READ, where, counter, 0, 0);
	return where;
}

static size_t slot_offset(uint32_t slot)
{
	return sizeof(struct rt_shadow) + 8 * (size_t)slot;
}

/* ---- loops ---- */

static void enter_loop(struct coder *c, struct spot spot)
{
	const struct counters_loop *l = &c->t->loops[spot.loop];
	begin(c);
	if (l->method == TRIP_HELD) {
		begin_counter(c, l->trips);
		for (uint32_t i = 0; i < l->held_count; i++)
			begin_counter(c, c->t->carriers[c->t->held[l->first_held + i]].counter);
	} else if (l->method == TRIP_DIFFERENCE) {
		unsigned at = code_context(c, V3, V2);
		load(c, V0, at, word_offset(l->word));
		store(c, at, word_offset(l->before), V0);
	} else if (l->method == TRIP_FRAME) {
		store(c, code_frame(c, V0, V1), slot_offset(l->slot), EMIT_ZERO);
	}
	if (c->ops.len)
		code_put_alone(c, spot);
}

static void count_header(struct coder *c, uint32_t loop)
{
	const struct counters_loop *l = &c->t->loops[loop];
	begin(c);
	if (l->method == TRIP_HELD) {
		count_in(c, l->trips);
	} else if (l->method == TRIP_DIFFERENCE) {
		op(c, EMIT_COUNT, V0, code_context(c, V3, V2), 0, (int64_t)word_offset(l->word));
	} else {
		op(c, EMIT_COUNT, V1, code_frame(c, V0, V1), 0, (int64_t)slot_offset(l->slot));
	}
	uint32_t header = c->t->forest->loops[loop].header;
	code_put_alone(c, spot_before(c->t->cfg->blocks[header].start));
}

/* Adds the loop's counts in registers to their words. */
static void add_held(struct coder *c, const struct counters_loop *l, unsigned context)
{
	for (uint32_t i = 0; i < l->held_count; i++) {
		const struct carrier *k = &c->t->carriers[c->t->held[l->first_held + i]];
		unsigned count = read_counter(c, k->counter, V0);
		op(c, EMIT_COUNT_VALUE, V1, context, count, (int64_t)word_offset(k->word));
	}
}

/* Returns the operand that holds the number of executions of the header, which may be V0. Adds it
 * to the header's counter, unless it is counted there directly. */
static unsigned executions(struct coder *c, const struct counters_loop *l, unsigned at)
{
	unsigned trips;
	switch (l->method) {
	case TRIP_HELD:
		add_held(c, l, at);
		trips = read_counter(c, l->trips, V0);
		op(c, EMIT_COUNT_VALUE, V1, at, trips, (int64_t)word_offset(l->word));
		return trips;
	case TRIP_DIFFERENCE:
		load(c, V0, at, word_offset(l->word));
		load(c, V1, at, word_offset(l->before));
		op(c, EMIT_SUB_SHIFTED, V0, V0, V1, 0);
		return V0;
	default:
		load(c, V0, code_frame(c, V0, V1), slot_offset(l->slot));
		op(c, EMIT_COUNT_VALUE, V1, at, V0, (int64_t)word_offset(l->word));
		return V0;
	}
}

/* Adds the trip count to the thread's histogram. The runtime handles counts above the exact range.
 */
static void leave_loop(struct coder *c, struct spot spot)
{
	const struct counters_loop *l = &c->t->loops[spot.loop];
	uint32_t number = c->n->first_loop + spot.loop;
	if (l->method == TRIP_NONE)
		return;
	begin(c);
	unsigned at = code_context(c, V3, V2), trips = executions(c, l, at);
	if (spot.place == SPOT_EDGE && c->t->tests[spot.edge] == spot.loop) {
		op(c, EMIT_ADD, V0, trips, 0, -1);
		trips = V0;
	}
	bool checked = !counters_holds_context(c->t);
	load(c, V2, at, offsetof(struct rt_context, area));
	if (checked) /* activations that do not own the frame take the aside too, with 0 here */
		store(c, V2, offsetof(struct rt_area, trip), trips);
	op(c, EMIT_ADD, V1, trips, 0, -RT_EXACT_TRIPS);
	op(c, EMIT_UNLESS_NEGATIVE, 0, V1, 0, 0);
	if (checked)
		store(c, V2, offsetof(struct rt_area, trip), EMIT_ZERO);
	op(c, EMIT_ADD_SHIFTED, V2, V2, trips, 3);
	op(c, EMIT_ADD, V2, V2, 0, (int64_t)(RT_AREA_TRIPS + number * sizeof(struct rt_trips)));
	op(c, EMIT_COUNT, V1, V2, 0, 0);
	last_aside(c, c->n->tripped, number);
	if (!checked)
		store(c, V2, offsetof(struct rt_area, trip), trips);
	op(c, EMIT_CALL, V1, 0, 0, 0);
	code_put_alone(c, spot);
}

/* ---- counters ---- */

/* The spot before the last instruction of a block; if that is a conditional branch, the spot on its
 * taken edge. */
static struct spot spot_leaving(const struct coder *c, uint32_t block, uint64_t last)
{
	struct spot spot = spot_before(last);
	if (c->t->cfg->blocks[block].flags & BLOCK_CONDITIONAL)
		spot.place = SPOT_TAKEN;
	return spot;
}

static uint64_t last_insn(const struct coder *c, uint32_t block)
{
	const struct block *b = &c->t->cfg->blocks[block];
	const struct arch *arch = flow_arch(c->flow);
	uint64_t last = b->start;
	struct insn in;
	for (uint64_t va = b->start; va < b->start + b->size; va += in.length) {
		size_t n;
		const uint8_t *bytes = module_at(flow_module(c->flow), va, arch->insn_max, &n);
		if (!bytes || !arch->decode(bytes, n, va, DECODE_FLOW, &in))
			break;
		last = va;
	}
	return last;
}

static void count_carrier(struct coder *c, const struct carrier *k)
{
	begin(c);
	if (k->counter != REG_NONE)
		count_in(c, k->counter);
	else
		op(c, EMIT_COUNT, V0, code_context(c, V3, V2), 0, (int64_t)word_offset(k->word));
	if (k->kind == CARRIER_BLOCK)
		code_put_alone(c, spot_before(c->t->cfg->blocks[k->index].start));
	else if (k->kind == CARRIER_EDGE)
		code_put_alone(c, code_on_edge(c, k->index));
	else
		code_put_alone(c, spot_leaving(c, k->index, last_insn(c, k->index)));
}

/* Counts loop headers, and all chords that have no other counter. */
static void count_carriers(struct coder *c)
{
	const struct counters *t = c->t;
	for (uint32_t l = 0; l < t->forest->loop_count; l++)
		if (t->loops[l].method != TRIP_NONE)
			count_header(c, l);
	for (uint32_t i = 0; i < t->net.edge_count; i++) {
		const struct carrier *k = &t->carriers[i];
		bool counts = t->net.edges[i].chord && k->word != NO_WORD;
		if (counts && !k->header && k->kind != CARRIER_LANDING)
			count_carrier(c, k);
	}
}

/* ---- all of them ---- */

static uint32_t site_at(const struct coder *c, uint64_t va)
{
	for (uint32_t i = 0; i < c->t->site_count; i++)
		if (c->t->sites[i].va == va)
			return i + 1;
	return 0;
}

static void find_spots(const struct coder *c, uint32_t kinds, struct spot_list *out)
{
	vec_clear(out);
	spots_find(c->flow, c->t->cfg, c->t->forest, kinds, LOOP_NONE, out);
}

static bool is_landing(const struct cfg *g, uint32_t block)
{
	return g->blocks[block].flags & BLOCK_LANDING;
}

static void put_arrivals(struct coder *c)
{
	const struct cfg *g = c->t->cfg;
	for (uint32_t i = 0; i < c->t->site_count; i++) {
		const struct counters_site *s = &c->t->sites[i];
		const struct block *b = &g->blocks[s->block];
		for (uint32_t k = 0; !s->syscall && k < b->edge_count; k++)
			if (g->edges[b->first_edge + k].kind == EDGE_CALL_RETURN &&
			    !is_landing(g, g->edges[b->first_edge + k].to))
				code_come_back(c, code_on_edge(c, b->first_edge + k), i + 1);
	}
	for (uint32_t i = 0; i < c->t->net.edge_count; i++)
		if (c->t->carriers[i].kind == CARRIER_LANDING)
			code_land(c, c->t->carriers[i].index, c->t->carriers[i].word);
}

/* Puts the probes after system calls. In the list of spots, the spot after a call follows that of
 * the call itself. */
static void put_syscalls_done(struct coder *c, struct spot_list *spots)
{
	uint32_t site = 0;
	find_spots(c, 1u << POINT_SYSCALL | 1u << POINT_SYSCALL_DONE, spots);
	vec_each (s, spots) {
		if (s->kind == POINT_SYSCALL)
			site = site_at(c, s->va);
		else
			code_come_back(c, *s, site);
	}
}

static void put_loops(struct coder *c, struct spot_list *spots)
{
	find_spots(c, 1u << POINT_ENTRY | 1u << POINT_LOOP_ENTRY | 1u << POINT_LOOP_EXIT, spots);
	vec_each (s, spots) {
		/* The runtime ends loops that an exception leaves. */
		if (s->place == SPOT_EDGE && c->t->cfg->edges[s->edge].kind == EDGE_UNWIND)
			continue;
		if (s->kind == POINT_ENTRY)
			code_enter(c, *s);
		else if (s->kind == POINT_LOOP_ENTRY)
			enter_loop(c, *s);
		else
			leave_loop(c, *s);
	}
}

static void put_calls_and_exits(struct coder *c, struct spot_list *spots)
{
	find_spots(c, 1u << POINT_SYSCALL | 1u << POINT_CALL | 1u << POINT_EXIT, spots);
	vec_each (s, spots) {
		if (s->kind != POINT_EXIT)
			code_call(c, *s, site_at(c, s->va));
		else if (c->t->framed)
			code_leave(c, *s);
		else
			code_pass_back(c, *s);
	}
}

void counters_code(const struct counters *t, const struct flow *f, const struct counters_numbers *n,
		   struct counters_probes *out, struct arena *a)
{
	struct coder c = {.t = t, .flow = f, .n = n, .out = out, .a = a};
	struct spot_list spots = {0};
	put_arrivals(&c);
	put_syscalls_done(&c, &spots);
	put_loops(&c, &spots);
	count_carriers(&c);
	put_calls_and_exits(&c, &spots);
	vec_free(&spots);
	vec_free(&c.ops);
}
