#include "record/splice.h"

static uint32_t procedure_of(const struct frame *f)
{
	return flow_procedure_at(f->code->flow, f->exact ? f->va : f->va - 1);
}

static bool is_same_frame(const struct frame *a, const struct frame *b)
{
	return a->cfa && a->cfa == b->cfa && a->code && a->code == b->code && a->code->flow &&
	       procedure_of(a) == procedure_of(b);
}

/* CFAs grow towards the root, but for signal handlers on stacks of their own. */
static uint32_t find_frame(const struct walk *in, const struct frame *f)
{
	for (uint32_t i = in->frames.len; i-- > 0;)
		if (is_same_frame(f, &in->frames.data[i]))
			return i;
	return UINT32_MAX;
}

bool splice_paths(struct walk *path, const struct walk *now)
{
	for (uint32_t i = path->frames.len; i-- > 0;) {
		uint32_t at = find_frame(now, &path->frames.data[i]);
		if (at == UINT32_MAX)
			continue;
		path->frames.len = i + 1;
		for (uint32_t k = at + 1; k < now->frames.len; k++)
			vec_push(&path->frames, now->frames.data[k]);
		path->end = now->end;
		return true;
	}
	return false;
}
