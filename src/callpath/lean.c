#include "callpath/lean.h"

enum {
	SAMPLES_IN_A_ROW = 200,
	LONG_ENOUGH_NS = 400000000,
	RECORDS_MAX = 96, /* records: the kernel follows 127, unless set otherwise */
};

static void set(struct lean *l, bool on)
{
	l->on = on;
	l->sampler->ops->lean(l->sampler, on);
}

static bool is_sure(const struct lean *l, uint64_t now, struct space *space)
{
	return l->in_a_row && l->in_a_row % SAMPLES_IN_A_ROW == 0 &&
	       (now - l->since >= LONG_ENOUGH_NS || space_keeps_records(space));
}

void lean_learn(struct lean *l, const struct sample *s, struct space *space, bool enough)
{
	if (l->never || !l->sampler->ops->lean)
		return;
	enough &= s->return_count < RECORDS_MAX;
	if (!l->in_a_row)
		l->since = s->time;
	l->in_a_row = enough ? l->in_a_row + 1 : 0;
	if (!l->on && is_sure(l, s->time, space)) {
		set(l, true);
	} else if (l->on && !enough) {
		l->never = true;
		set(l, false);
	}
}
