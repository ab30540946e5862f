# Registers that values are passed in so that nobody can tell between whom. ld: -no-pie
	.intel_syntax noprefix
	.text
	.globl	_start
	.type	_start, @function
_start:	lea	r10, [rip + table]
	jmp	[r10]
	.size	_start, .-_start

	# Only a pointer leads here: r10 comes from wherever that is used.
	.type	handler, @function
handler:
	mov	rax, [r10 + 8]
	ret
	.size	handler, .-handler

	# A value survives a call of something unknown.
	.type	over, @function
over:	push	rbx
	mov	r11d, 2
	call	rsi
	add	rax, r11
	pop	rbx
	ret
	.size	over, .-over

	.data
table:	.quad	handler
