# A function that only a tail call leads to, behind one whose end is not known at first, and with a part of its own that
# was split off. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	movl	$8, %edi
	call	before
	call	passes_on
	movl	$60, %eax
	syscall
	hlt
	.size	_start, .-_start

	.type	before, @function
before:	leal	1(%rdi), %eax
	ret
	.size	before, .-before

	.p2align 4
	.type	taken, @function
taken:	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rbx
	movl	%edi, %ebx
	testl	%esi, %esi
	je	1f
	call	before
	addl	%ebx, %eax
	popq	%rbx
	popq	%rbp
	ret
1:	imull	$1000003, %ebx, %ebx
	addl	$1000033, %ebx
	xorl	$1000037, %ebx
	jmp	taken.cold
	.size	taken, .-taken

	.p2align 4
	.type	passes_on, @function
passes_on:
	movl	$3, %esi
	jmp	taken
	.size	passes_on, .-passes_on

	.section .text.unlikely,"ax",@progbits
	.type	taken.cold, @function
taken.cold:
	movl	%ebx, %edi
	call	before
	ud2
	.size	taken.cold, .-taken.cold
