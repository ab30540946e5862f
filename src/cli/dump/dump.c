#include "cli/dump/dump.h"

#include <inttypes.h>

#include "cli/term/output.h"

void dump_flags(uint16_t flags, const char *const names[16], struct text *out)
{
	const char *before = " flags=";
	for (unsigned i = 0; flags >> i; i++) {
		if (!(flags >> i & 1))
			continue;
		text_add(out, before);
		if (names[i])
			text_add(out, names[i]);
		else
			text_printf(out, "bit%u", i);
		before = ",";
	}
}

void dump_heading(struct dump *d, const struct function *p)
{
	const struct part *parts = flow_parts(d->flow) + p->first_part;
	text_printf(&d->out, "function ");
	output_name(&d->out, p->name ? p->name : "-");
	text_printf(&d->out, " 0x%" PRIx64 "-0x%" PRIx64, p->start, p->end);
	for (uint32_t i = 0; i < p->part_count; i++)
		text_printf(&d->out, " part=0x%" PRIx64 "-0x%" PRIx64, parts[i].start,
			    parts[i].end);
}
