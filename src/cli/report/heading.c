#include "cli/report/view.h"
#include "cli/term/text.h"

void report_heading(const struct report *r, struct text *out)
{
	const struct profile_metric *m = &r->profile->metrics.data[r->metric];
	output_name(out, m->name);
	text_add(out, ": 100 % is ");
	add_amount(out, m, r->total);
	if (!report_is_counted(r)) {
		text_add(out, " in ");
		add_counted(out, r->samples, "sample", "samples");
	}
	if (r->args->thread) {
		text_add(out, " of threads ");
		output_name(out, r->args->thread);
	}
	if (r->args->focus) {
		text_add(out, " through ");
		output_name(out, r->args->focus);
	}
	if (r->total < r->whole)
		text_printf(out, ", %.1f %% of the profile", percent_of(r->total, r->whole));
	text_char(out, '\n');
}
