/* The child of a fork. Its memory holds its parent's patches and fragments; what we know about them
 * is copied, and its values start at zero.
 *
 * Alternatively the child is left alone at first: its probes do nothing, and it refers to a
 * snapshot of what we knew when it was forked. All children that are forked before the next change
 * share one snapshot; most of them soon end or execute another program. */
#include "probe/engine/inherit.h"

#include "probe/code/unload.h"
#include "probe/engine/fork_contexts.h"
#include "probe/engine/targets.h"
#include "probe/region/areas.h"
#include "probe/region/inject.h"
#include "probe/region/layout.h"
#include "probe/stop/adopt_measured.h"

/* Prepares the child's only thread. Fork has wiped the thread table. Running activations are found
 * on its stack. */
static void begin_thread(struct target *child, struct target *parent, int tid)
{
	struct control_thread *th = control_thread(child->shared->control, tid);
	struct stop stop = {.target = child};
	if (!th)
		return;
	contexts_inherit(child, parent, th);
	areas_prepare(child, th);
	stop_settle(&stop);
	vec_each (s, &child->code->subjects)
		s->fresh = s->in;
	vec_each (w, &stop.walks)
		adopt_measured(child, w);
	vec_each (s, &child->code->subjects)
		s->fresh = false;
	stop_publish(&stop);
}

static void copy_state(struct target *child, const struct target *parent)
{
	codespace_copy(child->code, parent);
	vec_copy(&child->counting.starts, &parent->counting.starts);
	vec_copy(&child->region.steps, &parent->region.steps);
	vec_copy(&child->region.reported, &parent->region.reported);
	child->region.counters = parent->region.counters;
	child->confinement.before = parent->confinement.before;
	child->confinement.guarded = parent->confinement.guarded;
}

void target_inherit(struct target *child, struct target *parent, int tid)
{
	copy_state(child, parent);
	begin_thread(child, parent, tid);
}

/* ---- children that are left alone ---- */

static struct target *make_snapshot(const struct target *t)
{
	struct target *s = target_make(engine_of(t), t->pid);
	s->lineage->snapshot_refs = 1;
	if (!target_copy_region(s, t)) {
		target_free(s);
		return NULL;
	}
	copy_state(s, t);
	return s;
}

bool target_inherit_later(struct target *child, struct target *parent)
{
	struct lineage *of = parent->lineage;
	if (!of->inherited && !parent->region.in)
		return true;
	if (!of->inherited && !of->snapshot)
		of->snapshot = make_snapshot(parent);
	struct target *s = of->inherited ? of->inherited : of->snapshot;
	if (s)
		s->lineage->snapshot_refs++;
	child->lineage->inherited = s;
	return s;
}

/* Removes all subjects: those that the parent had at the fork may not be wanted any more, and the
 * child's waits were not watched since then. */
static void give_up_subjects(struct target *t)
{
	for (uint32_t i = 0; i < t->code->subjects.len; i++)
		if (t->code->subjects.data[i].purpose != PURPOSE_RENDEZVOUS)
			target_quiet(t, i);
	t->code->watch_waits = false;
	t->confinement.guarded = false;
	vec_clear(&t->code->searched);
}

int target_inherit_now(struct target *child, struct err *e)
{
	struct target *snapshot = child->lineage->inherited;
	int rc = target_inject_child(child, snapshot, 0, e);
	if (rc)
		return rc;
	/* No permission: the probes that would withdraw it have done nothing so far. */
	target_header(child)->may = 0;
	copy_state(child, snapshot);
	child->lineage->inherited = NULL;
	snapshot_release(snapshot);
	give_up_subjects(child);
	areas_prepare_all(child);
	rc = layout_refresh(child, e);
	forget_unloaded(child);
	target_set_guard(child);
	return rc;
}
