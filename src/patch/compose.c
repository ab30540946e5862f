/* Parts of writing a fragment that all mechanisms share: probes, moved instructions, patches. */
#include <string.h>

#include "patch/plan.h"

void begin(struct plan *p)
{
	emit_release(&p->e);
	emit_init(&p->e, p->arch, p->r->address);
	p->e.extent = p->extent;
	vec_clear(&p->out->patches);
	vec_clear(&p->moved);
	vec_clear(&p->placed);
	p->out->mechanism = MECHANISM_NONE;
}

static bool is_attached(const struct attachment *a, enum where where, uint32_t gap)
{
	bool any_gap = where == AT_ARRIVAL || where == AT_TAKEN;
	return a->where == where && (any_gap || a->gap == gap);
}

void emit_probes(struct plan *p, uint32_t block, enum where where, uint32_t gap)
{
	for (uint32_t i = p->first[block]; i < p->first[block + 1]; i++) {
		const struct attachment *a = &p->attachments[i];
		uint32_t offset = p->e.bytes.len;
		if (!is_attached(a, where, gap))
			continue;
		p->ops->probe(&p->e, &p->r->probes[a->probe].code);
		vec_push(&p->placed,
			 (struct placed_probe){a->probe, offset, p->e.bytes.len - offset});
	}
}

bool has_probes(const struct plan *p, uint32_t block, enum where where, uint32_t gap)
{
	for (uint32_t i = p->first[block]; i < p->first[block + 1]; i++) {
		if (is_attached(&p->attachments[i], where, gap))
			return true;
	}
	return false;
}

void note_moved(struct plan *p, const struct insn *in, uint32_t arrival, uint32_t offset,
		bool in_place)
{
	vec_push(&p->moved, (struct moved){
				    .va = in->pc - p->r->bias,
				    .arrival = arrival,
				    .offset = offset,
				    .size = p->e.bytes.len - offset,
				    .length = in->length,
				    .syscall = in->kind == INSN_SYSCALL && !in_place,
				    .landing = in->flags & INSN_LANDING,
				    .in_place = in_place,
			    });
}

void add_patch(struct plan *p, const struct patch *patch)
{
	vec_push(&p->out->patches, *patch);
}

bool original_bytes(const struct plan *p, uint64_t va, uint8_t *out, size_t size)
{
	size_t have;
	const uint8_t *bytes = module_at(p->module, va, size, &have);
	if (!bytes || have < size)
		return false;
	memcpy(out, bytes, size);
	return true;
}

void refuse_all(struct plan *p, enum refusal why)
{
	for (uint32_t i = 0; i < p->r->count; i++)
		if (p->r->probes[i].refused == REFUSED_NONE)
			p->r->probes[i].refused = (uint8_t)why;
}
