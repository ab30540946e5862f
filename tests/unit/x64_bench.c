/* See x64_bench.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/text.h"
#include "base/vec.h"
#include "isa/arch.h"
#include "isa/text.h"
#include "x64_bench.h"

/* Instructions apart by semicolons. */
static void print(const struct emit *e, uint32_t size, struct text *out)
{
	struct insn_printer *p = insn_printer_new(&arch_x64);
	for (uint32_t at = 0; at < size;) {
		struct insn in;
		size_t n = arch_x64.decode(e->bytes.data + at, size - at, e->base + at, DECODE_FLOW,
					   &in);
		if (!n)
			fail_msg("no instruction %u bytes into the code", at);
		if (at)
			text_add(out, "; ");
		insn_print(p, e->bytes.data + at, n, e->base + at, out);
		at += (uint32_t)n;
	}
	insn_printer_free(p);
}

void expect_code(struct emit *e, const char *what, const char *expected)
{
	uint32_t size = e->bytes.len;
	struct text out = TEXT_INIT;
	if (!emit_finish(e))
		fail_msg("%s: failed", what);
	print(e, size, &out);
	if (strcmp(out.data, expected) != 0)
		fail_msg("%s:\n%s\nnot\n%s", what, out.data, expected);
	text_release(&out);
	emit_release(e);
}

struct world world;
/* Loads all registers and jumps to world.target; whoever jumps to run_leave stores them and
 * returns. */
void run_enter(void);
void run_leave(void);

#if defined(__x86_64__)
__asm__(".text\n"
	".macro each_register do\n"
	"\\do world(%rip), %rax\n"
	"\\do world+8(%rip), %rcx\n"
	"\\do world+16(%rip), %rdx\n"
	"\\do world+24(%rip), %rbx\n"
	"\\do world+40(%rip), %rbp\n"
	"\\do world+48(%rip), %rsi\n"
	"\\do world+56(%rip), %rdi\n"
	".irp n,8,9,10,11,12,13,14,15\n"
	"\\do world+8*\\n(%rip), %r\\n\n"
	".endr\n"
	".endm\n"
	".macro get from, to\n"
	"	mov \\from, \\to\n"
	".endm\n"
	".macro put to, from\n"
	"	mov \\from, \\to\n"
	".endm\n"
	".globl run_enter\n"
	".type run_enter, @function\n"
	"run_enter:\n"
	".irp r,rbx,rbp,r12,r13,r14,r15\n"
	"	push %\\r\n"
	".endr\n"
	"	mov %rsp, world+144(%rip)\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movups world+160+16*\\n(%rip), %xmm\\n\n"
	".endr\n"
	"	pushq world+128(%rip)\n"
	"	popfq\n"
	"	each_register get\n"
	"	mov world+32(%rip), %rsp\n"
	"	jmp *world+136(%rip)\n"
	".size run_enter, . - run_enter\n"
	".globl run_leave\n"
	".type run_leave, @function\n"
	"run_leave:\n"
	"	each_register put\n"
	"	mov %rsp, world+32(%rip)\n"
	"	mov world+144(%rip), %rsp\n"
	"	pushfq\n"
	"	popq world+128(%rip)\n"
	"	cld\n"
	".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
	"	movups %xmm\\n, world+160+16*\\n(%rip)\n"
	".endr\n"
	".irp r,r15,r14,r13,r12,rbp,rbx\n"
	"	pop %\\r\n"
	".endr\n"
	"	ret\n"
	".size run_leave, . - run_leave\n");
#else
void run_enter(void)
{
	abort();
}

void run_leave(void)
{
	abort();
}
#endif

uint8_t *memory;
static uint64_t seed = 88172645463325252;

uint64_t at(uint32_t offset)
{
	return (uint64_t)(uintptr_t)(memory + offset);
}

void put32(uint8_t *out, uint64_t value)
{
	memcpy(out, &(uint32_t){(uint32_t)value}, 4);
}

uint64_t *words_at(uint32_t offset)
{
	return (uint64_t *)(void *)(memory + offset);
}

uint64_t random_word(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

int map_memory(void **state)
{
	(void)state;
	void *p = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memory = p == MAP_FAILED ? NULL : p;
	return 0;
}

void need_execution(void)
{
	if (!memory) {
		print_message("# no memory may be written and executed here\n");
		skip();
	}
}

/* movl $number, EXIT(%rip); jmp *EXIT+8(%rip) */
void put_way_out(uint32_t offset, uint32_t number)
{
	uint8_t *p = memory + offset;
	memcpy(p, "\xc7\x05", 2);
	put32(p + 2, at(EXIT) - at(offset + 10));
	put32(p + 6, number);
	memcpy(p + 10, "\xff\x25", 2);
	put32(p + 12, at(EXIT + 8) - at(offset + 16));
	*words_at(EXIT + 8) = (uint64_t)(uintptr_t)run_leave;
}

struct outcome random_start(void)
{
	struct outcome s;
	uint64_t counts[] = {0, 1, 2, UINT64_C(1) << 32, random_word()};
	for (unsigned i = 0; i < 16; i++) {
		s.world.reg[i] = random_word();
		s.world.xmm[i][0] = random_word();
		s.world.xmm[i][1] = random_word();
	}
	s.world.flags = (random_word() & FLAGS_COMPARED) | 2;
	s.world.reg[RCX] = counts[random_word() % ARRAY_SIZE(counts)];
	s.world.reg[RSP] = at(STACK);
	s.world.reg[RBX] = s.world.reg[R12] = s.world.reg[R13] = at(DATA);
	s.world.reg[RBP] = at(DATA + 8);
	s.world.reg[R14] = at(TAKEN);
	s.world.reg[R15] = 8;
	for (unsigned i = 0; i < DATA_WORDS; i++)
		s.data[i] = i < 2 ? at(TAKEN) : random_word();
	for (unsigned i = 0; i < STACK_WORDS; i++)
		s.stack[i] = i >= STACK_WORDS / 2 - 2 && i < STACK_WORDS / 2 + 4 ? at(TAKEN)
										 : random_word();
	s.exit = 0;
	return s;
}

static uint64_t *stack_words(void)
{
	return words_at(STACK) - STACK_WORDS / 2;
}

struct outcome run(const struct outcome *start, uint32_t offset)
{
	world = start->world;
	world.target = at(offset);
	memcpy(memory + DATA, start->data, sizeof(start->data));
	memcpy(stack_words(), start->stack, sizeof(start->stack));
	*words_at(EXIT) = start->exit;
	run_enter();
	struct outcome o = {.world = world, .exit = *words_at(EXIT)};
	memcpy(o.data, memory + DATA, sizeof(o.data));
	memcpy(o.stack, stack_words(), sizeof(o.stack));
	return o;
}

void expect_same(const char *what, const struct outcome *x, const struct outcome *y, unsigned from)
{
	for (unsigned i = 0; i < 16; i++)
		if (x->world.reg[i] != y->world.reg[i])
			fail_msg("%s: %s is %#llx, not %#llx", what, arch_x64.reg_name(i),
				 (unsigned long long)y->world.reg[i],
				 (unsigned long long)x->world.reg[i]);
	if ((x->world.flags ^ y->world.flags) & FLAGS_COMPARED)
		fail_msg("%s: flags are %#llx, not %#llx", what, (unsigned long long)y->world.flags,
			 (unsigned long long)x->world.flags);
	if (memcmp(x->world.xmm, y->world.xmm, sizeof(x->world.xmm)) != 0)
		fail_msg("%s: vector registers differ", what);
	if (x->exit != y->exit)
		fail_msg("%s: way %d, not %d", what, (int)y->exit, (int)x->exit);
	if (memcmp(x->data, y->data, sizeof(x->data)) != 0)
		fail_msg("%s: data differ", what);
	for (unsigned i = from; i < STACK_WORDS; i++)
		if (x->stack[i] != y->stack[i])
			fail_msg("%s: stack word %d differs", what, (int)i - STACK_WORDS / 2);
}

uint32_t install(struct emit *e, const char *what)
{
	if (!emit_finish(e))
		fail_msg("%s: failed", what);
	uint32_t size = e->bytes.len;
	memcpy(memory + MOVED, e->bytes.data, size);
	emit_release(e);
	return size;
}
