/* Spares the search for leaks at the end of a test program where there can be none.
 *
 * LeakSanitizer walks every possible region of its allocator several times: with gcc on
 * aarch64, 4 s of CPU time at each exit, whatever the program did. Here blocks are counted:
 * if none is left of those that the program took, none has leaked, and LeakSanitizer need not look.
 * If any is left, it does as always, and knows leaked from kept. What is kept for good by others is
 * taken before the count begins (the shared libraries, the decoder's tables, the memory for names
 * of events) or given back before it is looked at (libc's buffers, environment and thread stacks).
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sanitizer/lsan_interface.h>

#include "isa/arch.h"
#include "sample/sampler.h"

/* The allocator calls these if they exist; gcc ships no header that has them. */
void __sanitizer_malloc_hook(const volatile void *p, size_t size);
void __sanitizer_free_hook(const volatile void *p);
/* glibc has it for memory checkers. */
__attribute__((weak)) void __libc_freeres(void);

enum { EARLY_MAX = 64 };

static _Atomic(const volatile void *) early[EARLY_MAX]; /* taken before the count began */
static bool counting;
static atomic_long blocks;

static bool replace_early(const volatile void *from, const volatile void *to)
{
	for (int i = 0; i < EARLY_MAX; i++)
		if (atomic_load_explicit(&early[i], memory_order_relaxed) == from) {
			atomic_store_explicit(&early[i], to, memory_order_relaxed);
			return true;
		}
	return false;
}

void __sanitizer_malloc_hook(const volatile void *p, size_t size)
{
	(void)size;
	if (p && (counting || !replace_early(NULL, p)))
		atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
}

void __sanitizer_free_hook(const volatile void *p)
{
	if (p && !replace_early(p, NULL))
		atomic_fetch_sub_explicit(&blocks, 1, memory_order_relaxed);
}

__attribute__((constructor)) static void begin(void)
{
	uint8_t code[16] = {0};
	struct insn in;
	struct event event;
	struct err e;
	arch_a64.decode(code, sizeof(code), 0, DECODE_FLOW, &in);
	arch_x64.decode(code, sizeof(code), 0, DECODE_FLOW, &in);
	event_find(&event, "cpu-clock", &e);
	counting = true;
}

const char *__lsan_default_options(void)
{
	return "leak_check_at_exit=0"; /* end() does it */
}

__attribute__((destructor)) static void end(void)
{
	if (__libc_freeres)
		__libc_freeres();
	if (atomic_load(&blocks))
		__lsan_do_leak_check();
}
