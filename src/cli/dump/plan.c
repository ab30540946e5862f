/* `sonde dump plan`: shows what probing a function would change, without a running program. */
#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "cli/dump/dump.h"
#include "counters/code.h"
#include "patch/fragment.h"

/* Assumed addresses of what only a running program has; the size of generated code depends on them:
 * moved code begins at the first multiple of CODE_ALIGNMENT after the module, the routine that
 * probes call is ROUTINE_DISTANCE after it. */
enum { CODE_ALIGNMENT = 0x10000, ROUTINE_DISTANCE = 0x100000 };

bool dump_parse_points(const char *list, uint32_t *kinds)
{
	*kinds = 0;
	while (*list) {
		size_t n = strcspn(list, ",");
		uint32_t kind = 0;
		while (kind < POINT_KINDS && (strlen(point_kind_name[kind]) != n ||
					      strncmp(list, point_kind_name[kind], n) != 0))
			kind++;
		if (n == 3 && !strncmp(list, "all", n))
			*kinds = (1u << POINT_KINDS) - 1;
		else if (kind == POINT_KINDS)
			return false;
		else
			*kinds |= 1u << kind;
		list += n + (list[n] == ',');
	}
	return *kinds != 0;
}

static uint64_t code_address(const struct module *module)
{
	uint64_t end = 0;
	for (uint32_t i = 0; i < module->segment_count; i++) {
		const struct segment *s = &module->segments[i];
		end = s->va + s->memory_size > end ? s->va + s->memory_size : end;
	}
	return (end + CODE_ALIGNMENT - 1) & ~(uint64_t)(CODE_ALIGNMENT - 1);
}

static void add_spot(const struct spot_probe *p, uint32_t i, struct text *out)
{
	const struct spot *s = &p->spot;
	text_printf(out, "  spot %u %s %s 0x%" PRIx64, i, point_kind_name[s->kind],
		    spot_place_name[s->place], s->va);
	if (s->loop != LOOP_NONE)
		text_printf(out, " loop=%u", s->loop);
	if (s->place == SPOT_EDGE)
		text_printf(out, " edge=%u", s->edge);
	if (p->refused)
		text_printf(out, " refused=%s", refusal_word[p->refused]);
	text_char(out, '\n');
}

static void add_patch(const struct patch *p, uint64_t address, uint32_t size, struct text *out)
{
	text_printf(out, "  patch 0x%" PRIx64 " ", p->va);
	dump_bytes(p->original, p->size, out);
	text_add(out, " -> ");
	dump_bytes(p->bytes, p->size, out);
	if (p->to - address < size)
		text_printf(out, " to=+0x%" PRIx64, p->to - address);
	else
		text_printf(out, " island=0x%" PRIx64, p->to);
	text_printf(out, "%s%s\n", p->phase == PHASE_DEAD ? " dead" : "", p->trap ? " trap" : "");
}

/* Adds one instruction of the fragment; returns the offset of the next one. */
static uint32_t add_code(struct dump *d, const struct fragment *f, uint64_t address, uint32_t at,
			 uint32_t end)
{
	struct insn in;
	uint64_t pc = address + at;
	size_t n = d->arch->decode(f->code + at, end - at, pc, DECODE_FLOW, &in);
	if (!n)
		n = d->arch->insn_align < end - at ? d->arch->insn_align : end - at;
	text_char(&d->out, ' ');
	dump_bytes(f->code + at, n, &d->out);
	dump_assembly(d, f->code + at, n, pc);
	text_char(&d->out, '\n');
	return at + (uint32_t)n;
}

static void add_moved(struct dump *d, const struct fragment *f, uint64_t address,
		      const struct moved *m)
{
	const char *what = m->in_place ? "go to" : "moved";
	for (uint32_t at = m->offset; at < m->offset + m->size; what = "and") {
		text_printf(&d->out, "  +0x%x %s 0x%" PRIx64, at, what, m->va);
		at = add_code(d, f, address, at, m->offset + m->size);
	}
}

static void add_probe(struct dump *d, const struct fragment *f, uint64_t address,
		      const struct placed_probe *p)
{
	for (uint32_t at = p->offset; at < p->offset + p->size;) {
		text_printf(&d->out, "  +0x%x .", at);
		at = add_code(d, f, address, at, p->offset + p->size);
	}
}

static void add_fragment(struct dump *d, const struct fragment *f, uint64_t address)
{
	struct moved_reader r;
	struct moved m;
	moved_open(&r, &f->moved);
	bool more = moved_next(&r, &m);
	struct placed_reader probes;
	struct placed_probe p;
	placed_open(&probes, &f->probes);
	bool more_probes = placed_next(&probes, &p);
	uint32_t end = 0;
	for (uint32_t at = 0; more || more_probes || at < end;) {
		if (more_probes && p.offset <= at) {
			text_printf(&d->out, "  +0x%x probe %u size=%u\n", at, p.probe, p.size);
			if (d->args->count)
				add_probe(d, f, address, &p);
			at = p.offset + p.size;
			end = at + 1; /* code always follows a probe */
			more_probes = placed_next(&probes, &p);
		} else if (more && m.offset <= at) {
			add_moved(d, f, address, &m);
			at = end = m.offset + m.size;
			more = moved_next(&r, &m);
		} else {
			uint32_t next = more_probes ? p.offset : f->size;
			next = more && m.offset < next ? m.offset : next;
			text_printf(&d->out, "  +0x%x go", at);
			at = add_code(d, f, address, at, next);
		}
	}
}

static void add_plan(struct dump *d, struct fragment_request *r)
{
	static const char *const names[] = {"none", "displaced", "relocated", "trap"};
	struct fragment f;
	fragment_make(&f, r, &d->tmp);
	text_printf(&d->out, " mechanism=%s size=%u\n", names[f.mechanism], f.size);
	for (uint32_t i = 0; i < r->count; i++)
		add_spot(&r->probes[i], i, &d->out);
	vec_each (p, &f.patches)
		add_patch(p, r->address, f.size, &d->out);
	add_fragment(d, &f, r->address);
	fragment_release(&f);
}

/* A call of the runtime at each spot. */
static void put_calls(struct dump *d, struct fragment_request *r, const struct loop_forest *forest)
{
	struct spot_list spots = {0};
	spots_find(d->flow, r->cfg, forest, d->kinds, LOOP_NONE, &spots);
	r->count = spots.len;
	r->probes = ARENA_ARRAY(&d->result, struct spot_probe, spots.len);
	for (uint32_t i = 0; i < spots.len; i++)
		r->probes[i] = (struct spot_probe){
			.spot = spots.data[i],
			.code = {.routine = r->address + ROUTINE_DISTANCE, .argument = i}};
	vec_free(&spots);
}

/* The probes of `sonde count`, as if the function were the only one. */
static void put_counters(struct dump *d, struct fragment_request *r,
			 const struct loop_forest *forest, struct counters_probes *probes)
{
	struct counters *t = ARENA_NEW(&d->result, struct counters);
	struct counters_options o = {.live = r->live,
				     .private = d->private.of[r->function].registers};
	uint64_t routine = r->address + ROUTINE_DISTANCE;
	struct counters_numbers n = {.table = routine,
				     .find = routine,
				     .called = routine,
				     .returned = routine,
				     .landed = routine,
				     .tripped = routine,
				     .function = 1};
	if (!counters_plan(t, d->flow, r->cfg, forest, &o, &d->result, &d->tmp))
		return;
	counters_code(t, d->flow, &n, probes, &d->result);
	r->probes = probes->data;
	r->count = probes->len;
	r->held = counters_held(t);
	r->relocate = true;
}

void dump_plan(struct dump *d, uint32_t function)
{
	uint32_t count;
	const struct function *p = &flow_functions(d->flow, &count)[function];
	const struct cfg *g = flow_cfg(d->flow, function, &d->result, &d->tmp);
	struct loop_forest forest;
	struct liveness live;
	struct counters_probes counting = {0};
	struct fragment_request r = {.flow = d->flow,
				     .function = function,
				     .cfg = g,
				     .live = &live,
				     .address = code_address(d->module),
				     .intrusions = &d->intrusions,
				     .allow_traps = d->args->traps,
				     .relocate = d->args->relocate};
	struct regset unshared =
		d->args->count ? d->private.of[function].registers : (struct regset){0};
	loops_find(g, &forest, &d->result, &d->tmp);
	liveness_find(&live, d->flow, g, unshared, &d->result, &d->tmp);
	if (d->args->count)
		put_counters(d, &r, &forest, &counting);
	else
		put_calls(d, &r, &forest);
	dump_heading(d, p);
	add_plan(d, &r);
	vec_free(&counting);
}
