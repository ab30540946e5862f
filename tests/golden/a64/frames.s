// ld: -e _start
// Stack frames of every shape, without call frame information.
	.text
	.globl _start
	.type _start, %function
_start:
	mov x29, #0
	mov x30, #0
	bl pairs
	bl variable
	bl aligned
	bl probing
	bl signed
	bl large
	bl link_in_register
	bl two_exits
	udf #0
	.size _start, .-_start

	.type leaf, %function
leaf:
	add x0, x0, #1
	ret
	.size leaf, .-leaf

	.type pairs, %function
pairs:
	stp x29, x30, [sp, #-48]!
	mov x29, sp
	stp x19, x20, [sp, #16]
	str x21, [sp, #32]
	mov x19, x0
	bl leaf
	ldr x21, [sp, #32]
	ldp x19, x20, [sp, #16]
	ldp x29, x30, [sp], #48
	ret
	.size pairs, .-pairs

	.type variable, %function
variable:
	stp x29, x30, [sp, #-32]!
	mov x29, sp
	str x19, [sp, #16]
	sub sp, sp, x0
	bl leaf
	mov sp, x29
	ldr x19, [sp, #16]
	ldp x29, x30, [sp], #32
	ret
	.size variable, .-variable

	.type aligned, %function
aligned:
	stp x29, x30, [sp, #-16]!
	mov x29, sp
	sub x9, sp, #240
	and sp, x9, #0xffffffffffffffc0
	bl leaf
	mov sp, x29
	ldp x29, x30, [sp], #16
	ret
	.size aligned, .-aligned

// The stack is touched page by page.
	.type probing, %function
probing:
	sub x9, sp, #16, lsl #12
1:	sub sp, sp, #1, lsl #12
	str xzr, [sp]
	cmp sp, x9
	b.ne 1b
	str x30, [sp, #-16]!
	bl leaf
	ldr x30, [sp], #16
	add sp, sp, #16, lsl #12
	ret
	.size probing, .-probing

	.type signed, %function
signed:
	paciasp
	stp x29, x30, [sp, #-16]!
	bl leaf
	ldp x29, x30, [sp], #16
	autiasp
	ret
	.size signed, .-signed

	.type large, %function
large:
	mov x16, #0x20000
	sub sp, sp, x16
	stp x29, x30, [sp]
	stp d8, d9, [sp, #16]
	bl leaf
	ldp d8, d9, [sp, #16]
	ldp x29, x30, [sp]
	mov x16, #0x20000
	add sp, sp, x16
	ret
	.size large, .-large

	.type link_in_register, %function
link_in_register:
	mov x15, x30
	add x0, x0, #1
	ret x15
	.size link_in_register, .-link_in_register

	.type two_exits, %function
two_exits:
	cbz x0, 1f
	stp x19, x30, [sp, #-16]!
	mov x19, x0
	bl leaf
	ldp x19, x30, [sp], #16
	b leaf
1:	ret
	.size two_exits, .-two_exits

	// Raises an exception as gcc 14 compiles it: an exit of its own leads to another frame. The functions
	// that it calls before may have changed the frame record.
	.type raises, %function
raises:
	stp x29, x30, [sp, #-32]!
	mov x29, sp
	stp x0, x1, [sp, #16]
	mov x4, #0
	cbz x0, 1f
3:	bl leaf
	cbnz x0, 3b
	mov x5, x0
	mov x6, x1
	mov x4, #1
1:	ldp x29, x30, [sp]
	ldp x0, x1, [sp, #16]
	add sp, sp, #32
	cbz x4, 2f
	add sp, sp, x5
	br x6
2:	ret
	.size raises, .-raises
