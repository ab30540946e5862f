// Data between and inside functions, with mapping symbols. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	ldr	x0, =0x123456789abcdef0
	ldr	w1, .Lconstant
	bl	after
	ret
.Lconstant:
	.word	0xffffffff
	.ltorg
	.size	_start, .-_start

	.type	table_in_text, %object
table_in_text:
	.word	1, 2, 3, 4, 0xd65f03c0
	.size	table_in_text, .-table_in_text

	.type	after, %function
after:	adr	x1, table_in_text
1:	ldr	w2, [x1], 4
	cbnz	w2, 1b
	ret
	.size	after, .-after
