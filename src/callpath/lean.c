#include "callpath/lean.h"

enum {
	SAMPLES_BEFORE_LEAN = 200,
	MIN_LEAN_NS = 400000000,
	MAX_KERNEL_FRAMES = 96, /* frame records; the kernel follows 127 by default */
};

static void set_lean(struct lean *l, bool on)
{
	l->on = on;
	l->sampler->ops->lean(l->sampler, on);
}

static bool is_safe(const struct lean *l, uint64_t now, struct space *space)
{
	return l->in_a_row && l->in_a_row % SAMPLES_BEFORE_LEAN == 0 &&
	       (now - l->since >= MIN_LEAN_NS || space_keeps_records(space));
}

void lean_learn(struct lean *l, const struct sample *s, struct space *space, bool enough)
{
	if (l->never || !l->sampler->ops->lean)
		return;
	enough &= s->return_count < MAX_KERNEL_FRAMES;
	if (!l->in_a_row)
		l->since = s->time;
	l->in_a_row = enough ? l->in_a_row + 1 : 0;
	if (!l->on && is_safe(l, s->time, space)) {
		set_lean(l, true);
	} else if (l->on && !enough) {
		l->never = true;
		set_lean(l, false);
	}
}
