# Computed gotos through label addresses in relocated data. ld: -pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	interpret
	call	merged
	call	anywhere
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

# Ways with a dispatch of their own meet before the jump.
	.type	merged, @function
merged:
	leaq	codes(%rip), %rdx
	testl	%esi, %esi
	je	1f
	movzbl	(%rdi), %eax
	movq	(%rdx,%rax,8), %rcx
	jmp	2f
1:	movzbl	1(%rdi), %eax
	movq	(%rdx,%rax,8), %rcx
2:	incq	%rdi
	jmp	*%rcx
.Lone:	incl	%esi
	jmp	1b
.Ltwo:	movl	%esi, %eax
	ret
	.size	merged, .-merged

# Not by a table. What is in data may be a label, also of the cold part; but not in the middle of an instruction.
	.type	anywhere, @function
anywhere:
	pushq	%rbx
	movq	(%rdi), %rax
	addq	%rsi, %rax
	testl	%esi, %esi
	je	.Lcold
	jmp	*%rax
.Lhere:	movl	$1234567, %eax
	popq	%rbx
	ret
	.size	anywhere, .-anywhere

	# A table on the stack, indexed by an or: with the frame in place the jump is no tail call.
	.type	local, @function
local:	subq	$24, %rsp
	leaq	.Leven(%rip), %rax
	movq	%rax, (%rsp)
	leaq	.Lodd(%rip), %rax
	movq	%rax, 8(%rsp)
	movq	%rsp, %rcx
	andl	$1, %edi
	shlq	$3, %rdi
	orq	%rcx, %rdi
	jmp	*(%rdi)
.Leven:	movl	$2, %eax
	addq	$24, %rsp
	ret
.Lodd:	movl	$1, %eax
	addq	$24, %rsp
	ret
	.size	local, .-local
	.section .text.unlikely,"ax"
	.type	anywhere.cold, @function
anywhere.cold:
.Lcold:	movl	$7, %eax
	popq	%rbx
	ret
.Lthere: movl	$8, %eax
	popq	%rbx
	ret
	.size	anywhere.cold, .-anywhere.cold

	.section .data.rel.ro,"aw"
	.balign	8
	.type	labels, @object
labels:	.quad	.Ladd, .Lsub, .Lhalt
	.size	labels, .-labels
	.type	codes, @object
codes:	.quad	.Lone, .Ltwo
	.size	codes, .-codes
	.quad	.Lhere, .Lhere + 1, .Lthere
