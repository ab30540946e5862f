/* The calling contexts from the root down. */
#include "cli/report/view.h"

void tree_outline(const struct report *r, struct outline *out)
{
	struct tree t;
	struct folded f;
	report_tree(r, r->args->by_line, &t);
	if (r->args->fold && r->format == REPORT_TEXT) {
		fold_tree(&f, &t);
		outline_from_folded(out, &f);
		folded_release(&f);
		outline_skip_startup(out, r->profile);
	} else
		outline_from_tree(out, &t);
	tree_release(&t);
}
