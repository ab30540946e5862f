# Hand-written functions of shapes that compilers make rarely, but may. shapes.c knows their counts.
	.text

	.macro	begin name
	.globl	\name
	.type	\name, @function
\name:
	.endm

	.macro	done name
	.size	\name, . - \name
	.endm

# (n, 0): the first instruction is a loop's header.
	begin	shape_header
	add	%rdi, %rsi
	dec	%rdi
	jne	shape_header
	mov	%rsi, %rax
	ret
	done	shape_header

# (n): a loop of two instructions.
	begin	shape_tight
	mov	%rdi, %rax
1:	dec	%rax
	jne	1b
	ret
	done	shape_tight

# (n): three back edges by different instructions, two exits.
	begin	shape_backs
	xor	%eax, %eax
1:	add	$3, %rax
	dec	%rdi
	je	3f
	test	$1, %dil
	jne	1b
	add	$5, %rax
	test	$2, %dil
	je	1b
	xor	$0xff, %rax
	cmp	$1000, %rax
	ja	2f
	test	%rdi, %rdi
	jne	1b
2:	inc	%rax
3:	ret
	done	shape_backs

# (n): the test comes first and is the header; the body may not run at all.
	begin	shape_while
	mov	$7, %eax
	jmp	2f
1:	imul	%rdi, %rax
	add	%rdi, %rax
	dec	%rdi
2:	test	%rdi, %rdi
	jne	1b
	ret
	done	shape_while

# (n): inner and outer loop share their header.
	begin	shape_shared
	xor	%eax, %eax
1:	add	%rdi, %rax
	dec	%rdi
	test	$3, %dil
	jne	1b
	add	$100, %rax
	test	%rdi, %rdi
	jne	1b
	ret
	done	shape_shared

# (n, x): entered at two places.
	begin	shape_irreducible
	mov	%rsi, %rax
	test	$1, %dil
	jne	2f
1:	lea	(%rax,%rax,4), %rax
2:	add	%rdi, %rax
	dec	%rdi
	jns	1b
	ret
	done	shape_irreducible

# (n): the carry lives around the back edge and across the exit.
	begin	shape_carry
	xor	%eax, %eax
	xor	%edx, %edx
	mov	$-3, %r8
	stc
1:	adc	%r8, %rax
	setc	%r9b
	adc	$0, %rdx
	lea	7(%r8,%r8,2), %r8
	bt	$0, %r9d
	lea	-1(%rdi), %rdi
	inc	%rdi
	dec	%rdi
	jne	1b
	adc	$0, %rax
	xor	%rdx, %rax
	ret
	done	shape_carry

# (a, b): one comparison, four branches that live on its flags.
	begin	shape_flags
	cmp	%rsi, %rdi
	jl	1f
	je	2f
	ja	3f
	mov	$4, %eax
	ret
1:	jb	4f
	seto	%al
	movzbl	%al, %eax
	neg	%rax
	ret
2:	setae	%al
	movzbl	%al, %eax
	ret
3:	setne	%al
	movzbl	%al, %eax
	add	$10, %rax
	ret
4:	sets	%al
	movzbl	%al, %eax
	add	$20, %rax
	ret
	done	shape_flags

# (n): all registers live through a loop, and what is below the stack pointer.
	begin	shape_registers
	push	%rbx
	push	%rbp
	push	%r12
	push	%r13
	push	%r14
	push	%r15
	movq	$77, -8(%rsp)
	movq	$78, -128(%rsp)
	mov	$1, %eax
	mov	$2, %ebx
	mov	$3, %ecx
	mov	$4, %edx
	mov	$5, %esi
	mov	$6, %ebp
	mov	$7, %r8d
	mov	$8, %r9d
	mov	$9, %r10d
	mov	$10, %r11d
	mov	$11, %r12d
	mov	$12, %r13d
	mov	$13, %r14d
	mov	$14, %r15d
1:	add	%r15, %rax
	add	%rax, %rbx
	add	%rbx, %rcx
	add	%rcx, %rdx
	add	%rdx, %rsi
	add	%rsi, %rbp
	add	%rbp, %r8
	add	%r8, %r9
	add	%r9, %r10
	add	%r10, %r11
	add	%r11, %r12
	add	%r12, %r13
	add	%r13, %r14
	xor	%r14, %r15
	add	-8(%rsp), %r15
	add	-128(%rsp), %r15
	dec	%rdi
	jne	1b
	add	%r15, %rax
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret
	done	shape_registers

# (n): all vector registers live through a loop.
	begin	shape_vectors
	mov	$1, %eax
	.irp	r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	movq	%rax, %xmm\r
	pshufd	$0, %xmm\r, %xmm\r
	lea	7(%rax,%rax), %rax
	.endr
1:
	.irp	r, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	paddq	%xmm0, %xmm\r
	pxor	%xmm\r, %xmm0
	.endr
	dec	%rdi
	jne	1b
	movq	%xmm0, %rax
	ret
	done	shape_vectors

# (x): the smallest functions, one behind the other without padding.
	begin	shape_nothing
	ret
	done	shape_nothing
	begin	shape_after
	lea	1(%rdi), %rax
	ret
	done	shape_after

# (x): conditional tail calls.
	begin	shape_cond_tail
	test	%rdi, %rdi
	je	shape_after
	cmp	$5, %rdi
	ja	shape_after
	test	$2, %dil
	jne	shape_after
	lea	100(%rdi), %rax
	ret
	done	shape_cond_tail

# (x): addresses and data relative to the instruction.
	begin	shape_relative
	lea	1f(%rip), %rax
	mov	(%rax), %rax
	add	1f(%rip), %rax
	add	shape_data(%rip), %rax
	addq	$1, shape_count(%rip)
	cmpl	$0x12345678, 1f(%rip)
	jne	2f
	inc	%rax
2:	movq	1f(%rip), %xmm0
	movq	%xmm0, %rcx
	add	%rcx, %rax
	add	%rdi, %rax
	ret
	.p2align 3
1:	.quad	0x123456789
	done	shape_relative

# (x): begins with a landing instruction.
	begin	shape_signed
	endbr64
	sub	$8, %rsp
	call	shape_after
	mov	%rax, %rdi
	call	shape_nothing
	add	$8, %rsp
	mov	%rdi, %rax
	ret
	done	shape_signed

# (n): loops by instructions that test and branch at once, with a reach of 127 bytes.
	begin	shape_short
	mov	%rdi, %rcx
	xor	%eax, %eax
1:	add	%rcx, %rax
	loop	1b
	mov	%rdi, %rcx
2:	jrcxz	3f
	dec	%rcx
	inc	%rax
	jmp	2b
3:	ret
	done	shape_short

# (pointer, n, x): a loop of atomic additions.
	begin	shape_exclusive
1:	lock	xadd %rdx, (%rdi)
	dec	%rsi
	jne	1b
	ret
	done	shape_exclusive

# (pointer, old, new)
	begin	shape_compare
	mov	%rsi, %rax
	lock	cmpxchg %rdx, (%rdi)
	ret
	done	shape_compare

# (x): calls in a loop, with a frame.
	begin	shape_frame
	push	%rbp
	mov	%rsp, %rbp
	push	%rbx
	push	%r12
	mov	%rdi, %r12
	mov	$3, %ebx
1:	add	%rbx, %rdi
	call	shape_after
	mov	%rax, %rdi
	dec	%ebx
	jne	1b
	lea	(%rdi,%r12), %rax
	pop	%r12
	pop	%rbx
	pop	%rbp
	ret
	done	shape_frame

# (n): a loop that indirect jumps enter, go round and leave: to its header and behind it, each leads
# from outside and from inside. The jump's target is in a register.
	begin	shape_dispatch
	xor	%eax, %eax
	lea	9f(%rip), %rdx
	xor	%ecx, %ecx
	test	%rdi, %rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	movslq	(%rdx,%rcx,4), %rcx
	add	%rdx, %rcx
	jmp	*%rcx
1:	lea	3(%rax,%rdi), %rax
	xor	%ecx, %ecx
	dec	%rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	movslq	(%rdx,%rcx,4), %rcx
	add	%rdx, %rcx
	jmp	*%rcx
2:	lea	1(%rax), %rax
	ret
	.section .rodata
	.p2align 2
9:	.long	2b - 9b, 1b - 9b
	.text
	done	shape_dispatch

# (n): the same with targets in memory.
	begin	shape_dispatch_far
	xor	%eax, %eax
	lea	9f(%rip), %rdx
	xor	%ecx, %ecx
	test	%rdi, %rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	jmp	*(%rdx,%rcx,8)
1:	lea	5(%rax,%rdi), %rax
	xor	%ecx, %ecx
	dec	%rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	jmp	*(%rdx,%rcx,8)
2:	lea	1(%rax), %rax
	xor	%r8d, %r8d
	ret
	.section .data.rel.ro, "aw"
	.p2align 3
9:	.quad	2b, 1b
	.text
	done	shape_dispatch_far

# (n): the same, and what follows needs the flags, every register and the red zone.
	begin	shape_dispatch_kept
	mov	%rdi, -8(%rsp)
	xor	%eax, %eax
	mov	$2, %esi
	mov	$3, %r8d
	mov	$5, %r9d
	mov	$7, %r10d
	mov	$11, %r11d
	lea	9f(%rip), %rdx
	xor	%ecx, %ecx
	test	%rdi, %rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	mov	(%rdx,%rcx,8), %rcx
	bt	$1, %rdi
	jmp	*%rcx
1:	adc	%rdi, %rax
	lea	(%rsi,%r8), %rsi
	xor	%ecx, %ecx
	dec	%rdi
	setne	%cl
	cmp	$1, %ecx
	ja	2f
	bt	$1, %rdi
	jmp	*(%rdx,%rcx,8)
2:	adc	-8(%rsp), %rax
	lea	(%rax,%rsi,2), %rax
	lea	(%rax,%r8,4), %rax
	lea	(%rax,%r9,8), %rax
	lea	(%rax,%r10,2), %rax
	lea	(%rax,%r11,4), %rax
	lea	(%rax,%rdi,8), %rax
	ret
	.section .data.rel.ro, "aw"
	.p2align 3
9:	.quad	2b, 1b
	.text
	done	shape_dispatch_kept

	.data
	.p2align 3
	.globl	shape_data
shape_data:
	.quad	0x1111
shape_count:
	.quad	0
	.section .note.GNU-stack, "", @progbits
