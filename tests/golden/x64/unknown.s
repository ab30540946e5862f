# ld: -e _start
# Code that no known path leads to.
	.text
	.globl _start
	.type _start, @function
_start:
	call dead_tail
	call dead_restart
	call dead_between
	call by_table
	call by_pointer
	call before_switch
	hlt
	.size _start, .-_start

	# Leads to the loop, into the middle of its block.
	.type dead_tail, @function
dead_tail:
	mov $0, %eax
1:	add $1000, %eax
2:	imul $1000, %eax, %eax
	add $1000, %edi
	jne 1b
	mov $5, %ecx
	ret
	nop
	nop
	nop
	test %esi, %esi
	je 1b
	jmp 2b
	.size dead_tail, .-dead_tail

	# Leads to the entry: that is one like others.
	.type dead_restart, @function
dead_restart:
	mov $0, %eax
1:	add $1000, %eax
	add $1000, %edi
	jne 1b
	ret
	inc %eax
	jmp dead_restart
	.size dead_restart, .-dead_restart

	# Runs on into what follows. The padding before it is not ours: it may be a part of it.
	.type dead_between, @function
dead_between:
	test %edi, %edi
	je 1f
	ret
	nop
	nop
	nop
	nop
	inc %eax
1:	dec %edi
	jne 1b
	ret
	.size dead_between, .-dead_between

	# The table is closed: what follows it leads elsewhere.
	.type by_table, @function
by_table:
	lea .Ltable(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
.L1:	add $1000, %eax
	add $1000, %esi
	jne .L1
	ret
.L2:	mov $2, %eax
	ret
	test %eax, %eax
	jmp .L2
	.size by_table, .-by_table

	# Whoever jumps to places in memory may come to everything here.
	.type by_pointer, @function
by_pointer:
1:	add $1000, %edi
	jne 1b
	jmp *%rsi
	inc %eax
	jmp 1b
	.size by_pointer, .-by_pointer

	# Unknown code comes to the switch around the compare.
	.type before_switch, @function
before_switch:
	cmp $1, %edi
	ja 1f
2:	lea .Lswitch(%rip), %rdx
	movslq (%rdx,%rdi,4), %rax
	add %rdx, %rax
	jmp *%rax
1:	dec %esi
.L3:	dec %edx
	jne 1b
	ret
.L4:	mov $4, %eax
	ret
	inc %edi
	jmp 2b
	.size before_switch, .-before_switch

	.section .rodata
	.balign 4
.Ltable:
	.long .L1-.Ltable, .L2-.Ltable, .L1-.Ltable
	.long 0x7fffffff
.Lswitch:
	.long .L3-.Lswitch, .L4-.Lswitch
