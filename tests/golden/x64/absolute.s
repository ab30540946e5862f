# Jump tables of absolute addresses, as in code linked at a fixed place. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	direct
	call	loaded
	ret
	.size	_start, .-_start

	.type	direct, @function
direct:
	cmpl	$3, %edi
	ja	9f
	movl	%edi, %edi
	jmp	*.Ldirect(,%rdi,8)
.L1:	movl	$1, %eax
	ret
.L2:	movl	$2, %eax
	ret
.L3:	movl	$3, %eax
9:	ret
	.size	direct, .-direct

	.type	loaded, @function
loaded:
	cmpq	$2, %rdi
	ja	9f
	movq	.Lloaded(,%rdi,8), %rax
	jmp	*%rax
.L4:	movl	$4, %eax
	ret
.L5:	movl	$5, %eax
9:	ret
	.size	loaded, .-loaded

	.section .rodata
	.balign	8
.Ldirect:
	.quad	.L1, .L2, .L3, .L1
.Lloaded:
	.quad	.L4, .L5, .L4
