/* The system calls of the C library, found by a scan and taken from the cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "isa/calls.h"
#include "probe/code/call_sites.h"

static char folder[] = "/tmp/test-calls-XXXXXX";

static int set_up(void **state)
{
	static struct module *m;
	Dl_info libc;
	struct err e;
	if (!mkdtemp(folder) || !dladdr((void *)(uintptr_t)abort, &libc) ||
	    module_open(&m, libc.dli_fname, &e))
		return -1;
	setenv("XDG_CACHE_HOME", folder, 1);
	*state = m;
	return 0;
}

/* Removes the files in the cache, and returns how many there were. */
static unsigned clear_cache(void)
{
	char path[512];
	unsigned count = 0;
	snprintf(path, sizeof(path), "%s/sonde", folder);
	DIR *d = opendir(path);
	for (struct dirent *x; d && (x = readdir(d));) {
		if (x->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/sonde/%s", folder, x->d_name);
		count += unlink(path) == 0;
	}
	if (d)
		closedir(d);
	return count;
}

static int tear_down(void **state)
{
	char path[64];
	clear_cache();
	snprintf(path, sizeof(path), "%s/sonde", folder);
	rmdir(path);
	rmdir(folder);
	module_close(*state);
	return 0;
}

/* What the scan must find, byte by byte. */
static void find_naively(call_sites *out, const struct module *m, const struct arch *arch)
{
	const struct arch_calls *k = arch_calls(arch);
	for (uint32_t i = 0; i < m->section_count; i++) {
		const struct section *s = &m->sections[i];
		for (uint64_t at = 0; s->execute && s->in_file && at + k->insn_size <= s->size;
		     at += arch->insn_align) {
			size_t n;
			const uint8_t *p = module_at(m, s->va + at, k->insn_size, &n);
			if (p && n == k->insn_size && !memcmp(p, k->insn, n))
				vec_push(out, s->va + at);
		}
	}
}

static void check_same(const call_sites *a, const call_sites *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->data, b->data, a->len * sizeof(*a->data));
}

static void all_calls_are_found(void **state)
{
	const struct module *m = *state;
	const struct arch *arch = arch_of_machine(m->machine);
	call_sites naive = {0}, scanned = {0}, cached = {0};
	find_naively(&naive, m, arch);
	assert_true(naive.len > 100);
	call_sites_find(&scanned, m, arch);
	check_same(&naive, &scanned);
	call_sites_find(&cached, m, arch);
	check_same(&naive, &cached);
	assert_int_equal(clear_cache(), 1);
	vec_free(&naive);
	vec_free(&scanned);
	vec_free(&cached);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(all_calls_are_found)};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
