#include "findings/wording.h"

#include <stdarg.h>
#include <string.h>

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

/* "answer from redis-server (4711) at 127.0.0.1:6379"; a name that is no address is of no use to
 * anybody: "socket:[4711]". */
static void word_connection(const struct evidence_object *o, struct text *out)
{
	bool answer = object_kind_named(o->kind) == OBJECT_ANSWER;
	bool address = strncmp(o->name, "socket:", strlen("socket:")) != 0;
	if (!*o->peer) {
		text_printf(out, answer ? "%s from %s" : "%s %s", o->kind, o->name);
		return;
	}
	text_printf(out, "%s %s %s (%d)", o->kind, answer ? "from" : "to", o->peer, o->peer_root);
	if (address)
		text_printf(out, " at %s", o->name);
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
	case OBJECT_SOCKET:
	case OBJECT_CONNECTION:
	case OBJECT_ANSWER: word_connection(&t->k->e->objects.data[object], out); break;
	case OBJECT_LOCK: text_printf(out, "a lock (%s)", name); break;
	case OBJECT_SPIN: text_printf(out, "spin lock %s", name); break;
	case OBJECT_VARIABLE:
		text_printf(out, *name ? "a change of %s" : "another thread, spinning%s", name);
		break;
	default: text_printf(out, "%s %s", object_kinds[kind].name, name);
	}
}
