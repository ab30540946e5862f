/* The view of the findings of a search. */
#include "cli/report/findings.h"
#include "cli/report/view.h"

void findings_text(const struct report *r, struct text *out)
{
	if (!r->profile->finished) {
		add_wrapped(out,
			    "This search is still running, or it was killed; this is what it saved "
			    "last.",
			    0, 0, r->width);
		text_add(out, "\n\n");
	}
	findings_render(r->profile, r->width, out);
}

void findings_view_json(const struct report *r, struct json *j)
{
	json_bool(j, "finished", r->profile->finished);
	findings_json(r->profile, j);
}
