// Jump tables in the forms that gcc and clang emit. ld: -pie
	.text
	.globl	_start
	.type	_start, %function
_start:	bl	gcc_byte
	bl	gcc_half
	bl	gcc_word
	bl	clang_byte
	bl	clang_half
	bl	clang_word
	bl	in_loop
	bl	masked
	ret
	.size	_start, .-_start

// Bytes: distance in instructions from a label, signed.
	.type	gcc_byte, %function
gcc_byte:
	cmp	w0, 4
	bhi	9f
	adrp	x1, .Lbytes
	add	x1, x1, :lo12:.Lbytes
	ldrb	w1, [x1, w0, uxtw]
	adr	x0, .Lbytes_base
	add	x1, x0, w1, sxtb 2
	br	x1
.Lbytes_base:
1:	mov	w0, 1
	ret
2:	mov	w0, 2
	ret
3:	mov	w0, 3
	ret
4:	mov	w0, 4
9:	ret
	.size	gcc_byte, .-gcc_byte

	.type	gcc_half, %function
gcc_half:
	sub	w0, w0, 10
	cmp	w0, 3
	bhi	9f
	adrp	x1, .Lhalves
	add	x1, x1, :lo12:.Lhalves
	ldrh	w1, [x1, w0, uxtw 1]
	adr	x0, .Lhalves_base
	add	x1, x0, w1, sxth 2
	br	x1
.Lhalves_base:
1:	mov	w0, 1
	ret
2:	mov	w0, 2
	ret
3:	mov	w0, 3
9:	ret
	.size	gcc_half, .-gcc_half

	.type	gcc_word, %function
gcc_word:
	cmp	w0, 2
	bhi	9f
	adrp	x1, .Lwords
	add	x1, x1, :lo12:.Lwords
	ldr	w1, [x1, w0, uxtw 2]
	adr	x0, .Lwords_base
	add	x1, x0, w1, sxtw 2
	br	x1
.Lwords_base:
1:	mov	w0, 1
	ret
2:	mov	w0, 2
9:	ret
	.size	gcc_word, .-gcc_word

	.type	clang_byte, %function
clang_byte:
	cmp	w0, #3
	b.hi	9f
	mov	w8, w0
	adrp	x9, .Lclang_bytes
	add	x9, x9, :lo12:.Lclang_bytes
	adr	x10, .Lclang_bytes_base
	ldrb	w11, [x9, x8]
	add	x10, x10, x11, lsl #2
	br	x10
.Lclang_bytes_base:
1:	mov	w0, #1
	ret
2:	mov	w0, #2
	ret
3:	mov	w0, #3
9:	ret
	.size	clang_byte, .-clang_byte

	.type	clang_half, %function
clang_half:
	subs	w8, w0, #5
	b.lo	9f
	cmp	w8, #2
	b.hi	9f
	adrp	x9, .Lclang_halves
	add	x9, x9, :lo12:.Lclang_halves
	adr	x10, .Lclang_halves_base
	ldrh	w11, [x9, x8, lsl #1]
	add	x10, x10, x11, lsl #2
	br	x10
.Lclang_halves_base:
1:	mov	w0, #1
	ret
2:	mov	w0, #2
9:	ret
	.size	clang_half, .-clang_half

	.type	clang_word, %function
clang_word:
	cmp	w0, #2
	b.hi	9f
	mov	w8, w0
	adrp	x9, .Lclang_words
	add	x9, x9, :lo12:.Lclang_words
	ldrsw	x10, [x9, x8, lsl #2]
	add	x9, x9, x10
	br	x9
1:	mov	w0, #1
	ret
2:	mov	w0, #2
	ret
3:	mov	w0, #3
9:	ret
	.size	clang_word, .-clang_word

// A switch in a loop: the guard stands in front, the cases go back to the test.
	.type	in_loop, %function
in_loop:
	mov	w2, 0
.Lnext:	cmp	w2, w0
	beq	9f
	and	w3, w2, 3
	add	w2, w2, 1
	cmp	w3, 2
	bhi	.Lnext
	adrp	x1, .Lloop_bytes
	add	x1, x1, :lo12:.Lloop_bytes
	ldrb	w1, [x1, w3, uxtw]
	adr	x4, .Lloop_base
	add	x1, x4, w1, sxtb 2
	br	x1
.Lloop_base:
1:	add	w5, w5, 1
	b	.Lnext
2:	lsl	w5, w5, 1
	b	.Lnext
3:	mvn	w5, w5
	b	.Lnext
9:	mov	w0, w5
	ret
	.size	in_loop, .-in_loop

// No compare: the mask bounds the index.
	.type	masked, %function
masked:
	and	w0, w0, 3
	adrp	x1, .Lmasked
	add	x1, x1, :lo12:.Lmasked
	ldrb	w1, [x1, w0, uxtw]
	adr	x0, .Lmasked_base
	add	x1, x0, w1, sxtb 2
	br	x1
.Lmasked_base:
1:	mov	w0, 1
	ret
2:	mov	w0, 2
	ret
3:	mov	w0, 3
	ret
4:	mov	w0, 4
	ret
	.size	masked, .-masked

	.section .rodata
.Lbytes:
	.byte	0, 2, 4, 6, 2
	.balign	2
.Lhalves:
	.2byte	0, 2, 4, 0
	.balign	4
.Lwords:
	.word	0, 2, 0
.Lclang_bytes:
	.byte	0, 2, 4, 0
	.balign	2
.Lclang_halves:
	.hword	0, 2, 0
	.balign	4
.Lclang_words:
	.word	clang_word + 32 - .Lclang_words
	.word	clang_word + 40 - .Lclang_words
	.word	clang_word + 48 - .Lclang_words
.Lloop_bytes:
	.byte	0, 2, 4
.Lmasked:
	.byte	0, 2, 4, 6
