# Loop shapes: nested, two back edges on one header, irreducible, irreducible inside a loop, endless. ld: -no-pie
	.text
	.globl	_start
	.type	_start, @function
_start:	call	nested
	call	two_back_edges
	call	irreducible
	call	around_irreducible
	call	many_exits
	call	endless
	.size	_start, .-_start

	.type	nested, @function
nested:	xorl	%eax, %eax
1:	xorl	%ecx, %ecx
2:	xorl	%edx, %edx
3:	incl	%edx
	cmpl	%edi, %edx
	jl	3b
	incl	%ecx
	cmpl	%edi, %ecx
	jl	2b
	incl	%eax
	cmpl	%edi, %eax
	jl	1b
	ret
	.size	nested, .-nested

	.type	two_back_edges, @function
two_back_edges:
1:	decl	%edi
	js	9f
	testb	$1, %dil
	je	1b
	addl	%edi, %eax
	jmp	1b
9:	ret
	.size	two_back_edges, .-two_back_edges

	.type	irreducible, @function
irreducible:
	testb	$1, %dil
	je	2f
1:	addl	$3, %eax
2:	decl	%edi
	jne	1b
	ret
	.size	irreducible, .-irreducible

	.type	around_irreducible, @function
around_irreducible:
	movl	$5, %esi
1:	testb	$2, %sil
	je	3f
2:	addl	$3, %eax
3:	decl	%edi
	jne	2b
4:	decl	%eax
	jne	4b
	decl	%esi
	jne	1b
	ret
	.size	around_irreducible, .-around_irreducible

	.type	many_exits, @function
many_exits:
1:	decl	%edi
	js	7f
	cmpl	$77, %edi
	je	8f
	cmpl	$99, %edi
	jne	1b
	movl	$99, %eax
7:	ret
8:	xorl	%eax, %eax
	ret
	.size	many_exits, .-many_exits

	.type	endless, @function
endless:
	pause
	jmp	endless
	.size	endless, .-endless
