// ld: -e _start
// Code that no known path leads to.
	.text
	.globl _start
	.type _start, @function
_start:
	bl dead_tail
	bl by_table
	bl by_pointer
	brk 0
	.size _start, .-_start

	// Leads to the loop, into the middle of its block, and back to the entry, like a caller.
	.type dead_tail, @function
dead_tail:
	mov w1, 0
1:	add w1, w1, w0
2:	mul w1, w1, w0
	subs w0, w0, 1
	b.ne 1b
	mov w0, w1
	ret
	cbz w2, 1b
	tbz w2, 3, 2b
	b dead_tail
	.size dead_tail, .-dead_tail

	// The table is closed: what follows it leads elsewhere.
	.type by_table, @function
by_table:
	adrp x2, .Ltable
	add x2, x2, :lo12:.Ltable
	ldrsw x0, [x2, x0, lsl 2]
	add x0, x0, x2
	br x0
.L1:	add w3, w3, 1
	subs w1, w1, 1
	b.ne .L1
	ret
.L2:	mov w0, 2
	ret
	mov w0, 3
	b .L2
	.size by_table, .-by_table

	// Whoever jumps to places in memory may come to everything here.
	.type by_pointer, @function
by_pointer:
1:	subs w0, w0, 1
	b.ne 1b
	br x1
	add w0, w0, 1
	b 1b
	.size by_pointer, .-by_pointer

	.section .rodata
	.balign 4
.Ltable:
	.long .L1-.Ltable, .L2-.Ltable, .L1-.Ltable
	.long 0x7fffffff
