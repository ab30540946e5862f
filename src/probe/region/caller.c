#include "probe/region/caller.h"

#include <errno.h>
#include <unistd.h>

#include "base/fault.h"
#include "runtime/blob.h"

enum { ERRNO_MAX = 4095 }; /* results from -4095 to -1 are errors, by the kernel's convention */

int caller_call(const struct caller *c, bool refused, const char *what, long number,
		const uint64_t args[6], int64_t *result, struct err *e)
{
	int64_t got;
	if (refused)
		return err_errno(e, "process %d: %s", c->target->pid, what);
	int rc = remote_call(c->target->shared->control, c->thread, &c->place, number, args, &got,
			     e);
	if (rc)
		return rc;
	if (got < 0 && got >= -ERRNO_MAX) {
		errno = (int)-got;
		return err_errno(e, "process %d: %s", c->target->pid, what);
	}
	if (result)
		*result = got;
	return 0;
}

uint64_t page_size(void)
{
	return (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t whole_pages(uint64_t size)
{
	return (size + page_size() - 1) & ~(page_size() - 1);
}

uint64_t wiped_size(void)
{
	return RT_TABLE_SIZE + page_size();
}

static uint64_t frames_at(const struct target *t)
{
	return t->region.table + wiped_size();
}

uint64_t private_size(void)
{
	return wiped_size() + whole_pages(REMOTE_FRAME);
}

struct caller default_caller(struct target *t)
{
	const struct rt_entry_table *entries = (const struct rt_entry_table *)runtime_blob;
	return (struct caller){
		.target = t,
		.thread = remote_choose(t->shared->control, t->pid),
		.place = {.code = t->region.text + entries->remote, .frame = frames_at(t)}};
}

int target_call(struct target *t, long number, const uint64_t args[6], int64_t *result,
		struct err *e)
{
	struct caller c = default_caller(t);
	if (!c.thread)
		return err_set(e, ERR_SYSTEM, "process %d has no thread that could be asked",
			       t->pid);
	return caller_call(&c, fault("target-call", ENOMEM), "a system call made for us", number,
			   args, result, e);
}
