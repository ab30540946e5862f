# ld: -e _start
# A switch over an enumeration: no check guards it, so nothing but the table's contents tells where it ends. Values that
# cannot be lead behind the last instruction; other numbers follow, which seem to lead into the middle of blocks.
	.text
	.globl	_start
	.type	_start, @function
_start:
	movzbl	(%rdi), %eax
	leaq	table(%rip), %rcx
	movslq	(%rcx,%rax,4), %rax
	addq	%rcx, %rax
	jmp	*%rax
.Lone:	movl	$1, %eax
	addl	%esi, %eax
	ret
.Ltwo:	movl	$2, %eax
	addl	%esi, %eax
.Lthree: addl	%edx, %eax	# two goes on here
	addl	%ecx, %eax
	ret
.Lfour:	movl	$4, %eax
	addl	%r8d, %eax
	addl	%r9d, %eax
	ret
.Lend:
	.size	_start, .-_start

	.section .rodata, "a"
	.p2align 2
table:	.long	.Lthree - table
	.long	.Lend - table
	.long	.Lone - table
	.long	.Ltwo - table
	.long	.Lend - table
	.long	.Lfour - table
	.long	.Lone - table
	.long	.Lone + 5 - table
	.long	.Ltwo + 5 - table
	.long	.Lfour + 8 - table
	.long	.Lone + 7 - table
	.long	0
