/* Puts the data region and the runtime's text into a program, and takes them out again.
 *
 * The program itself creates the memfd and maps it, by system calls that one of its threads makes
 * for us. We open it through /proc, and then the program's descriptor is closed: nothing but two
 * mappings is visible in the program. */
#include "probe/region/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fault.h"
#include "isa/native.h"
#include "probe/region/areas.h"
#include "probe/region/caller.h"
#include "probe/region/calls.h"
#include "probe/region/confinement.h"
#include "probe/region/layout.h"
#include "probe/region/raw.h"
#include "probe/region/region_file.h"
#include "probe/region/trap_action.h"
#include "process/memory.h"
#include "runtime/blob.h"

static int call_unmap(const struct caller *c, uint64_t start, uint64_t size)
{
	struct err ignored;
	return caller_call(c, fault("give-back", EINVAL), "memory cannot be unmapped", SYS_munmap,
			   (uint64_t[6]){start, whole_pages(size)}, NULL, &ignored);
}

#define NAME_AT RT_SPARE

static int map_region_file(struct target *t, struct err *e)
{
	if (t->region.fd < 0)
		return err_errno(e, "the shared memory of process %d cannot be opened", t->pid);
	if (fault("region-truncate", ENOSPC) || ftruncate(t->region.fd, (off_t)RT_REGION_SIZE))
		return err_errno(e, "shared memory cannot be made large enough");
	void *p = fault("region-map", ENOMEM) ? MAP_FAILED
					      : mmap(NULL, RT_MAPPED_SIZE, PROT_READ | PROT_WRITE,
						     MAP_SHARED | MAP_NORESERVE, t->region.fd, 0);
	if (p == MAP_FAILED)
		return err_errno(e, "shared memory cannot be mapped");
	t->region.map = p;
	return 0;
}

/* Opens the file of the program's descriptor and maps it for us. */
static int open_region(struct target *t, int fd, struct err *e)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, fd);
	t->region.fd = fault("region-open", EMFILE) ? -1 : open(path, O_RDWR | O_CLOEXEC);
	return map_region_file(t, e);
}

/* Copies what the parent's region holds below the areas, but only pages that have memory. */
static void copy_tables(struct target *child, const struct target *parent)
{
	uint64_t to;
	for (uint64_t at = 0; region_next_data(parent, &at, RT_RAW, &to); at = to)
		memcpy(target_at(child, at), target_at(parent, at), to - at);
	target_header(child)->pid = (uint32_t)child->pid;
	target_header(child)->raw_used = 0;
	target_header(child)->calling = 0;
}

void target_set_events(struct target *t)
{
	struct rt_header *h = target_header(t);
	const struct shared *g = t->shared;
	for (uint32_t i = 0; i < g->perf_event_count; i++) {
		h->events[i].type = g->perf_events[i].type;
		h->events[i].config = g->perf_events[i].config;
	}
	__atomic_store_n(&h->event_count, g->perf_event_count, __ATOMIC_RELEASE);
}

/* Fills in the header before the program has the region, so that any sonde that finds the region
 * can take it out (heal.c). */
static void fill_header(struct target *t)
{
	struct rt_header *h = target_header(t);
	h->version = RT_VERSION;
	h->size = RT_REGION_SIZE;
	h->tracer = (uint32_t)getpid();
	h->pid = (uint32_t)t->pid;
	h->clock_kind = !t->shared->options.no_perf_clock;
	h->link_mask = t->shared->arch->layout->code_mask;
	calls_describe(h->calls);
	target_set_events(t);
	h->magic = RT_MAGIC;
}

/* P6: memory is on the list as soon as it is mapped. */
static void list_memory(struct target *t, uint64_t start, uint64_t size)
{
	struct rt_header *h = target_header(t);
	h->code[h->code_regions].start = start;
	h->code[h->code_regions].size = size;
	__atomic_store_n(&h->code_regions, h->code_regions + 1, __ATOMIC_RELEASE);
}

/* Creates the region in the program: away from libraries, so that memory near them stays free for
 * probes. A child's region replaces that of its parent, and has to be complete at that moment:
 * traps rely on it. */
static int make_region(struct target *t, const struct caller *c, uint64_t name,
		       const struct target *parent, struct err *e)
{
	int64_t fd = -1, base = 0;
	int rc = caller_call(c, fault("region-create", EMFILE), "shared memory cannot be made",
			     SYS_memfd_create, (uint64_t[6]){name, MFD_CLOEXEC}, &fd, e);
	if (rc)
		return rc;
	rc = open_region(t, (int)fd, e);
	if (!rc && parent)
		copy_tables(t, parent);
	else if (!rc)
		fill_header(t);
	if (!rc) {
		uint64_t flags = MAP_SHARED | MAP_NORESERVE | (parent ? MAP_FIXED : 0);
		uint64_t at = parent ? parent->region.base : layout_aside(t->pid, RT_REGION_SIZE);
		rc = caller_call(
			c, fault("region-map-there", ENOMEM),
			"there is no room for shared memory (is there a limit, ulimit -v?)",
			SYS_mmap,
			(uint64_t[6]){at, RT_REGION_SIZE, PROT_READ | PROT_WRITE, flags,
				      (uint64_t)fd, 0},
			&base, e);
	}
	struct err ignored;
	caller_call(c, false, "closing", SYS_close, (uint64_t[6]){(uint64_t)fd}, NULL, &ignored);
	if (!rc) /* keeps it out of core files */
		caller_call(c, fault("region-mark", EINVAL), "marking", SYS_madvise,
			    (uint64_t[6]){(uint64_t)base, RT_REGION_SIZE, MADV_DONTDUMP}, NULL,
			    &ignored);
	t->region.base = rc ? 0 : (uint64_t)base;
	if (!rc)
		target_header(t)->base = t->region.base;
	return rc;
}

bool target_set_guard(const struct target *t)
{
	uint64_t word = RT_GUARD;
	return !fault("guard-write", EIO) &&
	       memory_write(t->pid, t->region.guard, &word, sizeof(word));
}

static int map_private(struct target *t, const struct caller *c, struct err *e)
{
	int64_t at;
	uint64_t size = private_size(), room = size + RT_TABLE_SIZE;
	int rc = caller_call(c, fault("private-map", ENOMEM), "there is no room for the runtime",
			     SYS_mmap,
			     (uint64_t[6]){0, room, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0},
			     &at, e);
	if (rc)
		return rc;
	uint64_t start = (uint64_t)at, end = start + room;
	t->region.table = RT_ALIGN(start);
	t->region.guard = t->region.table + RT_TABLE_SIZE;
	list_memory(t, t->region.table, size);
	if (t->region.table > start)
		call_unmap(c, start, t->region.table - start);
	call_unmap(c, t->region.table + size, end - t->region.table - size);
	rc = caller_call(c, fault("private-mark", EINVAL), "memory cannot be marked", SYS_madvise,
			 (uint64_t[6]){t->region.table, wiped_size(), MADV_WIPEONFORK}, NULL, e);
	if (!rc && !target_set_guard(t))
		rc = err_errno(e, "process %d cannot be written to", t->pid);
	return rc;
}

static int map_text(struct target *t, const struct caller *c, struct err *e)
{
	int64_t at;
	t->region.text_size = (uint32_t)whole_pages(runtime_blob_size);
	int rc = caller_call(c, fault("runtime-map", ENOMEM), "there is no room for the runtime",
			     SYS_mmap,
			     (uint64_t[6]){0, t->region.text_size, PROT_READ | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS, UINT64_MAX, 0},
			     &at, e);
	if (rc)
		return rc;
	t->region.text = (uint64_t)at;
	list_memory(t, t->region.text, t->region.text_size);
	rc = map_private(t, c, e);
	if (rc)
		return rc;
	struct rt_entry_table head;
	memcpy(&head, runtime_blob, sizeof(head));
	head.region = t->region.base;
	head.guard = t->region.guard;
	head.table = t->region.table;
	if (fault("runtime-write", EIO) ||
	    !memory_write(t->pid, t->region.text, runtime_blob, runtime_blob_size) ||
	    !memory_write(t->pid, t->region.text, &head, sizeof(head)))
		return err_errno(e, "the runtime cannot be written to process %d", t->pid);
	return 0;
}

static void close_region(struct target *t)
{
	if (t->region.map)
		munmap(t->region.map, RT_MAPPED_SIZE);
	if (t->region.fd >= 0)
		close(t->region.fd);
	t->region.map = NULL;
	t->region.fd = -1;
}

int target_inject(struct target *t, struct err *e)
{
	struct remote_slack slack;
	uint64_t name;
	t->region.fd = -1;
	if (!thread_pointer_is_readable())
		return err_set(e, ERR_UNSUPPORTED,
			       "this kernel does not let programs read their thread pointer, "
			       "which probes need; Linux 5.9 or later does, unless it was "
			       "started with nofsgsbase");
	int rc = remote_enter(&slack, t->shared->control, t->pid, RT_NAME, &name, e);
	if (rc)
		return rc;
	struct caller c = {.target = t, .thread = slack.thread, .place = slack.place};
	rc = make_region(t, &c, name, NULL, e);
	if (!rc)
		rc = map_text(t, &c, e);
	if (rc && t->region.base)
		call_unmap(&c, t->region.base, RT_REGION_SIZE);
	if (rc && t->region.text)
		call_unmap(&c, t->region.text, t->region.text_size);
	if (rc && t->region.table)
		call_unmap(&c, t->region.table, private_size());
	remote_leave(&slack);
	if (rc) {
		close_region(t);
		t->region.base = t->region.text = t->region.table = 0;
		return rc;
	}
	t->region.in = true;
	areas_prepare_all(t);
	return 0;
}

/* A child that was forked before we attached to its parent has no runtime at this address. */
static bool has_runtime(const struct target *child)
{
	struct rt_entry_table head;
	return memory_read(child->pid, child->region.text, &head, sizeof(head)) == sizeof(head) &&
	       head.region == child->region.base && head.guard == child->region.guard;
}

static void copy_places(struct target *child, const struct target *parent)
{
	child->region.text = parent->region.text;
	child->region.text_size = parent->region.text_size;
	child->region.guard = parent->region.guard;
	child->region.table = parent->region.table;
	child->region.base = parent->region.base;
}

bool target_copy_region(struct target *copy, const struct target *t)
{
	struct err ignored;
	copy->region.fd = fault("bequest-create", EMFILE) ? -1 : memfd_create(RT_NAME, MFD_CLOEXEC);
	if (map_region_file(copy, &ignored))
		return false;
	copy_places(copy, t);
	copy_tables(copy, t);
	return true;
}

int target_inject_child(struct target *child, const struct target *parent, int tid, struct err *e)
{
	copy_places(child, parent);
	struct caller c = default_caller(child);
	if (tid)
		c.thread = control_thread(child->shared->control, tid);
	/* Until the child has its own region, it sees its parent's. */
	if (!c.thread || !has_runtime(child) ||
	    !memory_write(child->pid, child->region.base + NAME_AT, RT_NAME, sizeof(RT_NAME)))
		return err_set(e, ERR_SYSTEM, "process %d has ended, or is not being observed",
			       child->pid);
	int rc = confinement_check(child, e);
	rc = rc ? rc : make_region(child, &c, parent->region.base + NAME_AT, parent, e);
	if (rc) {
		close_region(child);
		return rc;
	}
	child->region.in = true;
	return 0;
}

/* Whether the descriptor is still ours: the program may have closed it, and opened a file of its
 * own. */
static bool is_perf_event(int pid, int64_t fd)
{
	char path[64], name[64] = "";
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", pid, (long long)fd);
	ssize_t n = readlink(path, name, sizeof(name) - 1);
	return n > 0 && strstr(name, "[perf_event]");
}

static void close_events(struct target *t, const struct caller *c, const int64_t fds[RT_EVENTS])
{
	struct err ignored;
	for (uint32_t i = 0; i < RT_EVENTS; i++)
		if (fds[i] > 0 && is_perf_event(t->pid, fds[i]))
			caller_call(c, false, "closing", SYS_close, (uint64_t[6]){(uint64_t)fds[i]},
				    NULL, &ignored);
}

/* Gives back what the runtime opened for threads, including those that have ended: clock pages and
 * events. */
static void release_clocks(struct target *t, const struct caller *c)
{
	uint32_t used = target_header(t)->threads;
	for (uint32_t i = 0; i < 2 * used; i++) {
		const struct rt_area *a = target_area(t, i < used ? i : i - used + RT_AREAS);
		if (a->clock_page > RT_CLOCK_UNAVAILABLE)
			call_unmap(c, a->clock_page, page_size());
		if (a->left_page)
			call_unmap(c, a->left_page, page_size());
		close_events(t, c, a->event_fd);
		close_events(t, c, a->left_fd);
	}
}

void target_withdraw(struct target *t)
{
	struct remote_slack slack;
	struct err ignored;
	uint64_t name;
	if (remote_enter(&slack, t->shared->control, t->pid, "", &name, &ignored))
		return;
	struct caller c = {.target = t, .thread = slack.thread, .place = slack.place};
	release_clocks(t, &c);
	struct rt_header *h = target_header(t);
	trap_action_remove(&slack, t->shared->control, t->region.base, h->trap_handler);
	for (uint32_t i = 0; i < h->code_regions; i++) {
		uint64_t size = h->code[i].size;
		h->code[i].size = 0; /* before unmapping: see unmap_all() in heal.c */
		if (size)
			call_unmap(&c, h->code[i].start, size);
	}
	call_unmap(&c, t->region.base, RT_REGION_SIZE);
	remote_leave(&slack);
	t->region.in = false;
}

void target_unmap(struct target *t)
{
	close_region(t);
	t->region.in = false;
}

void region_release(struct target *t)
{
	target_unmap(t);
	raw_release(t);
	vec_free(&t->region.steps);
	vec_free(&t->region.reported);
}
