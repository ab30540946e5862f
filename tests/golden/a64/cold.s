// A loop whose unlikely part stands in another section and comes back. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	w0, 8
	bl	hot
	bl	hot
	mov	x8, 93
	svc	0
	brk	1
	.size	_start, .-_start

	.type	hot, %function
hot:
	.cfi_startproc
	stp	x29, x30, [sp, -16]!
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	mov	w1, 0
1:	add	w1, w1, w0
	tbnz	w1, 5, hot.cold
.Lback:	subs	w0, w0, 1
	bne	1b
	ldp	x29, x30, [sp], 16
	ret
	.cfi_endproc
	.size	hot, .-hot

	.section .text.unlikely,"ax",%progbits
	.type	hot.cold, %function
hot.cold:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	.cfi_offset 29, -16
	.cfi_offset 30, -8
	eor	w1, w1, 7
	cbz	w1, 1f
	b	.Lback
1:	brk	1000
	.cfi_endproc
	.size	hot.cold, .-hot.cold
