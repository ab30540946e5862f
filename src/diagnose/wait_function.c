#include "diagnose/wait_function.h"

#include <string.h>

#include "diagnose/plumbing.h"
#include "diagnose/wait_kinds.h"
#include "unwind/links.h"

/* The kinds are OBJECT_KINDS where nothing shows them. */
struct wait_frame {
	bool plumbing;
	enum object_kind own;    /* of a frame of the plumbing */
	enum object_kind called; /* by what the frame calls */
	uint64_t callee;         /* va of that */
};

void wait_functions_release(struct wait_functions *k)
{
	vec_free(&k->frames);
	hashmap_release(&k->at);
}

/* Returns the kind of object that a frame waits for, by the name of its function or, in libraries
 * without names, by that of the library. */
static enum object_kind kind_of_frame(const struct frame *f)
{
	const char *file = f->code->path ? strrchr(f->code->path, '/') : NULL;
	enum object_kind k = kind_of_function(code_name_at(f->code, f->va));
	if (k == OBJECT_KINDS && file && (strstr(file, "/libgomp.") || strstr(file, "omp.so")))
		return OBJECT_OPENMP;
	if (k == OBJECT_KINDS && file && strstr(file, "/libmpi"))
		return OBJECT_MESSAGE;
	return k;
}

/* The same by the name of the function that the frame calls. It need not be the next frame: it may
 * have tail-called a function without a name. */
static enum object_kind kind_of_called(const struct frame *f, uint64_t *callee)
{
	if (f->exact || !f->code->flow)
		return OBJECT_KINDS;
	struct call_site call = links_call_before(f->code->flow, f->va);
	*callee = call.target;
	return call.direct ? kind_of_function(code_name_at(f->code, call.target)) : OBJECT_KINDS;
}

static struct wait_frame look_at(const struct frame *f)
{
	struct wait_frame x = {.plumbing = is_plumbing_at(f->code, f->va), .callee = f->va};
	x.own = x.plumbing ? kind_of_frame(f) : OBJECT_KINDS;
	x.called = x.own == OBJECT_KINDS ? kind_of_called(f, &x.callee) : OBJECT_KINDS;
	return x;
}

static struct wait_frame known_frame(struct wait_functions *k, const struct frame *f)
{
	if (!f->code)
		return (struct wait_frame){.own = OBJECT_KINDS, .called = OBJECT_KINDS};
	const uint64_t key[] = {f->code->id, f->va, f->exact};
	uint32_t next = k->frames.len;
	uint32_t at = hashmap_add(&k->at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&k->frames, look_at(f));
	return k->frames.data[at];
}

struct wait_function wait_function_on_stack(struct wait_functions *k, const struct walk *w)
{
	struct wait_function found = {.kind = OBJECT_KINDS};
	for (uint32_t i = 0; i < w->frames.len; i++) {
		const struct frame *f = &w->frames.data[i];
		struct wait_frame x = known_frame(k, f);
		bool called = x.own == OBJECT_KINDS && i;
		enum object_kind kind = called ? x.called : x.own;
		bool known = called && kind == found.kind && *code_name_at(found.code, found.va);
		if (kind != OBJECT_KINDS && !known)
			found = (struct wait_function){kind, f->code, called ? x.callee : f->va,
						       f->pc - f->va, !i};
		if (!x.plumbing)
			break;
	}
	return found;
}
