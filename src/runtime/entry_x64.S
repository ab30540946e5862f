/* The runtime's entry points for x86-64.
 *
 * A probe has skipped the red zone and saved rax, and calls with the argument in rax. The other
 * registers are saved below that, as struct probe_frame of machine.h. The stack may have any alignment.
 * Flags are saved by lahf and seto, which is twenty cycles faster than popf. They omit some flags,
 * such as the direction flag; C code that is compiled for general registers only neither changes
 * nor depends on those. */
#define FRAME 136
#include "entry_table.S"

	.text
	/* Leaves rt_hit()'s arguments in place. */
	.macro	save
	lea	-FRAME(%rsp), %rsp
	mov	%rcx, 8(%rsp)
	mov	%rdx, 16(%rsp)
	mov	%rbx, 24(%rsp)
	mov	%rbp, 40(%rsp)
	mov	%rsi, 48(%rsp)
	mov	%rdi, 56(%rsp)
	mov	%r8, 64(%rsp)
	mov	%r9, 72(%rsp)
	mov	%r10, 80(%rsp)
	mov	%r11, 88(%rsp)
	mov	%r12, 96(%rsp)
	mov	%r13, 104(%rsp)
	mov	%r14, 112(%rsp)
	mov	%r15, 120(%rsp)
	mov	%rax, %rdi
	lahf
	seto	%al
	mov	%rax, 128(%rsp)
	mov	FRAME + 8(%rsp), %rcx /* the program's rax, and rsp above the red zone */
	lea	FRAME + 16 + 128(%rsp), %rdx
	mov	%rcx, (%rsp)
	mov	%rdx, 32(%rsp)
	mov	%rsp, %rsi
	mov	%rsp, %rbp
	and	$-16, %rsp
	.endm

	.macro	restore
	mov	%rbp, %rsp
	mov	128(%rsp), %rax
	add	$0x7f, %al /* sets the overflow flag if the program had it set */
	sahf
	mov	8(%rsp), %rcx
	mov	16(%rsp), %rdx
	mov	40(%rsp), %rbp
	mov	48(%rsp), %rsi
	mov	56(%rsp), %rdi
	mov	64(%rsp), %r8
	mov	72(%rsp), %r9
	mov	80(%rsp), %r10
	mov	88(%rsp), %r11
	.endm

	.balign	64
hit:
	save
	call	rt_hit
	restore
	lea	FRAME(%rsp), %rsp
	ret

	/* The function's result is returned in rax. */
	.macro	result function
	call	\function
	mov	%rax, (%rbp)
	restore
	mov	(%rsp), %rax
	lea	FRAME(%rsp), %rsp
	ret
	.endm

	.balign	16
find:
	save
	result	rt_find

	/* The program's stack pointer is above its rax: isa/emit.h. */
	.macro	counting name, function
	.balign	16
\name:
	save
	mov	FRAME + 16(%rsi), %rsi
	result	\function
	.endm

	counting called, rt_called
	counting returned, rt_returned
	counting landed, rt_landed
	counting tripped, rt_tripped

	.balign	16
remote:
	syscall
	mov	$15, %eax /* rt_sigreturn */
	syscall

	.balign	16
	/* The byte sequence that unwinders recognise. */
restorer:
	mov	$15, %rax
	syscall

	.section .note.GNU-stack, "", %progbits
