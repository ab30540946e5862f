/* One step of a diagnosis: reads everything. */
#include "base/clock.h"
#include "diagnose/inside.h"

static void report_new_parts(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	const struct resources *r = search_resources(own->search);
	for (uint32_t i = 0; i < own->machine.news.len; i++) {
		uint32_t part = own->machine.news.data[i];
		search_part(own->search, MACHINE, r->list.data[part].parent, part);
	}
	for (uint32_t i = 0; i < own->waits.news.len; i++) {
		uint32_t part = own->waits.news.data[i];
		search_part(own->search, r->list.data[part].hierarchy, r->list.data[part].parent,
			    part);
	}
	vec_clear(&own->machine.news);
	vec_clear(&own->waits.news);
}

void diagnose_step(struct diagnosis *d)
{
	struct diagnose_private *own = d->own;
	machine_begin_step(&own->machine, now_seconds() - own->opened);
	const uint64_t left_out = own->samples.sampler ? own->samples.sampler->left_out : 0;
	waits_step(&own->waits, probes_part, &own->probes);
	probes_step(&own->probes);
	machine_end_step(&own->machine);
	overhead_step(&own->overhead, &own->machine,
		      &(struct overhead_reading){
			      .stops = 1e-9 * (double)engine_stopped_ns(d->probing.engine),
			      .probes = own->probes.spent,
			      .spun = own->samples.spun,
			      .samples = own->sink.samples + left_out});
	report_new_parts(d);
}
