# ld: -e _start
# Stack frames of every shape, without call frame information.
	.text
	.globl _start
	.type _start, @function
_start:
	xor %ebp, %ebp
	call pushes
	call frame_pointer
	call variable
	call aligned
	call probing
	call where_am_i
	call red_zone
	call other_register
	call two_exits
	hlt
	.size _start, .-_start

	.type pushes, @function
pushes:
	push %rbx
	push %r12
	sub $40, %rsp
	mov %rdi, %rbx
	call leaf
	add $40, %rsp
	pop %r12
	pop %rbx
	ret
	.size pushes, .-pushes

	.type leaf, @function
leaf:
	lea 1(%rdi), %rax
	ret
	.size leaf, .-leaf

	.type frame_pointer, @function
frame_pointer:
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub $24, %rsp
	call leaf
	mov -8(%rbp), %rbx
	leave
	ret
	.size frame_pointer, .-frame_pointer

	.type variable, @function
variable:
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub %rdi, %rsp
	and $-16, %rsp
	call leaf
	lea -8(%rbp), %rsp
	pop %rbx
	pop %rbp
	ret
	.size variable, .-variable

# What gcc makes of over-aligned locals together with a variable frame.
	.type aligned, @function
aligned:
	lea 8(%rsp), %r10
	and $-64, %rsp
	push -8(%r10)
	push %rbp
	mov %rsp, %rbp
	push %r12
	push %r10
	push %rbx
	sub $104, %rsp
	call leaf
	add $104, %rsp
	pop %rbx
	pop %r10
	pop %r12
	pop %rbp
	lea -8(%r10), %rsp
	ret
	.size aligned, .-aligned

# The stack is touched page by page.
	.type probing, @function
probing:
	lea -65536(%rsp), %r11
1:	sub $4096, %rsp
	orq $0, (%rsp)
	cmp %r11, %rsp
	jne 1b
	sub $24, %rsp
	call leaf
	add $65560, %rsp
	ret
	.size probing, .-probing

	.type where_am_i, @function
where_am_i:
	push %rbx
	call 1f
1:	pop %rbx
	mov %rbx, %rax
	pop %rbx
	ret
	.size where_am_i, .-where_am_i

	.type red_zone, @function
red_zone:
	mov %rbx, -8(%rsp)
	mov %rdi, %rbx
	lea (%rbx,%rbx), %rax
	mov -8(%rsp), %rbx
	ret
	.size red_zone, .-red_zone

	.type other_register, @function
other_register:
	push %rbx
	mov %rsp, %rbx
	and $-64, %rsp
	sub $512, %rsp
	call leaf
	mov %rbx, %rsp
	pop %rbx
	ret
	.size other_register, .-other_register

	.type two_exits, @function
two_exits:
	test %rdi, %rdi
	je 1f
	push %rbp
	push %rbx
	push %rax
	mov %rdi, %rbx
	call leaf
	pop %rdx
	pop %rbx
	pop %rbp
	jmp leaf
1:	ret
	.size two_exits, .-two_exits
