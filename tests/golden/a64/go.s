// Made by Go, as a section tells, which passes values in all registers: no register is private. ld: -no-pie
	.text
	.globl	_start
	.type	_start, %function
_start:	mov	x8, 93
	svc	0
	.size	_start, .-_start

	.section .gopclntab, "a"
	.quad	0
