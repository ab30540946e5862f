#include "findings/wording.h"

#include <stdarg.h>

void remark(struct wording *t, uint32_t finding, const char *kind, const char *fmt, ...)
{
	struct profile *p = t->k->p;
	struct text text = TEXT_INIT;
	va_list ap;
	va_start(ap, fmt);
	text_vprintf(&text, fmt, ap);
	va_end(ap);
	vec_push(&p->remarks,
		 (struct profile_remark){finding, kind,
					 arena_strdup(&p->arena, text.data ? text.data : "")});
	text_release(&text);
}
