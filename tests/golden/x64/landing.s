# A loop whose call may throw; the handler goes on with the loop. ld: -shared
	.text
	.globl	catches
	.type	catches, @function
catches:
	.cfi_startproc
	.cfi_personality 0x9b, DW.ref.personality
	.cfi_lsda 0x1b, .Llsda
	pushq	%rbx
	.cfi_def_cfa_offset 16
	.cfi_offset 3, -16
	movl	%edi, %ebx
1:	testl	%ebx, %ebx
	je	9f
	decl	%ebx
.Lcall:	call	may_throw@plt
.Lcall_end:
	jmp	1b
9:	popq	%rbx
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.Lpad:	.cfi_restore_state
	movq	%rax, %rdi
	call	__cxa_begin_catch@plt
	call	__cxa_end_catch@plt
	jmp	1b
	.cfi_endproc
	.size	catches, .-catches

	.section .gcc_except_table,"a",@progbits
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
	.quad	__gxx_personality_v0
