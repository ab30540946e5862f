#include "sample/waiting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "process/memory.h"

/* A thread that has waited for some time is looked at again after a sixteenth of that time. So at
 * most that share of a wait is attributed to the place of the next wait. */
enum { BACKOFF = 16, LONGEST_NS = 100000000 };

/* With many threads the longest pause grows, so that those that only wait are looked at a thousand
 * times a second all together. */
enum { PAUSE_PER_THREAD_NS = 1000000 };

/* Most of the threads that are born by the thousand do not live that long: their files are not
 * opened. */
enum { NEWBORN_NS = 10000000 };

/* A thread that waits for a millisecond at a time, on a busy machine, has often run again before
 * everything about it is read. */
enum { TRIES = 4 };

static int open_thread_file(int pid, int tid, const char *name)
{
	char path[80];
	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	return fault("waiting-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

static bool read_line(int fd, char *line, size_t size)
{
	ssize_t n = fd >= 0 ? pread(fd, line, size - 1, 0) : -1;
	line[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* "run-ns ready-ns turns"; all zero on a kernel that does not keep them. */
static bool read_turns(const struct waiting *w, uint64_t *busy, uint64_t *turns)
{
	char line[80], *at = line;
	if (!read_line(w->fd, line, sizeof(line)))
		return false;
	*busy = strtoull(at, &at, 10);
	*busy += strtoull(at, &at, 10);
	*turns = strtoull(at, &at, 10);
	return true;
}

/* "running", or "NUMBER ARGUMENTS... SP PC" in a system call, or "-1 SP PC" outside one (a page
 * fault, a stop); a thread that has ended has no stack left: "-1 0x0 0x0". */
static bool parse_place(const char *line, struct registers *out)
{
	const char *at = strrchr(line, ' ');
	char *end;
	while (at && at > line && *--at != ' ')
		;
	if (!at)
		return false;
	uint64_t sp = strtoull(at, &end, 16), pc = strtoull(end, NULL, 16);
	if (!pc)
		return false;
	*out = (struct registers){.pc = pc};
	registers_set(out, arch_native()->sp, sp);
	return true;
}

static bool read_place(struct waiting *w)
{
	char line[256];
	w->place.pc = 0;
	if (!read_line(w->place_fd, line, sizeof(line)) || !parse_place(line, &w->place))
		return false;
	w->call = parse_call(line);
	return true;
}

static void open_files(struct waiting *w)
{
	w->fd = open_thread_file(w->pid, w->tid, "schedstat");
	w->place_fd = open_thread_file(w->pid, w->tid, "syscall");
	w->opened = true;
}

void waiting_init_newborn(struct waiting *w, int pid, int tid, uint64_t born)
{
	*w = (struct waiting){.pid = pid,
			      .tid = tid,
			      .since = born,
			      .next = born + NEWBORN_NS,
			      .fd = -1,
			      .place_fd = -1};
}

void waiting_init(struct waiting *w, int pid, int tid, uint64_t now)
{
	uint64_t busy, turns;
	*w = (struct waiting){.pid = pid, .tid = tid, .since = now};
	open_files(w);
	if (read_turns(w, &busy, &turns))
		w->busy = busy;
}

void waiting_release(struct waiting *w)
{
	if (w->tid && w->fd >= 0)
		close(w->fd);
	if (w->tid && w->place_fd >= 0)
		close(w->place_fd);
	w->tid = 0;
}

/* Whether the thread has not run since its place was read: then place and stack are unchanged. */
static bool unmoved(const struct waiting *w, uint64_t turns)
{
	return w->place.pc && turns && turns == w->turns;
}

static bool find_place(struct waiting *w, uint64_t now, uint64_t turns)
{
	if (unmoved(w, turns))
		return true;
	if (!read_place(w))
		return false;
	w->seen = now;
	w->turns = turns;
	return true;
}

/* The time since the last sample in which the thread waited. Without counts from the kernel, a
 * thread that waits now is taken to have done so since it was last looked at. */
static uint64_t take_weight(struct waiting *w, uint64_t now, uint64_t busy)
{
	uint64_t elapsed = now - w->since, worked = busy - w->busy;
	w->since = now;
	w->busy = busy;
	return worked < elapsed ? elapsed - worked : 0;
}

static void put_off(struct waiting *w, uint64_t now, uint32_t threads)
{
	uint64_t pause = (now - w->seen) / BACKOFF,
		 longest = threads * (uint64_t)PAUSE_PER_THREAD_NS;
	longest = longest < LONGEST_NS ? LONGEST_NS : longest;
	w->next = now + (pause < longest ? pause : longest);
}

bool waiting_is_due(const struct waiting *w, uint64_t now)
{
	return now >= w->next && now > w->since;
}

/* Reads where the thread waits, and its stack, of one moment. False if it does not wait. */
static bool read_moment(struct waiting *w, uint64_t now, uint8_t *stack, size_t *size,
			uint64_t *busy)
{
	uint64_t turns = 0, busy_after = 0, turns_after = 0;
	const size_t most = *size;
	for (int i = 0; i < TRIES; i++) {
		read_turns(w, busy, &turns);
		if (!find_place(w, now, turns)) {
			if (!turns)
				w->since = now;
			return false;
		}
		*size = memory_read(w->pid, w->place.reg[arch_native()->sp], stack, most);
		if (!read_turns(w, &busy_after, &turns_after) || turns_after == turns)
			return true;
		w->place.pc = 0; /* it has run since: place and stack are of different moments */
	}
	return false;
}

bool waiting_look(struct waiting *w, uint64_t now, uint32_t threads, uint8_t *stack,
		  size_t max_stack, struct sample *out)
{
	uint64_t busy = 0;
	size_t n = max_stack;
	if (!waiting_is_due(w, now))
		return false;
	if (!w->opened)
		open_files(w);
	if (!read_moment(w, now, stack, &n, &busy))
		return false;
	put_off(w, now, threads);
	*out = (struct sample){.time = now,
			       .pid = w->pid,
			       .tid = w->tid,
			       .event = out->event,
			       .weight = take_weight(w, now, busy),
			       .in_kernel = true,
			       .blocked = true,
			       .call = w->call,
			       .registers = w->place,
			       .stack = n ? stack : NULL,
			       .stack_size = n};
	return out->weight > 0;
}

enum held waiting_hold(int pid, int tid, void (*inside)(void *ctx, const struct registers *regs),
		       void *ctx)
{
	struct waiting w;
	uint64_t busy, turns = 0, turns_after = 0;
	enum held held = HELD_NOT;
	waiting_init(&w, pid, tid, 0);
	read_turns(&w, &busy, &turns);
	if (read_place(&w)) {
		inside(ctx, &w.place);
		held = read_turns(&w, &busy, &turns_after) && turns == turns_after ? HELD
										   : HELD_BROKEN;
	}
	waiting_release(&w);
	return held;
}
