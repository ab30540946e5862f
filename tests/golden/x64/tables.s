# Jump tables in the forms that gcc and clang emit for position-independent code. ld: -pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	gcc_pic
	call	gcc_offset
	call	clang_pic
	call	in_loop
	call	masked
	ret
	.size	_start, .-_start

	.type	gcc_pic, @function
gcc_pic:
	endbr64
	cmpl	$4, %edi
	ja	9f
	leaq	.Lgcc(%rip), %rdx
	movl	%edi, %edi
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	notrack jmp	*%rax
.L1:	movl	$1, %eax
	ret
.L2:	movl	$2, %eax
	ret
.L3:	movl	$3, %eax
	ret
.L4:	movl	$4, %eax
9:	ret
	.size	gcc_pic, .-gcc_pic

	.type	gcc_offset, @function
gcc_offset:
	subl	$10, %edi
	cmpb	$3, %dil
	ja	9f
	leaq	.Loffset(%rip), %rdx
	movzbl	%dil, %edi
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
.L5:	movl	$5, %eax
	ret
.L6:	movl	$6, %eax
	ret
.L7:	movl	$7, %eax
9:	ret
	.size	gcc_offset, .-gcc_offset

	.type	clang_pic, @function
clang_pic:
	decl	%edi
	cmpl	$2, %edi
	ja	9f
	leaq	.Lclang(%rip), %rax
	movslq	(%rax,%rdi,4), %rcx
	addq	%rax, %rcx
	jmpq	*%rcx
.L10:	movl	$10, %eax
	retq
.L11:	movl	$11, %eax
	retq
.L12:	movl	$12, %eax
9:	retq
	.size	clang_pic, .-clang_pic

# A switch in a loop: the guard stands in front, the cases go back to the test.
	.type	in_loop, @function
in_loop:
	xorl	%ecx, %ecx
.Lnext:	cmpl	%edi, %ecx
	je	9f
	movl	%ecx, %edx
	andl	$3, %edx
	incl	%ecx
	cmpl	$2, %edx
	ja	.Lnext
	leaq	.Lloop(%rip), %rsi
	movslq	(%rsi,%rdx,4), %rdx
	addq	%rsi, %rdx
	jmp	*%rdx
.L20:	incl	%eax
	jmp	.Lnext
.L21:	shll	$1, %eax
	jmp	.Lnext
.L22:	notl	%eax
	jmp	.Lnext
9:	ret
	.size	in_loop, .-in_loop

# No compare: the mask bounds the index.
	.type	masked, @function
masked:
	andl	$3, %edi
	leaq	.Lmask(%rip), %rdx
	movslq	(%rdx,%rdi,4), %rax
	addq	%rdx, %rax
	jmp	*%rax
.L30:	movl	$30, %eax
	ret
.L31:	movl	$31, %eax
	ret
.L32:	movl	$32, %eax
	ret
.L33:	movl	$33, %eax
	ret
	.size	masked, .-masked

# The index is what a loop counted, which is asked from inside of that.
	.type	counted, @function
counted:
	pushq	%rbx
	leaq	.Lcounted(%rip), %rbx
1:	xorl	%eax, %eax
2:	addq	$1, %rax
	movzbl	(%rdi,%rax), %edx
	testb	%dl, %dl
	je	3f
	cmpb	$61, %dl
	jne	2b
4:	subq	$2, %rax
	cmpq	$3, %rax
	ja	1b
	movslq	(%rbx,%rax,4), %rax
	addq	%rbx, %rax
	jmp	*%rax
3:	cmpb	$9, %cl
	jne	1b
	jmp	4b
.L40:	movl	$40, %eax
	popq	%rbx
	ret
.L41:	incq	%rdi
	jmp	1b
	.size	counted, .-counted

	.section .rodata
	.balign	4
.Lgcc:
	.long	.L1-.Lgcc, .L2-.Lgcc, .L3-.Lgcc, .L4-.Lgcc, .L2-.Lgcc
.Loffset:
	.long	.L5-.Loffset, .L6-.Loffset, .L7-.Loffset, .L5-.Loffset
.Lclang:
	.long	.L10-.Lclang, .L11-.Lclang, .L12-.Lclang
.Lloop:
	.long	.L20-.Lloop, .L21-.Lloop, .L22-.Lloop
.Lmask:
	.long	.L30-.Lmask, .L31-.Lmask, .L32-.Lmask, .L33-.Lmask
.Lcounted:
	.long	.L40-.Lcounted, .L41-.Lcounted, .L41-.Lcounted, .L40-.Lcounted
