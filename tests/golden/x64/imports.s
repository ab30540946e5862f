# A shared object that calls through its PLT and has an indirect function. ld: -shared -z now
	.text
	.globl	entry
	.type	entry, @function
entry:	subq	$8, %rsp
1:	call	puts@plt
	call	chosen@plt
	testl	%eax, %eax
	jne	1b
	addq	$8, %rsp
	jmp	exit@plt
	.size	entry, .-entry

	.globl	chosen
	.type	chosen, @gnu_indirect_function
chosen:	leaq	first(%rip), %rax
	ret
	.size	chosen, .-chosen

	.type	first, @function
first:	xorl	%eax, %eax
	ret
	.size	first, .-first
