/* Linux on x86-64. rt_sigreturn expects the stack pointer 8 bytes past the start of the signal
 * frame, at
 *
 *	0     ucontext: flags, link, stack (24 bytes)
 *	40    sigcontext: general registers, flags, segments, ..., the address of the vector state
 *	296   signal mask
 *
 * The vector state is 64-byte aligned and in the format of the XSAVE instruction. 48 bytes in it,
 * reserved for software, give its size, and a magic word follows it. (asm/sigcontext.h) */
#include "isa/calls.h"

#include <errno.h>
#include <string.h>

#include "isa/registers.h"

/* Offsets in the signal frame. */
enum {
	UCONTEXT = 64,
	UC_STACK_FLAGS = UCONTEXT + 24,
	SIGCONTEXT = UCONTEXT + 40,
	UC_MASK = UCONTEXT + 296,
	VECTOR = 512,
};
enum { SC_FLAGS = 136, SC_CS = 144, SC_SS = 150, SC_VECTOR = 184 };
enum { UC_FLAGS_XSTATE_SS_STRICT = 7 };

/* Offsets in NT_PRSTATUS. */
enum { RAX = 80, ORIG_RAX = 120, RIP = 128, CS = 136, EFLAGS = 144, RSP = 152, SS = 160 };
/* Offsets in the vector state. */
enum {
	SOFTWARE = 464,
	FEATURES = 512,
	LEGACY_SIZE = 512,
	STATE_MIN = 576,
	TILE_BEGIN = 2752,
	PKRU_END = 2696,
	AVX512_END = 2688,
};
enum { MAGIC1 = 0x46505853, MAGIC2 = 0x46505845 };
#define FEATURES_LEGACY UINT64_C(3)
#define FEATURE_PKRU    (UINT64_C(1) << 9)
#define FEATURES_TILE   (UINT64_C(3) << 17)

/* sigaltstack() refuses these flags and rt_sigreturn ignores that error, so the thread's alternate
 * signal stack stays as it is. */
enum { INVALID_STACK_FLAGS = 0x7fff };

/* Results that make the kernel restart a call; from the kernel's own errno.h. */
enum { ERESTARTSYS = 512, ERESTARTNOINTR = 513, ERESTARTNOHAND = 514, ERESTART_BLOCK = 516 };

/* Offsets in struct user_regs_struct, in the order of struct sigcontext: r8 .. r15, di, si, bp, bx,
 * dx, ax, cx, sp, ip, flags. */
static const uint8_t order[] = {72,  64, 56, 48, 24, 16, 8,   0,   112,
				104, 32, 40, 96, 80, 88, RSP, RIP, EFLAGS};

/* syscall; mov $15, %eax; syscall */
static const uint8_t code[] = {0x0f, 0x05, 0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

static uint64_t get(const uint8_t *p)
{
	uint64_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void put(uint8_t *p, uint64_t v, size_t size)
{
	memcpy(p, &v, size);
}

static bool restarts(const uint8_t *general)
{
	int64_t result = (int64_t)get(general + RAX);
	return (int64_t)get(general + ORIG_RAX) >= 0 &&
	       (result == -ERESTARTSYS || result == -ERESTARTNOINTR || result == -ERESTARTNOHAND ||
		result == -ERESTART_BLOCK);
}

static void restart(uint8_t *general)
{
	if (!restarts(general))
		return;
	put(general + RAX, get(general + ORIG_RAX), 8);
	put(general + RIP, get(general + RIP) - 2, 8);
}

/* A call number of -1 keeps the kernel from restarting a call that the thread is in. */
static void enter(uint8_t *general, uint64_t at, uint64_t frame)
{
	put(general + ORIG_RAX, UINT64_MAX, 8);
	put(general + RIP, at, 8);
	put(general + RSP, frame + UCONTEXT, 8);
}

static bool wide_live(const uint8_t *wide, size_t size)
{
	(void)wide, (void)size;
	return false;
}

/* ptrace shows room for the tile registers even if the thread is not permitted to use them. If a
 * frame holds more than the thread is permitted to use, the kernel restores only the legacy state
 * from it. */
static size_t used_size(const struct frame_state *s)
{
	if (s->vector_size <= TILE_BEGIN || get(s->vector + FEATURES) & FEATURES_TILE)
		return s->vector_size;
	return get(s->vector + SOFTWARE) & FEATURE_PKRU ? PKRU_END : AVX512_END;
}

static void put_vector(uint8_t *p, const struct frame_state *s, size_t size)
{
	memcpy(p, s->vector, size);
	uint64_t features = get(p + FEATURES) | FEATURES_LEGACY;
	memset(p + SOFTWARE, 0, LEGACY_SIZE - SOFTWARE);
	put(p + SOFTWARE, MAGIC1, 4);
	put(p + SOFTWARE + 4, size + 4, 4);
	put(p + SOFTWARE + 8, features, 8);
	put(p + SOFTWARE + 16, size, 4);
	put(p + FEATURES, features, 8);
	put(p + size, MAGIC2, 4);
}

static size_t frame(uint8_t *out, size_t room, uint64_t at, const struct frame_state *s)
{
	if (s->vector_size < STATE_MIN)
		return 0;
	size_t size = used_size(s), total = VECTOR + size + 4;
	if (total > room)
		return 0;
	memset(out, 0, VECTOR);
	put(out + UCONTEXT, UC_FLAGS_XSTATE_SS_STRICT, 8);
	put(out + UC_STACK_FLAGS, INVALID_STACK_FLAGS, 4);
	put(out + UC_MASK, s->mask, 8);
	for (size_t i = 0; i < sizeof(order); i++)
		memcpy(out + SIGCONTEXT + 8 * i, s->general + order[i], 8);
	memcpy(out + SIGCONTEXT + SC_CS, s->general + CS, 2);
	memcpy(out + SIGCONTEXT + SC_SS, s->general + SS, 2);
	put(out + SIGCONTEXT + SC_VECTOR, at + VECTOR, 8);
	put_vector(out + VECTOR, s, size);
	return total;
}

_Static_assert(sizeof(order) * 8 == SC_FLAGS + 8, "flags are the last of them");

const struct arch_calls x64_calls = {
	.code = code,
	.code_size = sizeof(code),
	.insn_size = 2,
	.insn = {0x0f, 0x05},
	.audit = 0xc000003e,
	.number = RAX,
	.original = ORIG_RAX,
	.argument = {112, 104, 96, 56, 72, 64}, /* di, si, dx, r10, r8, r9 */
	.result = RAX,
	.vector_note = 0x202, /* NT_X86_XSTATE */
	.vectors_note = 2,    /* NT_PRFPREG: in the format of fxsave */
	.vectors = 160,
	.wide_note = 0,
	.pointer_note = 1, /* NT_PRSTATUS */
	.pointer = 168,    /* fs_base */
	.restart_call = 219,
	.no_shadow_stack = "glibc.cpu.x86_shstk=off",
	.decides_late = true,
	.restarts = restarts,
	.restart = restart,
	.enter = enter,
	.wide_live = wide_live,
	.frame = frame,
};
