/* See a64_bench.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "a64_bench.h"
#include "base/text.h"
#include "base/vec.h"
#include "isa/arch.h"
#include "isa/text.h"

uint64_t random_u64(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	uint64_t high = *seed >> 32;
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return high << 32 | *seed >> 32;
}

struct emit_target at_pc(uint64_t pc)
{
	return (struct emit_target){.label = LABEL_NONE, .pc = pc};
}

struct emit_target at_label(uint32_t label)
{
	return (struct emit_target){.label = label};
}

/* Capstone 5 prints an alias for what Capstone 4 prints as it is. */
static void replace_alias(struct text *t)
{
	static const char alias[] = "mov x16, #-0x5555555555555556";
	static const char plain[] = "orr x16, xzr, #0xaaaaaaaaaaaaaaaa";
	struct text out = TEXT_INIT;
	const char *from = t->data, *at;
	while ((at = strstr(from, alias))) {
		text_printf(&out, "%.*s%s", (int)(at - from), from, plain);
		from = at + strlen(alias);
	}
	text_add(&out, from);
	text_release(t);
	*t = out;
}

void expect_text(struct emit *e, const char *expected)
{
	struct insn_printer *p = insn_printer_new(&arch_a64);
	struct text t = TEXT_INIT;
	assert_true(emit_finish(e));
	for (uint32_t i = 0; i + 4 <= e->bytes.len; i += 4) {
		insn_print(p, e->bytes.data + i, 4, e->base + i, &t);
		text_add(&t, "\n");
	}
	replace_alias(&t);
	assert_string_equal(t.data, expected);
	text_release(&t);
	insn_printer_free(p);
	emit_release(e);
}

struct call_record call_record;
void machine_run(struct machine *m, uint64_t code);
void machine_exit(void);

#ifdef __aarch64__
/* machine_run() loads all registers from *m and jumps to the code, whose first instruction has to
 * be "ldr x17, [sp, #24]". Exits store x0 and x1 at [sp] and come to machine_exit with the number
 * of the exit in x0. */
__asm__(".text\n"
	".global machine_run, machine_exit, machine_routine\n"
	"machine_run:\n"
	"	stp x29, x30, [sp, #-224]!\n"
	"	stp x19, x20, [sp, #64]\n	stp x21, x22, [sp, #80]\n"
	"	stp x23, x24, [sp, #96]\n	stp x25, x26, [sp, #112]\n"
	"	stp x27, x28, [sp, #128]\n	str x18, [sp, #144]\n"
	"	stp d8, d9, [sp, #160]\n	stp d10, d11, [sp, #176]\n"
	"	stp d12, d13, [sp, #192]\n	stp d14, d15, [sp, #208]\n"
	"	sub sp, sp, #32\n"
	"	ldr x2, [x0, #136]\n	stp x0, x2, [sp, #16]\n"
	"	mov x17, x1\n"
	"	ldr x1, [x0, #248]\n	msr nzcv, x1\n"
	"	add x1, x0, #256\n"
	"	ldp q0, q1, [x1]\n	ldp q2, q3, [x1, #32]\n"
	"	ldp q4, q5, [x1, #64]\n	ldp q6, q7, [x1, #96]\n"
	"	ldp q8, q9, [x1, #128]\n	ldp q10, q11, [x1, #160]\n"
	"	ldp q12, q13, [x1, #192]\n	ldp q14, q15, [x1, #224]\n"
	"	ldp q16, q17, [x1, #256]\n	ldp q18, q19, [x1, #288]\n"
	"	ldp q20, q21, [x1, #320]\n	ldp q22, q23, [x1, #352]\n"
	"	ldp q24, q25, [x1, #384]\n	ldp q26, q27, [x1, #416]\n"
	"	ldp q28, q29, [x1, #448]\n	ldp q30, q31, [x1, #480]\n"
	"	ldp x2, x3, [x0, #16]\n	ldp x4, x5, [x0, #32]\n"
	"	ldp x6, x7, [x0, #48]\n	ldp x8, x9, [x0, #64]\n"
	"	ldp x10, x11, [x0, #80]\n	ldp x12, x13, [x0, #96]\n"
	"	ldp x14, x15, [x0, #112]\n	ldr x16, [x0, #128]\n"
	"	ldp x18, x19, [x0, #144]\n	ldp x20, x21, [x0, #160]\n"
	"	ldp x22, x23, [x0, #176]\n	ldp x24, x25, [x0, #192]\n"
	"	ldp x26, x27, [x0, #208]\n	ldp x28, x29, [x0, #224]\n"
	"	ldr x30, [x0, #240]\n"
	"	ldp x0, x1, [x0]\n"
	"	br x17\n"
	"machine_exit:\n"
	"	ldr x1, [sp, #16]\n"
	"	str x0, [x1, #768]\n"
	"	stp x2, x3, [x1, #16]\n	stp x4, x5, [x1, #32]\n"
	"	stp x6, x7, [x1, #48]\n	stp x8, x9, [x1, #64]\n"
	"	stp x10, x11, [x1, #80]\n	stp x12, x13, [x1, #96]\n"
	"	stp x14, x15, [x1, #112]\n	stp x16, x17, [x1, #128]\n"
	"	stp x18, x19, [x1, #144]\n	stp x20, x21, [x1, #160]\n"
	"	stp x22, x23, [x1, #176]\n	stp x24, x25, [x1, #192]\n"
	"	stp x26, x27, [x1, #208]\n	stp x28, x29, [x1, #224]\n"
	"	mrs x2, nzcv\n	stp x30, x2, [x1, #240]\n"
	"	mov x2, sp\n	str x2, [x1, #776]\n"
	"	ldp x2, x3, [sp]\n	stp x2, x3, [x1]\n"
	"	add x1, x1, #256\n"
	"	stp q0, q1, [x1]\n	stp q2, q3, [x1, #32]\n"
	"	stp q4, q5, [x1, #64]\n	stp q6, q7, [x1, #96]\n"
	"	stp q8, q9, [x1, #128]\n	stp q10, q11, [x1, #160]\n"
	"	stp q12, q13, [x1, #192]\n	stp q14, q15, [x1, #224]\n"
	"	stp q16, q17, [x1, #256]\n	stp q18, q19, [x1, #288]\n"
	"	stp q20, q21, [x1, #320]\n	stp q22, q23, [x1, #352]\n"
	"	stp q24, q25, [x1, #384]\n	stp q26, q27, [x1, #416]\n"
	"	stp q28, q29, [x1, #448]\n	stp q30, q31, [x1, #480]\n"
	"	add sp, sp, #32\n"
	"	ldp x19, x20, [sp, #64]\n	ldp x21, x22, [sp, #80]\n"
	"	ldp x23, x24, [sp, #96]\n	ldp x25, x26, [sp, #112]\n"
	"	ldp x27, x28, [sp, #128]\n	ldr x18, [sp, #144]\n"
	"	ldp d8, d9, [sp, #160]\n	ldp d10, d11, [sp, #176]\n"
	"	ldp d12, d13, [sp, #192]\n	ldp d14, d15, [sp, #208]\n"
	"	ldp x29, x30, [sp], #224\n"
	"	ret\n"
	"machine_routine:\n"
	"	stp x0, x1, [sp, #-16]!\n"
	"	adrp x0, call_record\n	add x0, x0, :lo12:call_record\n"
	"	ldr x1, [x0]\n	add x1, x1, #1\n"
	"	stp x1, x16, [x0]\n"
	"	add x1, sp, #16\n	str x1, [x0, #16]\n"
	"	ldr x1, [sp, #16]\n	str x1, [x0, #24]\n"
	"	ldr x1, [sp, #24]\n	str x1, [x0, #32]\n"
	"	ldr x1, [sp, #32]\n	str x1, [x0, #40]\n"
	"	ldr x1, [sp, #40]\n	str x1, [x0, #56]\n"
	"	ldr x16, [x0, #48]\n	mov x17, #17\n"
	"	ldp x0, x1, [sp], #16\n"
	"	ret\n");

uint64_t own_thread(void)
{
	return (uint64_t)(uintptr_t)__builtin_thread_pointer();
}
#else
void machine_run(struct machine *m, uint64_t code)
{
	(void)m;
	(void)code;
	abort();
}

void machine_exit(void)
{
	abort();
}

void machine_routine(void)
{
	abort();
}

uint64_t own_thread(void)
{
	return 0;
}
#endif

static uint8_t *writable;
uint64_t executable;

int make_world(void **state)
{
	(void)state;
	int fd = memfd_create("world", 0);
	if (fd < 0 || ftruncate(fd, WORLD))
		return -1;
	writable = mmap(NULL, WORLD, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *code = mmap(NULL, WORLD, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	executable = (uint64_t)(uintptr_t)code;
	close(fd);
	return writable == MAP_FAILED || code == MAP_FAILED ? -1 : 0;
}

int drop_world(void **state)
{
	(void)state;
	munmap(writable, WORLD);
	munmap((void *)(uintptr_t)executable, WORLD);
	return 0;
}

void put(uint64_t pc, const void *bytes, size_t n)
{
	char *code = (char *)(uintptr_t)pc;
	memcpy(writable + (pc - executable), bytes, n);
	__builtin___clear_cache(code, code + n);
}

void put_u32(uint64_t pc, uint32_t word)
{
	put(pc, &word, sizeof(word));
}

enum { EXIT_SIZE = 24 };

void put_exit(uint64_t pc, uint32_t number)
{
	uint64_t routine = (uint64_t)(uintptr_t)machine_exit;
	const uint32_t words[EXIT_SIZE / 4] = {
		0xa90007e0,               /* stp x0, x1, [sp] */
		0xd2800000 | number << 5, /* mov x0, #number */
		0x58000041,               /* ldr x1, .+8 */
		0xd61f0020,               /* br x1 */
		(uint32_t)routine,
		(uint32_t)(routine >> 32),
	};
	put(pc, words, sizeof(words));
}

void run(struct machine *m, uint64_t pc)
{
	uint8_t jump[4];
	put_u32(executable + ENTRY, 0xf9400ff1); /* ldr x17, [sp, #24] */
	assert_int_equal(a64_emit.jump(jump, executable + ENTRY + 4, pc), 4);
	put(executable + ENTRY + 4, jump, 4);
	machine_run(m, executable + ENTRY);
}

void randomise(struct machine *m, uint64_t *seed)
{
	for (unsigned i = 0; i < 31; i++)
		m->x[i] = random_u64(seed) & 3 ? random_u64(seed) : 0;
	for (unsigned i = 0; i < 32; i++)
		m->v[i][0] = random_u64(seed), m->v[i][1] = random_u64(seed);
	m->nzcv = random_u64(seed) & 0xf0000000;
	m->exit = UINT64_MAX;
	m->sp = 0;
}

uint32_t finish(struct emit *e)
{
	assert_true(emit_finish(e));
	uint32_t size = e->bytes.len;
	put(e->base, e->bytes.data, size);
	emit_release(e);
	return size;
}

uint32_t random_extent(uint64_t *seed)
{
	const uint32_t extents[] = {a64_emit.small_size, EMIT_EXTENT, UINT32_MAX};
	return extents[random_u64(seed) % ARRAY_SIZE(extents)];
}
