// Hand-written code with frames of its own making and no unwind information. Each function returns 2 * x0 + 1.
	.text

	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 2
\name:
	.endm

	.macro	done name
	.size	\name, . - \name
	.endm

// A leaf that leaves all registers alone but x0.
	begin	odd_helper
	add	x0, x0, x0
	add	x0, x0, #1
	ret
	done	odd_helper

// The return address waits in another register during a call, and no stack is used.
	begin	odd_1
	mov	x9, x30
	bl	odd_helper
	ret	x9
	done	odd_1

// Pushes and pops in the middle, around calls and on one of two paths.
	begin	odd_2
	str	x30, [sp, #-16]!
	cbz	x0, 1f
	stp	x0, x1, [sp, #-16]!
	str	x2, [sp, #-32]!
	bl	odd_helper
	add	sp, sp, #32
	ldp	x2, x1, [sp], #16
	b	2f
1:	stp	x19, x20, [sp, #-64]!
	mov	x19, x0
	bl	odd_helper
	ldp	x19, x20, [sp], #64
2:	ldr	x30, [sp], #16
	ret
	done	odd_2

// The frame is made and filled through other registers.
	begin	odd_3
	sub	x10, sp, #96
	stp	x30, x29, [x10, #16]
	mov	sp, x10
	add	x29, sp, #16
	mov	x11, x29
	bl	odd_helper
	ldr	x12, [x29]
	ldr	x29, [x11, #8]
	mov	x30, x12
	add	sp, sp, #96
	ret
	done	odd_3

// A subroutine inside, which uses the frame around it and keeps its return address in x30 only.
	begin	odd_4
	stp	x29, x30, [sp, #-48]!
	str	x0, [sp, #16]
	bl	1f
	bl	2f
	ldp	x29, x30, [sp], #48
	ret
1:	ldr	x3, [sp, #16]
	add	x3, x3, x3
	str	x3, [sp, #24]
	ret
2:	ldr	x0, [sp, #24]
	add	x0, x0, #1
	ret
	done	odd_4

// A frame of a size that only the caller knows, found again through x29 alone.
	begin	odd_5
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	sub	sp, sp, x1
	str	x0, [sp]
	bl	odd_helper
	sub	sp, sp, x1
	mov	sp, x29
	ldp	x29, x30, [sp], #16
	ret
	done	odd_5

// Returns by an indirect jump.
	begin	odd_6
	str	x30, [sp, #-16]!
	bl	odd_helper
	ldr	x16, [sp], #16
	br	x16
	done	odd_6

// Registers are saved below the stack pointer before it moves.
	begin	odd_7
	stp	x29, x30, [sp, #-32]
	sub	sp, sp, #32
	mov	x29, sp
	bl	odd_helper
	ldp	x29, x30, [sp]
	add	sp, sp, #32
	ret
	done	odd_7

// Pushes as often as the argument says; the frame is found through x19.
	begin	odd_8
	stp	x19, x30, [sp, #-16]!
	mov	x19, sp
	add	x2, x0, #1
1:	str	x2, [sp, #-16]!
	subs	x2, x2, #1
	b.ne	1b
	bl	odd_helper
	mov	sp, x19
	ldp	x19, x30, [sp], #16
	ret
	done	odd_8

	.section .note.GNU-stack, "", %progbits
