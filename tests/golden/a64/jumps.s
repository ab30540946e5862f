// ld: -e _start
// Functions that go to another frame than their caller's, and some that only look so. Without call frame information.
	.text
	.globl _start
	.type _start, %function
_start:
	bl jump_back
	bl jump_back_late
	bl change_context
	bl change_coroutine
	bl loses_stack
	bl keeps_registers
	udf #0
	.size _start, .-_start

	// The caller is forgotten when the link register is overwritten; the stack pointer follows later.
	.type jump_back, %function
jump_back:
	ldp x19, x20, [x0]
	ldp x21, x22, [x0, #16]
	ldp x23, x24, [x0, #32]
	ldp x25, x26, [x0, #48]
	ldp x27, x28, [x0, #64]
	ldp x29, x4, [x0, #80]
	eor x30, x4, x3
	ldr x4, [x0, #104]
	eor x5, x4, x3
	mov sp, x5
	cmp x1, #0
	csinc x0, x1, xzr, ne
	br x30
	.size jump_back, .-jump_back

	// The frame pointer comes last: before it is there, nothing leads on without the stack pointer.
	.type jump_back_late, %function
jump_back_late:
	ldp x19, x20, [x0]
	ldp x21, x22, [x0, #16]
	ldp x23, x24, [x0, #32]
	ldp x25, x26, [x0, #48]
	ldp x27, x28, [x0, #64]
	ldp x2, x30, [x0, #88]
	mov sp, x2
	ldr x29, [x0, #80]
	ret
	.size jump_back_late, .-jump_back_late

	// Where it goes is known only once x16 is loaded.
	.type change_context, %function
change_context:
	ldp x18, x19, [x0, #328]
	ldp x20, x21, [x0, #344]
	ldp x22, x23, [x0, #360]
	ldp x24, x25, [x0, #376]
	ldp x26, x27, [x0, #392]
	ldp x28, x29, [x0, #408]
	ldp x30, x2, [x0, #424]
	mov sp, x2
	ldr x16, [x0, #440]
	ldp x2, x3, [x0, #200]
	ldp x0, x1, [x0, #184]
	br x16
	.size change_context, .-change_context

	// All is on the new stack.
	.type change_coroutine, %function
change_coroutine:
	stp x29, x30, [sp, #-96]!
	stp x19, x20, [sp, #16]
	stp x21, x22, [sp, #32]
	stp x23, x24, [sp, #48]
	stp x25, x26, [sp, #64]
	stp x27, x28, [sp, #80]
	mov x9, sp
	str x9, [x0]
	ldr x9, [x1]
	mov sp, x9
	ldp x19, x20, [sp, #16]
	ldp x21, x22, [sp, #32]
	ldp x23, x24, [sp, #48]
	ldp x25, x26, [sp, #64]
	ldp x27, x28, [sp, #80]
	ldp x29, x30, [sp], #96
	ret
	.size change_coroutine, .-change_coroutine

	// A stack pointer that is lost, and a call in tail position.
	.type loses_stack, %function
loses_stack:
	ldr x9, [x1]
	mov sp, x9
	ldr x16, [x0]
	br x16
	.size loses_stack, .-loses_stack

	// A frame of unknown size that is never left.
	.type keeps_registers, %function
keeps_registers:
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	sub sp, sp, x0
	mov x9, sp
	sub x9, x9, x1
	mov sp, x9
	ldr x16, [x2]
	br x16
	.size keeps_registers, .-keeps_registers
