#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "sample/perf_sampler.h"

/* A clock is sampled with a fixed period, which is exact. A counter is sampled at a rate, for which
 * the kernel adapts the period. */
static void fill_rate(struct perf_event_attr *a, const struct event *ev,
		      const struct sampler_options *o)
{
	if (o->period)
		a->sample_period = o->period;
	else if (ev->clock)
		a->sample_period = NS_PER_SECOND / o->hz;
	else {
		a->freq = 1;
		a->sample_freq = o->hz;
	}
}

void perf_fill_event(const struct perf_sampler *p, unsigned event, bool lean,
		     struct perf_event_attr *a)
{
	const struct event *ev = &p->o.events[event];
	*a = (struct perf_event_attr){
		.type = ev->type,
		.config = ev->config,
		.config1 = ev->config1,
		.config2 = ev->config2,
		.sample_type = RING_SAMPLE_TYPE,
		.sample_regs_user = arch_native()->layout->perf_mask,
		.sample_stack_user = lean ? LEAN_STACK : (uint32_t)p->o.max_stack,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.exclude_user = ev->exclude_user,
		.exclude_kernel = ev->exclude_kernel || p->base.user_only,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
	};
	a->disabled = lean != p->lean;
	a->mmap = a->mmap2 = a->comm = a->comm_exec = a->task = event == 0;
	fill_rate(a, ev, &p->o);
}

unsigned perf_kinds(const struct perf_sampler *p)
{
	return p->o.max_stack > LEAN_STACK ? 2 : 1;
}

/* Opens the event on ourselves: that fails for the same reasons as on the program. */
static int try_event(const struct perf_sampler *p, unsigned event)
{
	struct perf_event_attr a;
	perf_fill_event(p, event, false, &a);
	a.disabled = 1;
	int fd = perf_open(&a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd;
}

/* Whether the event happens in the kernel only. Then there are no samples of it if the kernel may
 * not be observed. */
static bool kernel_only(const struct event *ev)
{
	return ev->exclude_user ||
	       (ev->type == PERF_TYPE_SOFTWARE && (ev->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
						   ev->config == PERF_COUNT_SW_CPU_MIGRATIONS ||
						   ev->config == PERF_COUNT_SW_CGROUP_SWITCHES));
}

static int refuse_kernel(const struct event *ev, struct err *e)
{
	return err_set(e, ERR_UNSUPPORTED,
		       "%s happens in the kernel, which you may not observe "
		       "(kernel.perf_event_paranoid is %ld); try again with sudo, or run: sudo "
		       "sysctl kernel.perf_event_paranoid=1",
		       ev->name, kernel_setting("perf_event_paranoid"));
}

int perf_check_events(struct perf_sampler *p, struct err *e)
{
	for (unsigned i = 0; i < p->o.event_count; i++) {
		int fd = try_event(p, i);
		if (fd < 0 && errno == EACCES && !p->base.user_only) {
			p->base.user_only = true;
			fd = try_event(p, i);
		}
		if (fd < 0)
			return perf_explain(&p->o.events[i], e);
	}
	for (unsigned i = 0; p->base.user_only && i < p->o.event_count; i++)
		if (kernel_only(&p->o.events[i]))
			return refuse_kernel(&p->o.events[i], e);
	return 0;
}
