# What probes ask of the code: registers that nobody reads, and places where points are. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	movl	$1, %r9d
	call	scratch
	leaq	scratch(%rip), %r10
	call	*%r10
	movl	$60, %eax
	syscall
	hlt
	.size	_start, .-_start

	# r9 and the flags are used up at the return; r10 is overwritten on one way only.
	.type	scratch, @function
scratch:
	endbr64
	movq	(%rdi), %r9
	cmpq	$1, %r9
	je	1f
	movl	$2, %r10d
	addq	%r10, %rax
1:	addq	%r9, %rax
	ret
	.size	scratch, .-scratch

	# Brings r9 back, so its caller may rely on it.
	.type	preserves, @function
preserves:
	pushq	%r9
	movq	(%rdi), %r9
	addq	%r9, %rax
	popq	%r9
	ret
	.size	preserves, .-preserves

	# Leaves a value in r11, and one in the flags.
	.type	leaves, @function
leaves:	movq	(%rdi), %r9
	leaq	1(%r9), %r11
	cmpq	%r9, %rax
	ret
	.size	leaves, .-leaves

	# Takes a value in r11: what else does it do?
	.type	odd, @function
odd:	movq	(%rdi), %r9
	leaq	(%r9,%r11), %rax
	ret
	.size	odd, .-odd

	# The callee overwrites r11 first.
	.type	through, @function
through:
	call	veneer
	jmp	veneer
	.size	through, .-through

	.type	veneer, @function
veneer:	leaq	scratch(%rip), %r11
	jmp	*%r11
	.size	veneer, .-veneer

	# Parts of registers and of the flags; a shift that may be by zero.
	.type	parts, @function
parts:	movb	$1, %r10b
	movl	%edi, %ecx
	shll	%cl, %esi
	incl	%esi
	movl	$0, %esi
	setc	%al
	movzbl	%r10b, %eax
	ret
	.size	parts, .-parts

	# Others jump behind the first system call.
	.type	system, @function
system:	testq	%rdi, %rdi
	je	1f
	syscall
1:	movl	$64, %eax
	syscall
	cmpq	$-4095, %rax
	ret
	.size	system, .-system

	# The entry is a loop's header behind its landing instruction.
	.type	header, @function
header:	endbr64
	decq	%rdi
	jne	header
	ret
	.size	header, .-header

	# Leaves two loops and the function at once.
	.type	leaver, @function
leaver:	endbr64
1:	movl	$10, %esi
2:	subl	$1, %esi
	je	scratch
	testl	$1, %esi
	jne	2b
	testq	%rdi, %rdi
	jne	1b
	ret
	.size	leaver, .-leaver

	# Goes on with the outer loop from within the inner one.
	.type	continues, @function
continues:
	movl	$10, %esi
1:	decq	%rdi
2:	decl	%esi
	testl	$8, %esi
	je	1b
	testl	%esi, %esi
	jne	2b
	testq	%rdi, %rdi
	jne	1b
	ret
	.size	continues, .-continues
