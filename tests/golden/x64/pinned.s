# A system call that a signal handler knows by its address, and who passes calls on to it. ld: -e passes
	.text
	.globl	passes
	.type	passes, @function
passes:
	sub	$8, %rsp
	test	%r9, %r9
	jne	1f
	mov	%rcx, %r8
	mov	%rdx, %rcx
	mov	%rsi, %rdx
	mov	%rdi, %rsi
	lea	flag(%rip), %rdi
	call	pinned
	jmp	2f
1:	mov	%rdi, %rax
	syscall
2:	add	$8, %rsp
	ret
	.size	passes, .-passes

	.globl	pinned
	.type	pinned, @function
pinned:
	mov	(%rdi), %eax
	testb	$8, (%rdi)
	jne	1f
	mov	%rsi, %rax
	mov	%rdx, %rdi
	mov	%rcx, %rsi
	mov	%r8, %rdx
	syscall
	ret
1:	mov	$-125, %rax
	ret
	.size	pinned, .-pinned

	.bss
flag:	.zero	4
