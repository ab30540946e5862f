# Computed gotos of functions that are found only after pointers are taken for starts: without symbols, labels are
# found first. With the frame in place their jumps are no calls. ld: -pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	*table(%rip)
	ret
	.size	_start, .-_start

	.type	interpret, @function
interpret:
	pushq	%rbx
	movq	%rdi, %rsi
	leaq	labels(%rip), %rdx
	movzbl	(%rsi), %ecx
	incq	%rsi
	jmp	*(%rdx,%rcx,8)
.Lstop:	popq	%rbx
	ret
.Lror:	movzbl	(%rsi), %ecx
	rorq	$61, %rdi
	incq	%rsi
	jmp	*(%rdx,%rcx,8)
.Lcall:	call	leaf
	movzbl	(%rsi), %ecx
	incq	%rsi
	jmp	*(%rdx,%rcx,8)
.Ladd:	movzbl	(%rsi), %ecx
	addq	$5, %rdi
	testl	%ecx, %ecx
	je	.Lror
	incq	%rsi
	jmp	*(%rdx,%rcx,8)
	.size	interpret, .-interpret

# Behind the labels, in data too, but no label: it returns without taking a frame down.
	.type	alone, @function
alone:	subq	$7, %rdi
	ret
	.size	alone, .-alone

	.type	leaf, @function
leaf:	incq	%rdi
	ret
	.size	leaf, .-leaf

# One dispatch for all, behind the labels.
	.type	shared, @function
shared:	pushq	%rbx
	movq	%rdi, %rsi
	leaq	shared_labels(%rip), %rdx
	jmp	.Lnext
.Linc:	incq	%rdi
	jmp	.Lnext
.Ldec:	decq	%rdi
	jmp	.Lnext
.Lend:	popq	%rbx
	ret
.Lnext:	movzbl	(%rsi), %ecx
	incq	%rsi
	jmp	*(%rdx,%rcx,8)
	.size	shared, .-shared

# No label either: it sets up a frame.
	.type	framed, @function
framed:
	pushq	%rbx
	movq	%rdi, %rbx
	call	leaf
	popq	%rbx
	ret
	.size	framed, .-framed

# A table of functions, with the frame taken down: calls.
	.type	tail, @function
tail:	andl	$1, %ecx
	leaq	handlers(%rip), %rdx
	jmp	*(%rdx,%rcx,8)
	.size	tail, .-tail

	.type	first, @function
first:	imulq	%rdi, %rdi
	jmp	leaf
	.size	first, .-first

	.type	second, @function
second:	xorq	$1, %rdi
	jmp	leaf
	.size	second, .-second

	.type	run, @function
run:	pushq	%rbp
	movq	%rsp, %rbp
	call	interpret
	call	shared
	call	tail
	popq	%rbp
	ret
	.size	run, .-run

	# As in glibc's __syscall_cancel_arch, an untyped symbol inside a function with a size is a label. Elsewhere it is a function.
	.globl	cancellable_start, cancellable_end, untyped
	.type	cancellable, @function
cancellable:
	movl	(%rdi), %eax
cancellable_start:
	testl	%eax, %eax
	jne	1f
	syscall
cancellable_end:
	ret
1:	xorl	%eax, %eax
	ret
	.size	cancellable, .-cancellable
untyped:
	ret

	.section .data.rel.ro,"aw"
	.balign	8
labels:	.quad	.Ladd, .Lcall, .Lror, .Lstop
	.quad	alone
shared_labels:
	.quad	.Linc, .Ldec, .Lend, .Linc
	.quad	framed
handlers:
	.quad	first, second
table:	.quad	run
