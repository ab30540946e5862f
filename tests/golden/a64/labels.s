// Computed gotos of functions that are found only after pointers are taken for starts: without symbols, labels are
// found first. With the frame in place their jumps are no calls. ld: -pie
	.text
	.globl	_start
	.type	_start, %function
_start:	adrp	x1, table
	ldr	x0, [x1, :lo12:table]
	blr	x0
	ret
	.size	_start, .-_start

	.type	interpret, %function
interpret:
	str	x30, [sp, -16]!
	mov	x2, x0
	adrp	x3, labels
	add	x3, x3, :lo12:labels
	ldrb	w1, [x2], 1
	ldr	x1, [x3, x1, lsl 3]
	br	x1
.Lstop:	ldr	x30, [sp], 16
	ret
.Lror:	ldrb	w1, [x2]
	ror	x0, x0, 61
	add	x2, x2, 1
	ldr	x1, [x3, x1, lsl 3]
	br	x1
.Lcall:	bl	leaf
	ldrb	w1, [x2], 1
	ldr	x1, [x3, x1, lsl 3]
	br	x1
.Ladd:	ldrb	w1, [x2]
	add	x0, x0, 5
	cbz	w1, .Lror
	add	x2, x2, 1
	ldr	x1, [x3, x1, lsl 3]
	br	x1
	.size	interpret, .-interpret

// Behind the labels, in data too, but no label: it returns without taking a frame down.
	.type	alone, %function
alone:	sub	x0, x0, 7
	ret
	.size	alone, .-alone

	.type	leaf, %function
leaf:	add	x0, x0, 1
	ret
	.size	leaf, .-leaf

// One dispatch for all, behind the labels.
	.type	shared, %function
shared:	str	x30, [sp, -16]!
	mov	x2, x0
	adrp	x3, shared_labels
	add	x3, x3, :lo12:shared_labels
	b	.Lnext
.Linc:	add	x0, x0, 1
	b	.Lnext
.Ldec:	sub	x0, x0, 1
	b	.Lnext
.Lend:	ldr	x30, [sp], 16
	ret
.Lnext:	ldrb	w1, [x2], 1
	ldr	x1, [x3, x1, lsl 3]
	br	x1
	.size	shared, .-shared

// No label either: it sets up a frame.
	.type	framed, %function
framed:
	stp	x29, x30, [sp, -16]!
	bl	leaf
	ldp	x29, x30, [sp], 16
	ret
	.size	framed, .-framed

// A table of functions, with the frame taken down: calls.
	.type	tail, %function
tail:	and	x1, x1, 1
	adrp	x3, handlers
	add	x3, x3, :lo12:handlers
	ldr	x1, [x3, x1, lsl 3]
	br	x1
	.size	tail, .-tail

	.type	first, %function
first:	mul	x0, x0, x0
	b	leaf
	.size	first, .-first

	.type	second, %function
second:	eor	x0, x0, 1
	b	leaf
	.size	second, .-second

	.type	run, %function
run:	stp	x29, x30, [sp, -16]!
	mov	x29, sp
	bl	interpret
	bl	shared
	bl	tail
	ldp	x29, x30, [sp], 16
	ret
	.size	run, .-run

	// As in glibc's __syscall_cancel_arch, an untyped symbol inside a function with a size is a label. Elsewhere it is a function.
	.globl	cancellable_start, cancellable_end, untyped
	.type	cancellable, %function
cancellable:
	ldr	w0, [x0]
cancellable_start:
	cbnz	w0, 1f
	svc	0
cancellable_end:
	ret
1:	mov	w0, 0
	ret
	.size	cancellable, .-cancellable
untyped:
	ret

	.section .data.rel.ro,"aw"
	.balign	8
labels:	.xword	.Ladd, .Lcall, .Lror, .Lstop
	.xword	alone
shared_labels:
	.xword	.Linc, .Ldec, .Lend, .Linc
	.xword	framed
handlers:
	.xword	first, second
table:	.xword	run
