# Data between functions, and bytes that are no instructions. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	movq	constant(%rip), %rax
	call	after
	ret
	.size	_start, .-_start

	.type	constant, @object
constant:
	.quad	0x0606060606060606
	.size	constant, .-constant

	.type	after, @function
after:	leaq	constant(%rip), %rsi
1:	lodsl
	testl	%eax, %eax
	jne	1b
	ret
	.size	after, .-after
