/* The runtime's entry points for aarch64.
 *
 * A probe has saved x16, x17 and x30 on the stack and calls with the argument in x16. All registers
 * that C may change are saved below that, as struct probe_frame of machine.h. The C code is compiled for
 * general registers only, and without x12 to x15, so these and the vector registers need not be
 * saved. The program's x29 stays as it is: to an unwinder that follows frame records, the runtime's
 * frames are part of the program's innermost one. */
#define FRAME     256
#define RT_TARGET 6 /* enum rt_probe_kind */
#include "entry_table.S"

	.text
	.macro	save
	sub	sp, sp, FRAME
	stp	x0, x1, [sp]
	stp	x2, x3, [sp, 16]
	stp	x4, x5, [sp, 32]
	stp	x6, x7, [sp, 48]
	stp	x8, x9, [sp, 64]
	stp	x10, x11, [sp, 80]
	stp	x17, x18, [sp, 136]
	mrs	x0, nzcv
	stp	x29, x30, [sp, 232]
	str	x0, [sp, 248]
	.endm

	.macro	restore
	ldr	x0, [sp, 248]
	ldp	x2, x3, [sp, 16]
	ldp	x4, x5, [sp, 32]
	ldp	x6, x7, [sp, 48]
	msr	nzcv, x0
	ldp	x8, x9, [sp, 64]
	ldp	x10, x11, [sp, 80]
	ldr	x17, [sp, 136]
	ldr	x30, [sp, 240]
	ldp	x0, x1, [sp]
	add	sp, sp, FRAME
	ret
	.endm

	.balign	64
hit:
	save
	ldr	w2, [x16]
	mov	x1, sp
	mov	x0, x16
	cmp	w2, RT_TARGET
	b.eq	2f
1:	bl	rt_hit
	restore
	/* The target of a call may be in any register. */
2:	stp	x12, x13, [sp, 96]
	stp	x14, x15, [sp, 112]
	stp	x19, x20, [sp, 152]
	stp	x21, x22, [sp, 168]
	stp	x23, x24, [sp, 184]
	stp	x25, x26, [sp, 200]
	stp	x27, x28, [sp, 216]
	b	1b

	.balign	16
find:
	save
	bl	rt_find
	mov	x16, x0
	restore

	/* The program's stack pointer is in the probe's frame: isa/emit.h. */
	.macro	counting name, function
	.balign	16
\name:
	save
	mov	x0, x16
	ldr	x1, [sp, FRAME + 24]
	ldr	x2, [sp, FRAME + 16]
	bl	\function
	mov	x16, x0
	restore
	.endm

	counting called, rt_called
	counting returned, rt_returned
	counting landed, rt_landed
	counting tripped, rt_tripped

	.balign	16
remote:
	svc	#0
restorer:
	mov	x8, #139 /* rt_sigreturn */
	svc	#0

	.section .note.GNU-stack, "", %progbits
