// Loop shapes: nested, two back edges on one header, irreducible, irreducible inside a loop, endless. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	bl	nested
	bl	two_back_edges
	bl	irreducible
	bl	around_irreducible
	bl	many_exits
	bl	endless
	.size	_start, .-_start

	.type	nested, %function
nested:	mov	w1, 0
1:	mov	w2, 0
2:	mov	w3, 0
3:	add	w3, w3, 1
	cmp	w3, w0
	blt	3b
	add	w2, w2, 1
	cmp	w2, w0
	blt	2b
	add	w1, w1, 1
	cmp	w1, w0
	blt	1b
	ret
	.size	nested, .-nested

	.type	two_back_edges, %function
two_back_edges:
1:	subs	w0, w0, 1
	bmi	9f
	tbz	w0, 0, 1b
	add	w1, w1, w0
	b	1b
9:	ret
	.size	two_back_edges, .-two_back_edges

	.type	irreducible, %function
irreducible:
	tbz	w0, 0, 2f
1:	add	w1, w1, 3
2:	subs	w0, w0, 1
	bne	1b
	ret
	.size	irreducible, .-irreducible

	.type	around_irreducible, %function
around_irreducible:
	mov	w4, 5
1:	tbz	w4, 1, 3f
2:	add	w1, w1, 3
3:	subs	w0, w0, 1
	bne	2b
4:	subs	w1, w1, 1
	bne	4b
	subs	w4, w4, 1
	bne	1b
	ret
	.size	around_irreducible, .-around_irreducible

	.type	many_exits, %function
many_exits:
1:	subs	w0, w0, 1
	bmi	7f
	cmp	w0, 77
	beq	8f
	cmp	w0, 99
	bne	1b
	mov	w0, 99
7:	ret
8:	mov	w0, 0
	ret
	.size	many_exits, .-many_exits

	.type	endless, %function
endless:
	wfe
	b	endless
	.size	endless, .-endless
