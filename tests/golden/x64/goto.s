# Computed gotos through label addresses in relocated data. ld: -pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	interpret
	ret
	.size	_start, .-_start

	.type	interpret, @function
interpret:
	leaq	labels(%rip), %rdx
	movzbl	(%rdi), %eax
	incq	%rdi
	jmp	*(%rdx,%rax,8)
.Ladd:	incl	%ecx
	movzbl	(%rdi), %eax
	incq	%rdi
	jmp	*(%rdx,%rax,8)
.Lsub:	decl	%ecx
	movzbl	(%rdi), %eax
	incq	%rdi
	jmp	*(%rdx,%rax,8)
.Lhalt:	movl	%ecx, %eax
	ret
	.size	interpret, .-interpret

	.section .data.rel.ro,"aw"
	.balign	8
	.type	labels, @object
labels:	.quad	.Ladd, .Lsub, .Lhalt
	.size	labels, .-labels
