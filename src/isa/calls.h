/* Facts for making system calls in a stopped thread: where number, arguments and result are in its
 * registers, and the signal frame from which rt_sigreturn restores the thread without help from
 * outside. Data and functions over bytes: any host has them for any architecture. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arch;

/* The complete state that has to be restored in a thread, as read with ptrace. */
struct frame_state {
	const uint8_t *general; /* the regset NT_PRSTATUS */
	const uint8_t *vector;  /* the regset `vector_note` */
	size_t vector_size;
	const uint8_t *wide; /* the regset `wide_note`; NULL if the CPU has none */
	size_t wide_size;
	uint64_t mask; /* the mask of blocked signals */
};

struct arch_calls {
	/* The code to run: a system call instruction, then rt_sigreturn. */
	const uint8_t *code;
	uint8_t code_size;
	uint8_t insn_size; /* size of the system call instruction */
	uint8_t insn[4];

	/* AUDIT_ARCH_*, by which seccomp filters identify the architecture */
	uint32_t audit;

	/* Offsets in NT_PRSTATUS. */
	uint16_t number; /* the register in which the kernel takes the number */
	/* Where the kernel shows the number of the call that a stopped thread is in; LAYOUT_ABSENT
	 * if it does not. */
	uint16_t original;
	uint16_t argument[6], result;

	uint16_t vector_note, wide_note; /* NT_*; 0 if the architecture has none */
	/* The vector registers, 16 bytes each: a regset that every thread has, and the offset in
	 * it. */
	uint16_t vectors_note, vectors;
	uint16_t pointer_note; /* the regset with the thread pointer, and its offset there */
	uint16_t pointer;

	/* For architectures that set an interrupted thread back to the system call instruction
	 * before the stop (decides_late is false); elsewhere both lists are empty. Each list ends
	 * with 0.
	 *
	 * `resumed`: calls with a timeout. They continue with the remaining time only if the kernel
	 * itself restarts them, as system call number restart_call.
	 *
	 * `ended`: calls that always return EINTR after a signal handler has run. */
	uint16_t restart_call;
	uint16_t resumed[4];
	uint16_t ended[4];
	uint16_t number_note; /* the regset that changes the number of a call in progress */
	/* The kernel decides after the stop, rather than before it, whether to restart an
	 * interrupted call. */
	bool decides_late;
	/* Regsets of recent kernels whose state our signal frame cannot hold; 0 if there is
	 * none. */
	uint16_t streaming_note, guarded_stack_note;
	/* The setting of glibc that starts a program without a shadow stack. */
	const char *no_shadow_stack;

	/* Whether the kernel will restart the call that the thread is in when the thread is
	 * resumed. Until then the thread's pc is after the call instruction. */
	bool (*restarts)(const uint8_t *general);
	/* Changes the registers of such a thread so that it executes the call again by itself. */
	void (*restart)(uint8_t *general);
	/* Sets the registers for a system call by `code` with the signal frame at `frame`. The
	 * caller sets the arguments and the number. */
	void (*enter)(uint8_t *general, uint64_t code, uint64_t frame);
	/* Whether the wide regset holds state that a system call destroys. */
	bool (*wide_live)(const uint8_t *wide, size_t size);
	/* The offset of a vector register in the wide regset, or 0 if the regset does not hold the
	 * vector registers at the moment. If it does, writing the other regset would destroy the
	 * wide state. NULL: the architecture has no wide regset. */
	size_t (*wide_vector)(const uint8_t *wide, size_t size, unsigned reg);
	/* Builds the signal frame for the address `at` (64-byte aligned). Returns its size, or 0 if
	 * `room` is too small or the state is invalid. */
	size_t (*frame)(uint8_t *out, size_t room, uint64_t at, const struct frame_state *s);
};

extern const struct arch_calls a64_calls, x64_calls;

const struct arch_calls *arch_calls(const struct arch *arch);
struct registers;
/* The register at an offset of NT_PRSTATUS; 0 if there is none. */
uint64_t calls_register(const struct arch *arch, const struct registers *r, uint16_t offset);
/* The register that holds the number of a system call. */
unsigned calls_number_register(const struct arch *arch);
