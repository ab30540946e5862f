# Registers that values are passed and kept in, in spite of all conventions, where the module itself can tell who does. ld: -no-pie
	.intel_syntax noprefix
	.text
	.globl	_start
	.type	_start, @function
_start:	call	plain
	call	keeps
	call	passes
	call	gets
	call	saves
	call	catches
	mov	eax, 60
	syscall
	.size	_start, .-_start

	# Uses all for itself.
	.type	plain, @function
plain:	mov	r10d, 1
	lea	r11, [rip]
	cmp	rdi, r10
	je	1f
	add	rax, r11
1:	ret
	.size	plain, .-plain

	# Keeps r11 over two calls, of which one is over the other; not over that which destroys it.
	.type	keeps, @function
keeps:	push	rbx
	mov	r11d, 1
	call	through
	call	leaf
	add	rax, r11
	mov	r11d, 2
	call	plain
	pop	rbx
	ret
	.size	keeps, .-keeps

	.type	through, @function
through:
	push	rbx
	call	further
	pop	rbx
	jmp	last
	.size	through, .-through

	.type	further, @function
further:
	add	rax, 1
	ret
	.size	further, .-further

	.type	last, @function
last:	test	rdi, rdi
	je	1f
	ret
1:	push	rbx
	call	fails
	.size	last, .-last

	.type	leaf, @function
leaf:	ret
	.size	leaf, .-leaf

	# Does not come back, so it need not keep anything.
	.type	fails, @function
fails:	ud2
	.size	fails, .-fails

	# Passes r10, the static chain, by way of another.
	.type	passes, @function
passes:	lea	r10, [rsp - 8]
	call	hands_on
	ret
	.size	passes, .-passes

	.type	hands_on, @function
hands_on:
	push	rbx
	call	takes
	pop	rbx
	ret
	.size	hands_on, .-hands_on

	.type	takes, @function
takes:	test	rdi, rdi
	je	1f
	mov	rax, [r10]
1:	ret
	.size	takes, .-takes

	# Gets the carry and r10 back.
	.type	gets, @function
gets:	push	rbx
	call	compares
	inc	rbx
	jb	1f
	call	returns
	mov	rax, r10
1:	pop	rbx
	ret
	.size	gets, .-gets

	.type	compares, @function
compares:
	cmp	rdi, 1
	ret
	.size	compares, .-compares

	.type	returns, @function
returns:
	call	leaf
	mov	r10d, 1
	ret
	.size	returns, .-returns

	# r11 has a value on the way on which it is read, as only the compiler knows.
	.type	correlated, @function
correlated:
	test	rdi, rdi
	je	1f
	mov	r11d, 1
1:	test	rdi, rdi
	je	2f
	add	rax, r11
2:	ret
	.size	correlated, .-correlated

	# Of what is merged into, only what was set is used.
	.type	merges, @function
merges:	dec	rdi
	jne	1f
	bt	rdi, 3
	jc	1f
	shl	rdi, cl
	or	r11, -1
1:	test	rdi, rdi
	sete	r10b
	movzx	eax, r10b
	ret
	.size	merges, .-merges

	# The pushes only make room. The system call takes no argument in r10.
	.type	aligns, @function
aligns:	push	r11
	call	leaf
	push	r10
	call	leaf
	pop	r10
	mov	eax, 39
	syscall
	pop	r10
	ret
	.size	aligns, .-aligns

	# These save and bring back.
	.type	saves, @function
saves:	push	r10
	mov	r10, [rdi]
	add	rax, r10
	pop	r10
	ret
	.size	saves, .-saves

	# Sets r10 for a system call, but not for this one.
	.type	asks, @function
asks:	test	rdi, rdi
	jne	1f
	mov	eax, 39
	syscall
	ret
1:	mov	r10, rcx
	mov	eax, 16
	syscall
	ret
	.size	asks, .-asks

	# Jumps into the middle of another one, where r11 is read.
	.type	intrudes, @function
intrudes:
	mov	r11d, 3
	jmp	middle
	.size	intrudes, .-intrudes

	.type	intruded, @function
intruded:
	mov	r11d, 1
middle:	add	rax, r11
	ret
	.size	intruded, .-intruded

	# Nothing is known where it jumps; but it reads r11, which it keeps over a call, in code that
	# nothing leads to.
	.type	catches, @function
catches:
	push	rbx
	mov	r11d, 1
	mov	rax, [rdi]
	add	rax, rsi
	jmp	rax
	call	kept_there
	add	rax, r11
	pop	rbx
	ret
	.size	catches, .-catches

	.type	kept_there, @function
kept_there:
	ret
	.size	kept_there, .-kept_there

	# Keeps xmm14 over a call, and passes xmm15, as compilers do that know what they call.
	.type	keeps_vector, @function
keeps_vector:
	movq	xmm14, rdi
	movq	xmm15, rsi
	call	takes_vector
	addpd	xmm0, xmm14
	ret
	.size	keeps_vector, .-keeps_vector

	.type	takes_vector, @function
takes_vector:
	addpd	xmm0, xmm15
	movapd	xmm13, xmm0
	ret
	.size	takes_vector, .-takes_vector

	# Sets r11 for a function that it jumps to after a call.
	.type	prepares, @function
prepares:
	mov	r11, rdx
	call	between
	test	rax, rax
	je	starts
	xor	r11d, r11d
	jmp	between_not
	.size	prepares, .-prepares

	.type	starts, @function
starts:	call	r11
	ud2
	.size	starts, .-starts

	.type	between, @function
between:
	jmp	below
	.size	between, .-between

	.type	below, @function
below:	ret
	.size	below, .-below

	.type	between_not, @function
between_not:
	ret
	.size	between_not, .-between_not
