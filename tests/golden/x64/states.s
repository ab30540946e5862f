# ld: -e _start
# A state machine: its first state is fixed, the others follow from the input, and no check guards the table. As long as
# nothing but the first state is known, its code seems to be the only one there is.
	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%r11d, %r11d
	leaq	table(%rip), %rdx
	jmp	.Lnext
.Lwhile: cmpl	$3, %r11d
	je	.Lout
.Lnext:	movzbl	(%rdi), %r10d
	incq	%rdi
	movl	%r11d, %r11d
	movslq	(%rdx,%r11,4), %r11
	addq	%rdx, %r11
	jmp	*%r11
.Lfirst: cmpl	$97, %r10d
	movl	$0, %r11d
	adcl	$1, %r11d
	jmp	.Lwhile
.Lword:	incl	%eax
	xorl	%r11d, %r11d
	testl	%r10d, %r10d
	sete	%r11b
	leal	(%r11,%r11,2), %r11d
	jmp	.Lwhile
.Lskip:	cmpb	$104, (%rdi)
	jae	.Lafter
	incq	%rdi
	jmp	.Lskip
.Lafter: movl	$1, %r11d
	jmp	.Lwhile
.Lout:	ret
	.size	_start, .-_start

	.section .rodata, "a"
	.p2align 2
table:	.long	.Lfirst - table
	.long	.Lword - table
	.long	.Lskip - table
