// Hand-written functions of shapes that compilers make rarely, but may. shapes.c knows their counts.
	.text

	.macro	begin name
	.globl	\name
	.type	\name, %function
	.p2align 2
\name:
	.endm

	.macro	done name
	.size	\name, . - \name
	.endm

// (n, 0): the first instruction is a loop's header.
	begin	shape_header
	add	x1, x1, x0
	subs	x0, x0, #1
	b.ne	shape_header
	mov	x0, x1
	ret
	done	shape_header

// (n): a loop of two instructions.
	begin	shape_tight
1:	subs	x0, x0, #1
	b.ne	1b
	ret
	done	shape_tight

// (n): three back edges by different instructions, two exits.
	begin	shape_backs
	mov	x2, #0
1:	add	x2, x2, #3
	subs	x0, x0, #1
	b.eq	3f
	tbnz	x0, #0, 1b
	add	x2, x2, #5
	tbz	x0, #1, 1b
	eor	x2, x2, #0xff
	cmp	x2, #1000
	b.hi	2f
	cbnz	x0, 1b
2:	add	x2, x2, #1
3:	mov	x0, x2
	ret
	done	shape_backs

// (n): the test comes first and is the header; the body may not run at all.
	begin	shape_while
	mov	x2, #7
	b	2f
1:	madd	x2, x2, x0, x0
	sub	x0, x0, #1
2:	cbnz	x0, 1b
	mov	x0, x2
	ret
	done	shape_while

// (n): inner and outer loop share their header.
	begin	shape_shared
	mov	x2, #0
1:	add	x2, x2, x0
	sub	x0, x0, #1
	tst	x0, #3
	b.ne	1b
	add	x2, x2, #100
	cbnz	x0, 1b
	mov	x0, x2
	ret
	done	shape_shared

// (n, x): entered at two places.
	begin	shape_irreducible
	tbnz	x0, #0, 2f
1:	add	x1, x1, x1, lsl #2
2:	add	x1, x1, x0
	subs	x0, x0, #1
	b.pl	1b
	mov	x0, x1
	ret
	done	shape_irreducible

// (n): the carry lives around the back edge and across the exit.
	begin	shape_carry
	mov	x2, #0
	mov	x3, #0
	mov	x4, #-3
	cmn	xzr, xzr
1:	adcs	x2, x2, x4
	adc	x3, x3, xzr
	ror	x4, x4, #7
	sub	x0, x0, #1
	cbnz	x0, 1b
	adc	x2, x2, xzr
	eor	x0, x2, x3
	ret
	done	shape_carry

// (a, b): one comparison, four branches that live on its flags.
	begin	shape_flags
	cmp	x0, x1
	b.lt	1f
	b.eq	2f
	b.hi	3f
	mov	x0, #4
	ret
1:	b.lo	4f
	csetm	x0, vs
	ret
2:	cset	x0, cs
	ret
3:	cset	x0, ne
	add	x0, x0, #10
	ret
4:	cset	x0, mi
	add	x0, x0, #20
	ret
	done	shape_flags

// (n): all registers that a leaf may use, and the flags, live through a loop.
	begin	shape_registers
	mov	x1, #1
	mov	x2, #2
	mov	x3, #3
	mov	x4, #4
	mov	x5, #5
	mov	x6, #6
	mov	x7, #7
	mov	x8, #8
	mov	x9, #9
	mov	x10, #10
	mov	x11, #11
	mov	x12, #12
	mov	x13, #13
	mov	x14, #14
	mov	x15, #15
	mov	x16, #16
	mov	x17, #17
	cmp	x0, x0
1:	add	x1, x1, x17
	add	x2, x2, x1
	add	x3, x3, x2
	add	x4, x4, x3
	add	x5, x5, x4
	add	x6, x6, x5
	add	x7, x7, x6
	add	x8, x8, x7
	add	x9, x9, x8
	add	x10, x10, x9
	add	x11, x11, x10
	add	x12, x12, x11
	add	x13, x13, x12
	add	x14, x14, x13
	add	x15, x15, x14
	add	x16, x16, x15
	eor	x17, x17, x16
	sub	x0, x0, #1
	cbnz	x0, 1b
	cset	x0, eq
	add	x0, x0, x17
	add	x0, x0, x1
	ret
	done	shape_registers

// (n): all vector registers live through a loop, those that calls destroy included.
	begin	shape_vectors
	stp	d8, d9, [sp, #-64]!
	stp	d10, d11, [sp, #16]
	stp	d12, d13, [sp, #32]
	stp	d14, d15, [sp, #48]
	.irp	r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	movi	v\r\().16b, #\r
	.endr
1:
	.irp	r, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	add	v\r\().2d, v\r\().2d, v0.2d
	eor	v0.16b, v0.16b, v\r\().16b
	.endr
	sub	x0, x0, #1
	cbnz	x0, 1b
	umov	x0, v0.d[0]
	umov	x1, v0.d[1]
	eor	x0, x0, x1, ror #17
	ldp	d14, d15, [sp, #48]
	ldp	d12, d13, [sp, #32]
	ldp	d10, d11, [sp, #16]
	ldp	d8, d9, [sp], #64
	ret
	done	shape_vectors

// (x): the smallest functions, one behind the other.
	begin	shape_nothing
	ret
	done	shape_nothing
	begin	shape_after
	add	x0, x0, #1
	ret
	done	shape_after

// (x): conditional tail calls.
	begin	shape_cond_tail
	cbz	x0, shape_after
	cmp	x0, #5
	b.hi	shape_after
	tbnz	x0, #1, shape_after
	add	x0, x0, #100
	ret
	done	shape_cond_tail

// (x): addresses and data near the code.
	begin	shape_relative
	adr	x1, 1f
	ldr	x2, [x1]
	ldr	x3, 1f
	ldr	w4, 2f
	ldrsw	x5, 2f
	adrp	x6, shape_data
	ldr	x6, [x6, :lo12:shape_data]
	add	x0, x0, x2
	add	x0, x0, x3
	add	x0, x0, x4
	add	x0, x0, x5
	add	x0, x0, x6
	ldr	d0, 1f
	fmov	x1, d0
	add	x0, x0, x1
	ret
	.p2align 3
1:	.quad	0x123456789
2:	.word	0x80000001
	done	shape_relative

// (x): is protected; the return address is signed.
	begin	shape_signed
	hint	#25 // paciasp
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	bl	shape_after
	bl	shape_nothing
	ldp	x29, x30, [sp], #16
	hint	#29 // autiasp
	ret
	done	shape_signed

// (pointer, n, x): a loop of exclusive loads and stores inside a loop.
	begin	shape_exclusive
1:	ldaxr	x3, [x0]
	add	x3, x3, x2
	stlxr	w4, x3, [x0]
	cbnz	w4, 1b
	subs	x1, x1, #1
	b.ne	1b
	ret
	done	shape_exclusive

// (pointer, old, new): a compare and exchange that leaves in the middle.
	begin	shape_compare
1:	ldxr	x3, [x0]
	cmp	x3, x1
	b.ne	2f
	stxr	w4, x2, [x0]
	cbnz	w4, 1b
2:	mov	x0, x3
	ret
	done	shape_compare

// (x): the frame is used below the stack pointer's way back.
	begin	shape_frame
	stp	x29, x30, [sp, #-48]!
	mov	x29, sp
	stp	x19, x20, [sp, #16]
	mov	x19, x0
	mov	x20, #3
1:	add	x0, x0, x20
	bl	shape_after
	subs	x20, x20, #1
	b.ne	1b
	add	x0, x0, x19
	ldp	x19, x20, [sp, #16]
	ldp	x29, x30, [sp], #48
	ret
	done	shape_frame

// (n): a loop that indirect jumps enter, go round and leave: to its header and behind it, each leads
// from outside and from inside.
	begin	shape_dispatch
	mov	x1, #0
	adrp	x2, 9f
	add	x2, x2, :lo12:9f
	cmp	x0, #0
	cset	x3, ne
	cmp	x3, #1
	b.hi	2f
	ldrsw	x3, [x2, x3, lsl #2]
	add	x3, x2, x3
	br	x3
1:	add	x1, x1, x0
	add	x1, x1, #3
	subs	x0, x0, #1
	cset	x3, ne
	cmp	x3, #1
	b.hi	2f
	ldrsw	x3, [x2, x3, lsl #2]
	add	x3, x2, x3
	br	x3
2:	add	x0, x1, #1
	ret
	.section .rodata
	.p2align 2
9:	.word	2b - 9b, 1b - 9b
	.text
	done	shape_dispatch

	.data
	.p2align 3
	.globl	shape_data
shape_data:
	.quad	0x1111
	.section .note.GNU-stack, "", %progbits
