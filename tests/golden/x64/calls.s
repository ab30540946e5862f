# Tail calls, calls that do not return (declared nowhere), self recursion, code behind a call that does not
# return. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	movl	$3, %edi
	call	tail
	call	checks
	movl	$5, %edi
	call	recursive
	call	leave
	.size	_start, .-_start

	.type	leave, @function
leave:	movl	$60, %eax
	syscall
	ud2
	.size	leave, .-leave

# Ends in leave() on both ways, so it does not return either.
	.type	fails, @function
fails:	testl	%edi, %edi
	je	1f
	movl	$1, %edi
	jmp	leave
1:	movl	$2, %edi
	call	leave
	.size	fails, .-fails

	.type	checks, @function
checks:	pushq	%rbp
	movl	$10, %ecx
1:	testl	%edi, %edi
	je	2f
	decl	%ecx
	jne	1b
	popq	%rbp
	ret
2:	call	fails
	.size	checks, .-checks

	.type	tail, @function
tail:	cmpl	$1, %edi
	jle	1f
	jmp	helper
1:	jne	helper
	ret
	.size	tail, .-tail

	.type	helper, @function
helper:	jmp	*target(%rip)
	.size	helper, .-helper

# Jumps to its own start: a loop, not a call.
	.type	recursive, @function
recursive:
	testl	%edi, %edi
	je	1f
	decl	%edi
	jmp	recursive
1:	ret
	.size	recursive, .-recursive

	.data
	.balign	8
	.type	target, @object
target:	.quad	recursive
	.size	target, .-target
