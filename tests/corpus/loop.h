/* The truth of the loop corpus, written where it holds.
 *
 * LOOP(name, depth, flags...) stands on the line of the loop statement, first thing in its body; depth counts
 * the loops of the same source function. Built with -DMARK it plants one nop and records the nop's address
 * and the source line in the section .loopmark, in every copy of the body that the compiler makes: those
 * addresses are in the loop, whatever the optimiser did. Built without, it is nothing and the loop is
 * optimised freely. tests/corpus/check-loops reads both the section and the LOOP lines.
 *
 * Flags: maybe    the compiler may make the loop vanish even with the mark in it
 *        shared   has its header in common with the enclosing loop where the compiler sees fit
 *        multi    a dispatch loop: its machine loops may be several, on any of its lines
 *        irreducible  has several entries; at -O0 it must be reported so
 *        split    the compiler makes two nested loops of it
 *        tail     self recursion that becomes a loop; its line is any line of the function
 * Comments: MADE on lines whose loop the compiler makes up; BODY where a function begins inside another;
 *        END name on the last line of a loop made of gotos. */
#ifdef MARK
#define LOOP_TEXT(x) #x
#define LOOP_MARK(line)                                                                            \
	__asm__ inline volatile("661:\tnop\n\t.pushsection .loopmark,\"\"\n\t.8byte 661b, " LOOP_TEXT(line) "\n\t.popsection")
#define LOOP(name, depth, ...) LOOP_MARK(__LINE__)
#else
#define LOOP(name, depth, ...) ((void)0)
#endif

#define NOINLINE __attribute__((noinline))
#define INLINE   static inline __attribute__((always_inline))
