/* Turns nested address ranges into disjoint ones. */
#include "base/order.h"
#include "module/debug_private.h"

typedef VEC(struct debug_entry) entries;

static void flatten_up_to(entries *out, entries *open, uint64_t *at, uint64_t end)
{
	while (open->len && *at < end) {
		const struct debug_entry *top = &vec_last(open);
		uint64_t stop = top->end < end ? top->end : end;
		if (*at < stop) {
			struct debug_entry *last = out->len ? &vec_last(out) : NULL;
			if (last && last->scope == top->scope && last->end == *at)
				last->end = stop;
			else
				vec_push(out, (struct debug_entry){*at, stop, top->scope});
			*at = stop;
		}
		if (top->end <= end)
			open->len--;
	}
	*at = end;
}

uint32_t debug_flatten(struct debug_entry **out, struct debug_entry *in, uint32_t count)
{
	entries flat = {0}, open = {0};
	uint64_t at = 0;
	order_by_address(in, count, sizeof(*in), offsetof(struct debug_entry, start));
	for (uint32_t i = 0; i < count; i++) {
		flatten_up_to(&flat, &open, &at, in[i].start);
		vec_push(&open, in[i]);
	}
	flatten_up_to(&flat, &open, &at, UINT64_MAX);
	vec_free(&open);
	*out = flat.data;
	return flat.len;
}
