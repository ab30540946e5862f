/* Replaces a function of its own by overwriting its beginning, puts it back, and generates code.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define KEEP __attribute__((noinline, noclone, aligned(64)))

KEEP int answer(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += i ^ 5;
		__asm__ volatile("" : "+r"(sum));
	}
	return sum;
}

/* Returns 77. */
#ifdef __aarch64__
static const uint32_t code[] = {0x528009a0, 0xd65f03c0};
#else
static const uint8_t code[] = {0xb8, 77, 0, 0, 0, 0xc3};
#endif

static void put(void *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	__builtin___clear_cache((char *)to, (char *)to + size);
}

int main(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char saved[sizeof(code)], *own = (char *)(uintptr_t)answer;
	char *start = own - (uintptr_t)own % page;
	char *made = mmap(NULL, page, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int (*generated)(int);
	printf("%d\n", answer(10));
	if (made == MAP_FAILED || mprotect(start, page, PROT_READ | PROT_WRITE | PROT_EXEC))
		return 1;
	memcpy(saved, own, sizeof(saved));
	put(own, code, sizeof(code));
	printf("%d\n", answer(10));
	put(own, saved, sizeof(saved));
	printf("%d\n", answer(10));
	put(made, code, sizeof(code));
	memcpy(&generated, &made, sizeof(generated));
	printf("%d\n", generated(10));
	return 9;
}
