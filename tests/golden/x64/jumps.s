# ld: -e _start
# Functions that go to another frame than their caller's, and some that only look so. Without call frame information.
	.text
	.globl _start
	.type _start, @function
_start:
	call jump_back
	call jump_back_by_memory
	call change_context
	call push_context
	call change_coroutine
	call loses_stack
	call keeps_registers
	hlt
	.size _start, .-_start

	# The caller is on the stack until that is left.
	.type jump_back, @function
jump_back:
	mov 48(%rdi), %r8
	mov 8(%rdi), %r9
	mov 56(%rdi), %rdx
	ror $17, %rdx
	mov (%rdi), %rbx
	mov 16(%rdi), %r12
	mov 24(%rdi), %r13
	mov 32(%rdi), %r14
	mov 40(%rdi), %r15
	mov %esi, %eax
	mov %r8, %rsp
	mov %r9, %rbp
	jmp *%rdx
	.size jump_back, .-jump_back

	# Where it goes is never in a register.
	.type jump_back_by_memory, @function
jump_back_by_memory:
	mov (%rdi), %rbx
	mov 8(%rdi), %rbp
	mov 16(%rdi), %r12
	mov 24(%rdi), %r13
	mov 32(%rdi), %r14
	mov 40(%rdi), %r15
	mov 48(%rdi), %rsp
	jmp *56(%rdi)
	.size jump_back_by_memory, .-jump_back_by_memory

	# Pushes where it goes on the new stack.
	.type change_context, @function
change_context:
	mov 160(%rdi), %rsp
	mov 128(%rdi), %rbx
	mov 120(%rdi), %rbp
	mov 72(%rdi), %r12
	mov 80(%rdi), %r13
	mov 88(%rdi), %r14
	mov 96(%rdi), %r15
	mov 168(%rdi), %rcx
	push %rcx
	mov 112(%rdi), %rsi
	mov 152(%rdi), %rcx
	mov 104(%rdi), %rdi
	ret
	.size change_context, .-change_context

	# The same straight from memory: known only once it is there.
	.type push_context, @function
push_context:
	mov 160(%rdi), %rsp
	mov 128(%rdi), %rbx
	mov 120(%rdi), %rbp
	mov 72(%rdi), %r12
	mov 80(%rdi), %r13
	mov 88(%rdi), %r14
	mov 96(%rdi), %r15
	push 168(%rdi)
	mov 104(%rdi), %rdi
	ret
	.size push_context, .-push_context

	# All is on the new stack.
	.type change_coroutine, @function
change_coroutine:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp, (%rdi)
	mov (%rsi), %rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
	.size change_coroutine, .-change_coroutine

	# A stack pointer that is lost, and a call in tail position.
	.type loses_stack, @function
loses_stack:
	mov (%rdi), %rsp
	mov (%rsi), %rax
	jmp *%rax
	.size loses_stack, .-loses_stack

	# A frame of unknown size that is never left.
	.type keeps_registers, @function
keeps_registers:
	push %rbp
	mov %rsp, %rbp
	sub %rdi, %rsp
	mov %rsp, %r9
	sub %rsi, %r9
	mov %r9, %rsp
	mov (%rdx), %rax
	jmp *%rax
	.size keeps_registers, .-keeps_registers
