# A restartable sequence, which the kernel knows by its address, its abort handler in another function, and a function that calls it. ld: -e adds
	.text
	.globl	adds
	.type	adds, @function
adds:
	push	%rbx
1:	call	sequence
	test	%eax, %eax
	jne	1b
	pop	%rbx
	ret
	.size	adds, .-adds

	.globl	sequence
	.type	sequence, @function
sequence:
	lea	descriptor(%rip), %rdx
	mov	%rdx, 8(%rdi)
1:	mov	4(%rdi), %ecx
	mov	(%rsi,%rcx,8), %rax
	inc	%rax
	mov	%rax, (%rsi,%rcx,8)
2:	xor	%eax, %eax
	ret
	.size	sequence, .-sequence
	.byte	0x0f, 0xb9, 0x3d
	.long	0x53053053

	.globl	aborted
	.type	aborted, @function
aborted:
	mov	$1, %eax
	ret
	.size	aborted, .-aborted

	.section __rseq_cs, "aw"
	.balign	32
descriptor:
	.long	0, 0
	.quad	1b, 2b - 1b, aborted
