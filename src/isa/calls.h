/* System calls as the one who makes them for a stopped thread sees them: where in its registers
 * number, arguments and result are, and the signal frame by which the thread restores itself
 * without anybody's help (rt_sigreturn). Facts and functions over bytes, for any architecture on
 * any host. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

/* All that a thread has to get back, as ptrace gives it. */
struct frame_state {
	const uint8_t *general; /* NT_PRSTATUS */
	const uint8_t *vector;  /* the regset `vector_note` */
	size_t vector_size;
	const uint8_t *wide; /* the regset `wide_note`; NULL if the machine has none */
	size_t wide_size;
	uint64_t mask; /* signals blocked */
};

struct arch_calls {
	/* The code: the call, then rt_sigreturn. */
	const uint8_t *code;
	uint8_t code_size;
	uint8_t insn_size; /* of the instruction that makes a call */
	uint8_t insn[4];

	uint32_t
		audit; /* AUDIT_ARCH_*, by which filters of calls (seccomp) know the architecture */

	/* Offsets in NT_PRSTATUS. */
	uint16_t number;   /* that is given to the kernel */
	uint16_t original; /* of the number that a thread in a call has there; LAYOUT_ABSENT if
			      the kernel does not show it */
	uint16_t argument[6], result;

	uint16_t vector_note, wide_note; /* NT_*; 0 if there is none */
	/* Where the vector registers are, 16 bytes each, in a regset that every thread has. */
	uint16_t vectors_note, vectors;
	uint16_t pointer_note; /* the regset with the thread pointer, and where in it */
	uint16_t pointer;

	/* Where a stopped thread is at the call instruction already when its call is to be made
	 * again; both lists are empty where it is not. Calls that go on with the time that is left
	 * only if it is the kernel that restarts them, with restart_call in the place of their
	 * number; the list ends with 0. Calls that a handler always ends with EINTR. */
	uint16_t restart_call;
	uint16_t resumed[4];
	uint16_t ended[4];
	uint16_t number_note; /* the regset by which a call that has begun becomes another one */

	/* Whether the thread is in a call that the kernel will restart when it goes on, and shows
	 * itself behind the instruction until then. */
	bool (*restarts)(const uint8_t *general);
	/* Changes the registers of such a thread so that it restarts the call by itself. */
	void (*restart)(uint8_t *general);
	/* The registers for making a call at `code` with the frame at `frame`; argument, number and
	 * result are set by the caller. */
	void (*enter)(uint8_t *general, uint64_t code, uint64_t frame);
	/* Whether the wide regset holds state that a system call destroys. */
	bool (*wide_live)(const uint8_t *wide, size_t size);
	/* Where a vector register is in the wide regset if that has them: setting them in the other
	 * one would destroy the rest. 0: it has not. NULL: it never has. */
	size_t (*wide_vector)(const uint8_t *wide, size_t size, unsigned reg);
	/* Builds the frame that stands at `at` (64-byte aligned); returns its size, or 0 if there
	 * is not enough room or the state makes no sense. */
	size_t (*frame)(uint8_t *out, size_t room, uint64_t at, const struct frame_state *s);
};

extern const struct arch_calls a64_calls, x64_calls;

const struct arch_calls *arch_calls(const struct arch *arch);
/* The register that holds a call's number. */
unsigned calls_number_register(const struct arch *arch);
