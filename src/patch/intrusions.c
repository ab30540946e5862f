#include "patch/intrusions.h"

#include "base/order.h"
#include "base/parallel.h"
#include "flow/entry.h"

struct search {
	struct flow *flow;
	const struct procedure *procedures;
	struct intrusions *found; /* of each worker */
};

/* A start is no intrusion, nor is a jump within a procedure. */
static void consider(const struct search *s, uint32_t from, uint64_t target, struct intrusions *out)
{
	uint32_t owner = flow_procedure_at(s->flow, target);
	if (owner != UINT32_MAX && owner != from && s->procedures[owner].start != target)
		vec_push(&out->va, target);
}

/* Data between code may look like jumps: these places only get more care than they need. */
static void scan(const struct search *s, uint32_t procedure, uint64_t va, uint64_t end,
		 struct intrusions *out)
{
	const struct procedure *p = &s->procedures[procedure];
	const struct arch *arch = flow_arch(s->flow);
	size_t have;
	const uint8_t *bytes = image_at(flow_image(s->flow), va, &have);
	if (!bytes || !image_is_code(flow_image(s->flow), va))
		return;
	have = have < end - va ? have : (size_t)(end - va);
	for (size_t at = 0, n; at < have; at += n) {
		struct insn in;
		n = arch->decode(bytes + at, have - at, va + at, DECODE_FLOW, &in);
		if (!n)
			n = arch->insn_align;
		else if ((in.kind == INSN_JUMP || in.kind == INSN_BRANCH) &&
			 (in.target < p->start || in.target >= p->end))
			consider(s, procedure, in.target, out);
	}
}

static void scan_procedure(void *ctx, uint32_t procedure, uint32_t worker)
{
	const struct search *s = ctx;
	const struct procedure *p = &s->procedures[procedure];
	const struct part *parts = flow_parts(s->flow) + p->first_part;
	scan(s, procedure, p->start, p->end, &s->found[worker]);
	for (uint32_t i = 0; i < p->part_count; i++)
		scan(s, procedure, parts[i].start, parts[i].end, &s->found[worker]);
}

void intrusions_find(struct intrusions *out, struct flow *f)
{
	uint32_t count, workers = parallel_workers();
	struct search s = {.flow = f, .procedures = flow_procedures(f, &count)};
	*out = (struct intrusions){0};
	s.found = xcalloc(workers, sizeof(*s.found));
	parallel_for(count, 16, scan_procedure, &s);
	for (uint32_t i = 0; i < workers; i++) {
		vec_each (va, &s.found[i].va)
			vec_push(&out->va, *va);
		intrusions_release(&s.found[i]);
	}
	free(s.found);
	order_by_address(out->va.data, out->va.len, sizeof(uint64_t), 0);
	uint32_t kept = 0;
	vec_each (va, &out->va)
		if (!kept || out->va.data[kept - 1] != *va)
			out->va.data[kept++] = *va;
	out->va.len = kept;
}

void intrusions_release(struct intrusions *in)
{
	vec_free(&in->va);
}

uint32_t intrusions_from(const struct intrusions *in, uint64_t va)
{
	uint32_t low = 0, high = in->va.len;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (in->va.data[mid] < va)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}
