# A loop whose unlikely part stands in another section and comes back. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	movl	$8, %edi
	call	hot
	call	hot
	movl	$60, %eax
	syscall
	hlt
	.size	_start, .-_start

	.type	hot, @function
hot:
	.cfi_startproc
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	xorl	%ebx, %ebx
1:	addl	%edi, %ebx
	testb	$32, %bl
	jne	hot.cold
.Lback:	decl	%edi
	jne	1b
	popq	%rbx
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size	hot, .-hot

	.section .text.unlikely,"ax",@progbits
	.type	hot.cold, @function
hot.cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	xorl	$7, %ebx
	je	1f
	jmp	.Lback
1:	ud2
	.cfi_endproc
	.size	hot.cold, .-hot.cold
