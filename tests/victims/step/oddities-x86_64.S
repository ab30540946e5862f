# Hand-written code with frames of its own making and no unwind information. Each function returns 2 * rdi + 1.
	.text

	.macro	begin name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.endm

	.macro	done name
	.size	\name, . - \name
	.endm

# A leaf that leaves all registers alone but rax.
	begin	odd_helper
	lea	1(%rdi,%rdi), %rax
	ret
	done	odd_helper

# A call of the next instruction, to learn the program counter.
	begin	odd_1
	call	1f
1:	pop	%rdx
	push	%rdx
	call	2f
2:	add	$8, %rsp
	call	odd_helper
	pop	%rdx
	ret
	done	odd_1

# Pushes and pops in the middle, around calls and on one of two paths.
	begin	odd_2
	push	%rbx
	test	%rdi, %rdi
	jz	1f
	push	%rdi
	push	$7
	call	odd_helper
	pop	%rdx
	pop	%rdi
	jmp	2f
1:	push	%r12
	push	%r13
	sub	$40, %rsp
	call	odd_helper
	add	$40, %rsp
	pop	%r13
	pop	%r12
2:	pop	%rbx
	ret
	done	odd_2

# The frame is made and taken down by lea, and filled through another register.
	begin	odd_3
	lea	-72(%rsp), %rsp
	mov	%rsp, %r11
	mov	%rbp, 64(%r11)
	mov	%r12, 56(%r11)
	lea	8(%rsp), %rbp
	mov	%rdi, %r12
	call	odd_helper
	mov	48(%rbp), %r12
	mov	56(%rbp), %rbp
	lea	72(%rsp), %rsp
	ret
	done	odd_3

# Subroutines inside, which use the frame around them; the second takes its return address off the stack.
	begin	odd_4
	sub	$24, %rsp
	mov	%rdi, (%rsp)
	call	1f
	call	2f
	add	$24, %rsp
	ret
1:	mov	8(%rsp), %rax
	add	%rax, %rax
	mov	%rax, 16(%rsp)
	ret
2:	pop	%rcx
	mov	8(%rsp), %rax
	inc	%rax
	jmp	*%rcx
	done	odd_4

# A frame of a size that only the caller knows, found again through rbp alone.
	begin	odd_5
	push	%rbp
	mov	%rsp, %rbp
	sub	%rsi, %rsp
	mov	%rdi, (%rsp)
	call	odd_helper
	sub	%rsi, %rsp
	leave
	ret
	done	odd_5

# Returns by an indirect jump.
	begin	odd_6
	push	%rbx
	call	odd_helper
	pop	%rbx
	pop	%rcx
	jmp	*%rcx
	done	odd_6

# The stack pointer waits in another register while the stack is realigned.
	begin	odd_7
	mov	%rsp, %r11
	and	$-64, %rsp
	mov	%rdi, -64(%rsp)
	sub	$64, %rsp
	mov	(%rsp), %rax
	lea	1(%rax,%rax), %rax
	mov	%r11, %rsp
	ret
	done	odd_7

# Pushes as often as the argument says; the frame is found through rbx.
	begin	odd_8
	push	%rbx
	mov	%rsp, %rbx
	lea	1(%rdi), %rcx
1:	push	%rcx
	dec	%rcx
	jnz	1b
	call	odd_helper
	mov	%rbx, %rsp
	pop	%rbx
	ret
	done	odd_8

	.section .note.GNU-stack, "", @progbits
