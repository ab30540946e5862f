/* Walks of deep stacks by pieces, against walks of the whole stack: a child goes up and down over
 * two functions in turns that change all the time, and is stopped now and then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <elf.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "callpath/held.h"
#include "callpath/stacks.h"
#include "process/memory.h"

enum { DEPTH = 20000, COPY = 8192, STOPS = 60 };

static volatile unsigned chance = 12345;

static bool next_choice(void)
{
	chance = chance * 1103515245 + 12345;
	return chance >> 20 & 1;
}

/* Two functions with the same frame, so that the stack looks much alike whichever way it went. Now
 * and then they go up and come down again. */
#define DESCEND(name, other)                                                                       \
	__attribute__((noinline)) static int name(unsigned depth, unsigned end)                    \
	{                                                                                          \
		int sum = 1;                                                                       \
		if (depth < end)                                                                   \
			sum += next_choice() ? name(depth + 1, end) : other(depth + 1, end);       \
		if (depth % 512 == 0 && end == DEPTH)                                              \
			sum += other(depth + 1, depth + 400);                                      \
		return sum;                                                                        \
	}

static int left(unsigned depth, unsigned end);
DESCEND(right, left)
DESCEND(left, right)

static int start_child(void)
{
	int pid = fork();
	assert_true(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* also if a check fails */
	for (;;)
		left(0, DEPTH);
}

static bool stop(int pid, struct registers *regs)
{
	uint8_t regset[512];
	struct iovec io = {.iov_base = regset, .iov_len = sizeof(regset)};
	int status;
	return !ptrace(PTRACE_INTERRUPT, pid, 0, 0) && waitpid(pid, &status, 0) == pid &&
	       !ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &io) &&
	       registers_from_ptrace(arch_native(), regset, io.iov_len, regs);
}

static void assert_same_walks(const struct walk *a, const struct walk *b)
{
	assert_int_equal(a->end, b->end);
	assert_int_equal(a->frames.len, b->frames.len);
	for (uint32_t i = 0; i < a->frames.len; i++) {
		const struct frame *x = &a->frames.data[i], *y = &b->frames.data[i];
		if (x->pc != y->pc || x->cfa != y->cfa || x->va != y->va || x->code != y->code ||
		    x->exact != y->exact || x->link != y->link)
			fail_msg("frame %u differs", i);
	}
}

struct fixture {
	int pid;
	struct codes *codes;
	struct space *space;
	struct walker *walker;
	struct held_stacks *stacks;
	struct walk whole, pieces;
	uint32_t deepest;
};

static void compare(struct fixture *f, const struct registers *regs)
{
	struct held_stack *s = held_find(f->stacks, f->pid, f->pid);
	uint64_t sp = regs->reg[arch_native()->sp];
	uint8_t bytes[COPY];
	held_read(s, sp);
	struct stack_copy all = {s->address, s->bytes.data + HELD_ROOM, s->size};
	walk_stack(f->walker, f->space, regs, read_stack_copy, &all, &f->whole);
	assert_int_equal(f->whole.end, WALK_COMPLETE);
	struct stack_copy copy = {sp, bytes, memory_read(f->pid, sp, bytes, sizeof(bytes))};
	walk_stack(f->walker, f->space, regs, read_stack_copy, &copy, &f->pieces);
	if (f->pieces.end == WALK_STACK_COPY) {
		assert_true(held_matches(s, &copy));
		held_walk(f->stacks, s, &copy, f->walker, f->space, &f->pieces);
	}
	assert_same_walks(&f->whole, &f->pieces);
	f->deepest = f->whole.frames.len > f->deepest ? f->whole.frames.len : f->deepest;
}

static void pieces_give_what_the_whole_gives(void **state)
{
	struct fixture f = {.pid = start_child(), .codes = codes_new(NULL)};
	struct registers regs;
	struct err e = {0};
	(void)state;
	f.space = space_new(f.codes, f.pid);
	f.walker = walker_new();
	f.stacks = xcalloc(1, sizeof(*f.stacks));
	bool seized = !ptrace(PTRACE_SEIZE, f.pid, 0, 0);
	if (seized)
		assert_int_equal(space_refresh(f.space, &e), 0);
	for (unsigned i = 0; i < STOPS && seized; i++) {
		usleep(i % 4 * 500);
		assert_true(stop(f.pid, &regs));
		compare(&f, &regs);
		assert_int_equal(ptrace(PTRACE_CONT, f.pid, 0, 0), 0);
	}
	kill(f.pid, SIGKILL);
	waitpid(f.pid, NULL, 0);
	held_release(f.stacks);
	free(f.stacks);
	vec_free(&f.whole.frames);
	vec_free(&f.pieces.frames);
	walker_free(f.walker);
	space_free(f.space);
	codes_free(f.codes);
	if (!seized)
		skip();
	assert_true(f.deepest > 5000);
}

static void a_copy_that_has_changed_is_refused(void **state)
{
	uint8_t stack[HELD_ROOM + 4096] = {0}, bytes[1024] = {0};
	const struct held_stack s = {
		.address = 0x10000, .size = 4096, .bytes = {.data = stack, .len = sizeof(stack)}};
	(void)state;
	struct stack_copy copy = {0x10000, bytes, sizeof(bytes)};
	assert_true(held_matches(&s, &copy));
	copy.address -= 512; /* its end is still in the stack */
	assert_true(held_matches(&s, &copy));
	copy.address -= 8; /* the thread has returned from there */
	assert_false(held_matches(&s, &copy));
	copy.address = 0x10000 + 4096 - 1016; /* ends behind the stack */
	assert_false(held_matches(&s, &copy));
	copy.address = 0x10000;
	bytes[1000] = 1;
	assert_false(held_matches(&s, &copy));
	copy.size = 0;
	assert_false(held_matches(&s, &copy));
}

static struct walk path(struct frame *frames, uint32_t count, enum walk_end end)
{
	return (struct walk){.frames = {.data = frames, .len = count}, .end = end};
}

static uint32_t add(struct stacks *s, const struct walk *w)
{
	return stacks_add(s, &(struct stack){.pid = getpid(), .tid = getpid(), .walk = w});
}

/* Return addresses count as their calls; what interrupts is exact. */
static void paths_become_nodes(void **state)
{
	struct profile p;
	struct stacks stacks;
	struct code code = {.id = 3, .path = "/some/file", .deleted = true};
	struct frame f[] = {{.code = &code, .va = 100, .exact = true},
			    {.code = &code, .va = 200},
			    {.code = &code, .va = 300, .exact = true},
			    {.va = 400}};
	(void)state;
	profile_init(&p);
	stacks_init(&stacks, &p, NULL);
	struct walk w = path(f, 4, WALK_COMPLETE);
	uint32_t leaf = add(&stacks, &w);
	assert_int_equal(p.nodes.len, 5);
	assert_int_equal(leaf, 4);
	assert_int_equal(p.nodes.data[4].kind, NODE_LEAF);
	assert_int_equal(p.nodes.data[4].address, 100);
	assert_int_equal(p.nodes.data[3].address, 199);
	assert_int_equal(p.nodes.data[2].address, 300);
	assert_int_equal(p.nodes.data[1].address, 399);
	assert_int_equal(p.nodes.data[1].module, PROFILE_NONE);
	assert_string_equal(p.modules.data[p.nodes.data[4].module].path, "/some/file");
	assert_int_equal(add(&stacks, &w), leaf);
	w = path(f + 1, 3, WALK_COMPLETE); /* the caller itself runs */
	assert_int_equal(p.nodes.data[add(&stacks, &w)].parent, 2);
	w = path(f, 4, WALK_COMPLETE);
	assert_int_equal(add(&stacks, &w), leaf);
	w = path(f, 2, WALK_BAD_LINK);
	leaf = add(&stacks, &w);
	assert_int_equal(p.nodes.data[p.nodes.data[p.nodes.data[leaf].parent].parent].kind,
			 NODE_PARTIAL);
	stacks_release(&stacks);
	profile_release(&p);
}

/* A script that starts one program after the other, each of which runs and has a thread. */
static void a_long_run_has_few_rows(void **state)
{
	enum { SCRIPT = 1, FIRST = 2, COUNT = 3 * OWN_ROWS };
	struct profile p;
	struct watched w;
	uint64_t sum = 0;
	(void)state;
	profile_init(&p);
	watched_init(&w, &p, NULL);
	w.pools = true;
	watched_thread(&w, SCRIPT, SCRIPT);
	watched_name(&w, SCRIPT, SCRIPT, "script");
	for (int pid = FIRST; pid < FIRST + COUNT; pid++) {
		watched_fork(&w, SCRIPT, pid);
		struct watched_thread *t = watched_thread(&w, pid, pid);
		watched_exec(&w, pid);
		watched_name(&w, pid, pid, pid % 2 ? "odd" : "even");
		uint32_t row = watched_row(&w, t);
		const char *name = p.processes.data[p.threads.data[row].process].name;
		assert_string_equal(name, pid % 2 ? "odd" : "even");
		assert_string_equal(p.threads.data[row].name, name);
		assert_int_equal(p.processes.data[p.threads.data[row].process].parent, 0);
		profile_add(&p, 0, row, 0, 1, 1);
		watched_exit(&w, pid);
	}
	assert_int_equal(w.live, 1);
	assert_true(p.processes.len >= OWN_ROWS && p.processes.len < OWN_ROWS + 10);
	assert_true(p.threads.len >= OWN_ROWS && p.threads.len < OWN_ROWS + 10);
	vec_each (v, &p.values)
		sum += v->samples;
	assert_int_equal(sum, COUNT);
	watched_release(&w);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_give_what_the_whole_gives),
		cmocka_unit_test(a_copy_that_has_changed_is_refused),
		cmocka_unit_test(paths_become_nodes),
		cmocka_unit_test(a_long_run_has_few_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
