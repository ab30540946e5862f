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

void word_object(const struct wording *t, uint32_t object, struct text *out)
{
	const char *name = t->k->e->objects.data[object].name;
	enum object_kind kind = known_kind(t->k, object);
	switch (kind) {
	case OBJECT_SLEEP:
	case OBJECT_PROCESS:
	case OBJECT_OTHER:
	case OBJECT_OPENMP:
	case OBJECT_SERIAL:
	case OBJECT_GPU:
	case OBJECT_MESSAGE:
	case OBJECT_CALL: text_add(out, name); break;
	case OBJECT_SPIN: text_printf(out, "spin lock %s", name); break;
	case OBJECT_VARIABLE:
		text_printf(out, *name ? "a change of %s" : "another thread, spinning%s", name);
		break;
	default: text_printf(out, "%s %s", object_kinds[kind].name, name);
	}
}
