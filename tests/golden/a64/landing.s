// A loop whose call may throw; the handler goes on with the loop. ld: -shared
	.text
	.globl	catches
	.type	catches, %function
catches:
	.cfi_startproc
	.cfi_personality 0x9b, DW.ref.personality
	.cfi_lsda 0x1b, .Llsda
	stp	x29, x30, [sp, -32]!
	.cfi_def_cfa_offset 32
	.cfi_offset 29, -32
	.cfi_offset 30, -24
	str	x19, [sp, 16]
	.cfi_offset 19, -16
	mov	w19, w0
1:	cbz	w19, 9f
	sub	w19, w19, 1
.Lcall:	bl	may_throw
.Lcall_end:
	b	1b
9:	ldr	x19, [sp, 16]
	ldp	x29, x30, [sp], 32
	ret
.Lpad:	bl	__cxa_begin_catch
	bl	__cxa_end_catch
	b	1b
	.cfi_endproc
	.size	catches, .-catches

	.section .gcc_except_table,"a",%progbits
	.balign	4
.Llsda:	.byte	0xff
	.byte	0x9b
	.uleb128 .Ltypes-.Ltypes_base
.Ltypes_base:
	.byte	1
	.uleb128 .Lsites_end-.Lsites
.Lsites:
	.uleb128 .Lcall-catches
	.uleb128 .Lcall_end-.Lcall
	.uleb128 .Lpad-catches
	.uleb128 1
.Lsites_end:
	.byte	1
	.byte	0
	.balign	4
	.4byte	0
.Ltypes:

	.data
	.balign	8
	.hidden	DW.ref.personality
DW.ref.personality:
	.xword	__gxx_personality_v0
