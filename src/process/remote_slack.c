/* Places for the first calls, in memory that the program has but does not use.
 *
 * Code: an executable segment of a file ends somewhere in a page. The rest of the page is mapped as
 * well, and nothing there is ever executed. It is used only where it is zero. If no file has enough
 * of it, the vdso has.
 *
 * Frame: in the main stack, below the part in use. Memory below the stack pointer of another thread
 * is not safe: some programs have small stacks in their heap, with other data right below. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "isa/arch.h"
#include "process/maps.h"
#include "process/maps_line.h"
#include "process/memory.h"
#include "process/remote.h"

enum {
	RUN_US = 1000,      /* for which a process runs between two looks at it */
	LEAVE_TRIES = 1000, /* how often it may run until its threads have left our code */
	CHOOSE_TRIES = 20,  /* how often it may run until a thread can make calls */
};
enum { CODE_ALIGN = 16, TEXT_MAX = 16, PHDRS_MAX = 64, PAGE = 4096 };

/* File offset of the end of the executable segment that is mapped at `m`, if the end is in the last
 * page of the mapping; otherwise 0. */
static uint64_t segment_end(int fd, const struct code_mapping *m)
{
	Elf64_Ehdr h;
	Elf64_Phdr ph;
	if (pread(fd, &h, sizeof(h), 0) != (ssize_t)sizeof(h) || h.e_phnum > PHDRS_MAX)
		return 0;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		off_t at = (off_t)(h.e_phoff + i * sizeof(ph));
		if (pread(fd, &ph, sizeof(ph), at) != (ssize_t)sizeof(ph))
			return 0;
		uint64_t end = ph.p_offset + ph.p_filesz;
		if (ph.p_type == PT_LOAD && ph.p_flags & PF_X && ph.p_filesz == ph.p_memsz &&
		    end > m->offset && end - m->offset < m->end - m->start &&
		    m->end - m->start - (end - m->offset) < PAGE)
			return end;
	}
	return 0;
}

static uint64_t file_slack(const struct maps *m, const struct mapped_module *mapped)
{
	struct err ignored;
	struct arena tmp = {0};
	const struct code_mapping *last = &mapped->code[mapped->code_count - 1];
	const char *path = maps_find_file(&tmp, m->pid, mapped, &ignored);
	int fd = path && !fault("slack-file", EMFILE) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	uint64_t end = fd < 0 ? 0 : segment_end(fd, last);
	if (fd >= 0)
		close(fd);
	arena_release(&tmp);
	return end ? last->start + (end - last->offset) : 0;
}

/* The section headers are the last part of the vdso. */
static uint64_t vdso_slack(const struct maps *m, const struct mapped_module *mapped)
{
	Elf64_Ehdr h;
	const struct code_mapping *last = &mapped->code[mapped->code_count - 1];
	if (memory_read(m->pid, mapped->code[0].start, &h, sizeof(h)) != sizeof(h) ||
	    memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return 0;
	uint64_t end = mapped->code[0].start + h.e_shoff + (uint64_t)h.e_shnum * h.e_shentsize;
	return end > last->start && end < last->end ? end : 0;
}

static bool is_zero(int tid, uint64_t at, size_t size)
{
	uint8_t bytes[REMOTE_FRAME];
	if (size > sizeof(bytes) || memory_read(tid, at, bytes, size) != size)
		return false;
	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

/* Whether the bytes are zero, or the code that a killed Sonde has left. */
static bool is_usable(int tid, uint64_t at, size_t size)
{
	uint8_t ours[REMOTE_CODE_MAX], theirs[REMOTE_CODE_MAX];
	size_t code = remote_code(ours);
	return is_zero(tid, at, size) ||
	       (memory_read(tid, at, theirs, code) == code && !memcmp(ours, theirs, code));
}

static uint64_t find_slack(int tid, const char *maps_text, size_t size, struct err *e)
{
	struct maps m;
	uint64_t found = 0;
	maps_parse(&m, tid, maps_text);
	for (int vdso = 0; vdso < 2 && !found; vdso++)
		for (uint32_t i = 0; i < m.module_count && !found; i++) {
			const struct mapped_module *mapped = &m.modules[i];
			if (mapped->vdso != vdso)
				continue;
			uint64_t at = vdso ? vdso_slack(&m, mapped) : file_slack(&m, mapped);
			at = (at + CODE_ALIGN - 1) & ~(uint64_t)(CODE_ALIGN - 1);
			if (at && at + size <= mapped->code[mapped->code_count - 1].end &&
			    is_usable(tid, at, size))
				found = at;
		}
	maps_release(&m);
	if (!found)
		err_set(e, ERR_UNSUPPORTED,
			"process %d has no room for a few bytes of code in any module that is "
			"mapped; Sonde cannot enter it",
			tid);
	return found;
}

static bool stack_mapping(const char *maps_text, uint64_t *start, uint64_t *end)
{
	struct maps_line l;
	bool found = false;
	while (!found && maps_next_line(&maps_text, &l))
		found = maps_line_has_path(&l, "[stack]");
	*start = found ? l.start : 0;
	*end = found ? l.end : 0;
	return found && !fault("slack-stack", EMFILE);
}

/* Uses the lowest part of the main stack. It is free if the stack pointer of the main thread is far
 * enough above it. If that thread is on another stack now, it is free if it is still zero. */
static uint64_t find_frame(struct control *c, const struct control_thread *t, const char *maps_text,
			   struct err *e)
{
	uint64_t start, end;
	struct registers r;
	struct control_thread *first = control_thread(c, t->pid);
	unsigned sp = arch_native()->sp;
	if (!stack_mapping(maps_text, &start, &end))
		return err_set(e, ERR_UNSUPPORTED, "process %d has no main stack", t->pid), 0;
	bool known = first && first->stopped && control_registers(first, &r) && r.reg[sp] > start &&
		     r.reg[sp] <= end;
	bool room = known ? r.reg[sp] - start >= REMOTE_FRAME + PAGE
			  : is_zero(t->tracee.tid, start, REMOTE_FRAME);
	if (!room)
		return err_set(e, ERR_UNSUPPORTED, "process %d: its main stack is full", t->pid), 0;
	return start; /* page-aligned */
}

static bool is_any_thread_inside(struct control *c, int pid, uint64_t start, size_t size)
{
	struct registers r;
	uint32_t count = control_threads(c, pid, NULL, 0);
	struct control_thread **threads = xcalloc(count + 1, sizeof(*threads));
	bool inside = false;
	control_threads(c, pid, threads, count);
	for (uint32_t i = 0; i < count && !inside; i++)
		inside = threads[i]->stopped && control_registers(threads[i], &r) &&
			 r.pc - start < size;
	free(threads);
	return inside;
}

static int run_shortly(struct control *c, int pid, struct err *e)
{
	control_resume(c, pid);
	usleep(RUN_US);
	return control_stop(c, pid, e);
}

/* Waits until no thread is in code that a killed Sonde has left. A thread there is about to restore
 * itself from a frame in the place where ours will be. */
static int wait_until_left(struct control *c, int pid, uint64_t start, size_t size, struct err *e)
{
	for (int tries = 0; tries < LEAVE_TRIES; tries++) {
		if (!is_any_thread_inside(c, pid, start, size))
			return 0;
		int rc = run_shortly(c, pid, e);
		if (rc)
			return rc;
	}
	return err_set(e, ERR_SYSTEM, "process %d does not return from an unfinished call", pid);
}

/* All threads may be in the kernel uninterruptibly, waiting for a disk for example. Then the
 * process runs for a while before the next try. */
static int choose_thread(struct remote_slack *s, struct control *c, int pid, struct err *e)
{
	for (int tries = 0; tries < CHOOSE_TRIES; tries++) {
		s->thread = remote_choose(c, pid);
		if (s->thread) {
			s->tid = s->thread->tracee.tid;
			return 0;
		}
		int rc = run_shortly(c, pid, e);
		if (rc)
			return rc;
	}
	return err_set(e, ERR_SYSTEM, "process %d has no thread that can make a system call now",
		       pid);
}

static int read_maps(int tid, struct text *out, struct err *e)
{
	text_clear(out);
	if (maps_read_text(tid, out) && out->len)
		return 0;
	return err_set(e, ERR_SYSTEM, "the mappings of process %d cannot be read", tid);
}

static int find_code(struct remote_slack *s, struct control *c, int pid, struct text *maps,
		     struct err *e)
{
	s->start = s->place.code = find_slack(s->tid, maps->data, s->size, e);
	if (!s->start)
		return e->code;
	if (is_zero(s->tid, s->start, s->size))
		return 0;
	int rc = wait_until_left(c, pid, s->start, s->size, e);
	rc = rc ? rc : choose_thread(s, c, pid, e);
	return rc ? rc : read_maps(s->tid, maps, e);
}

static int find_places(struct remote_slack *s, struct control *c, int pid, struct err *e)
{
	struct text maps = TEXT_INIT;
	int rc = choose_thread(s, c, pid, e);
	rc = rc ? rc : read_maps(s->tid, &maps, e);
	rc = rc ? rc : find_code(s, c, pid, &maps, e);
	if (!rc) {
		s->place.frame = find_frame(c, s->thread, maps.data, e);
		rc = s->place.frame ? 0 : e->code;
	}
	text_release(&maps);
	return rc;
}

int remote_enter(struct remote_slack *s, struct control *c, int pid, const char *text,
		 uint64_t *text_at, struct err *e)
{
	uint8_t bytes[REMOTE_CODE_MAX + TEXT_MAX] = {0};
	size_t code = (remote_code(bytes) + CODE_ALIGN - 1) & ~(size_t)(CODE_ALIGN - 1);
	*s = (struct remote_slack){
		.control = c, .pid = pid, .size = (uint32_t)code + (text ? TEXT_MAX : 0)};
	int rc = find_places(s, c, pid, e);
	if (rc)
		return rc;
	if (text) {
		strncpy((char *)bytes + code, text, TEXT_MAX - 1);
		*text_at = s->start + code;
	}
	if (!fault("slack-write", EIO) && memory_write(s->tid, s->start, bytes, s->size))
		return 0;
	return err_set(e, ERR_SYSTEM, "the code of process %d cannot be written", pid);
}

/* Restores the zeros. If a call could not be finished, its thread needs the code to restore itself
 * (P5). Then the bytes stay, as after a Sonde that was killed. */
void remote_leave(struct remote_slack *s)
{
	static const uint8_t zeros[REMOTE_CODE_MAX + TEXT_MAX];
	if (s->size && !is_any_thread_inside(s->control, s->pid, s->start, s->size))
		memory_write(s->tid, s->start, zeros, s->size);
	s->size = 0;
}
