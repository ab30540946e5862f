#include "path/metrics.h"

#include <string.h>

#include "profile/profile.h"
#include "sample/perf_open.h"

static const struct path_metric known[] = {
	{.name = "calls", .unit = "", .index = PATH_CALLS},
	{.name = "wall", .unit = "ns", .index = RT_WALL},
	{.name = "cpu", .unit = "ns", .index = RT_CPU},
	{.name = "sync", .unit = "ns", .index = RT_SYNC},
	{.name = "io", .unit = "ns", .index = RT_IO},
	{.name = "bytes", .unit = "", .index = RT_BYTES},
};

static const struct path_metric *find_known(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static int find_event(const char *name, struct event *out, struct err *e)
{
	if (event_find(out, name, e)) {
		err_prefix(e, "the metrics are calls, wall, cpu, sync, io, bytes and events");
		return ERR_INPUT;
	}
	if (out->exclude_user || out->exclude_kernel || out->config1 || out->config2)
		return err_set(
			e, ERR_UNSUPPORTED,
			"'%s' cannot be counted for each call: only events without modifiers "
			"can",
			name);
	return perf_check_countable(out, e);
}

int metrics_check(const char *name, struct err *e)
{
	struct event event;
	return find_known(name) ? 0 : find_event(name, &event, e);
}

static int define_event(struct path_metrics *m, struct engine *g, const char *name,
			struct path_metric *out, struct err *e)
{
	struct event event;
	int rc = find_event(name, &event, e);
	if (rc)
		return rc;
	if (m->event_count == RT_EVENTS)
		return err_set(e, ERR_UNSUPPORTED, "at most %d events can be counted at once",
			       RT_EVENTS);
	engine_define_event(g, m->event_count, event.type, event.config);
	*out = (struct path_metric){
		.name = event.name, .unit = event.unit, .index = RT_EVENT + m->event_count++};
	return 0;
}

struct path_metric *metrics_find(struct path_metrics *m, struct engine *g, const char *name,
				 struct err *e)
{
	struct path_metric new;
	for (uint32_t i = 0; i < m->count; i++)
		if (!strcmp(m->list[i].name, name))
			return &m->list[i];
	const struct path_metric *ours = find_known(name);
	if (ours)
		new = *ours;
	else if (define_event(m, g, name, &new, e))
		return NULL;
	new.row = PROFILE_NONE;
	m->list[m->count] = new;
	return &m->list[m->count++];
}

uint32_t metrics_set(const struct path_metrics *m)
{
	uint32_t set = 0;
	for (uint32_t i = 0; i < m->count; i++)
		if (m->list[i].on && m->list[i].index != PATH_CALLS)
			set |= UINT32_C(1) << m->list[i].index;
	return set;
}

bool metrics_is_time(const struct path_metric *m)
{
	return !strcmp(m->unit, "ns");
}

const struct path_metric *metrics_first(const struct path_metrics *m)
{
	const struct path_metric *first = NULL;
	for (uint32_t i = 0; i < m->count; i++) {
		if (!m->list[i].on)
			continue;
		if (metrics_is_time(&m->list[i]))
			return &m->list[i];
		first = first ? first : &m->list[i];
	}
	return first;
}
