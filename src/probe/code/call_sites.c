#include "probe/code/call_sites.h"

#include <string.h>

#include "base/hashmap.h"
#include "flow/entry.h"
#include "isa/calls.h"
#include "module/cache_file.h"
#include "module/lazy_file.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 3 };

enum {
	SMALL_MODULE = 1 << 20, /* bytes of a module that is not worth a file */
	PIECE = 1 << 20,        /* bytes that are in memory at a time */
};

static const char magic[8] = "sondesys";

/*  head | sites  */
struct call_head {
	char magic[8];
	uint64_t checksum; /* of the sites, and of the key */
	uint64_t key, count;
};

static bool is_set(const atomic_bool *stop)
{
	return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

static bool is_worth_it(const struct module *m)
{
	return m->build_id.size && m->size >= SMALL_MODULE;
}

static struct cache_name name_of(const struct module *m)
{
	const uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), m->size};
	return cache_name("calls", &m->build_id, parts, ARRAY_SIZE(parts));
}

static uint64_t checksum(uint64_t key, const call_sites *s)
{
	return hash_bytes(s->data, s->len * sizeof(*s->data), key);
}

/* ---- the cache ---- */

static void store(const call_sites *s, const struct module *m)
{
	const struct cache_name name = name_of(m);
	struct call_head h = {.checksum = checksum(name.key, s), .key = name.key, .count = s->len};
	memcpy(h.magic, magic, sizeof(magic));
	const struct slice parts[] = {
		{(const uint8_t *)&h, sizeof(h)},
		{(const uint8_t *)s->data, s->len * (uint64_t)sizeof(*s->data)}};
	cache_file_write(&name, parts, 2);
}

static bool read_sites(call_sites *out, int fd, uint64_t size, uint64_t key)
{
	struct call_head h;
	if (!cache_file_read(fd, &h, sizeof(h)) || memcmp(h.magic, magic, sizeof(magic)) != 0 ||
	    h.key != key || h.count > UINT32_MAX ||
	    size != sizeof(h) + h.count * sizeof(*out->data))
		return false;
	vec_resize(out, (uint32_t)h.count);
	return (!h.count || cache_file_read(fd, out->data, h.count * sizeof(*out->data))) &&
	       checksum(key, out) == h.checksum;
}

static bool load(call_sites *out, const struct module *m)
{
	const struct cache_name name = name_of(m);
	uint64_t size;
	int fd = cache_file_open(&name, &size);
	if (fd < 0)
		return false;
	bool ok = read_sites(out, fd, size, name.key);
	cache_file_close(fd, ok);
	if (!ok)
		vec_clear(out);
	return ok;
}

/* ---- the scan ---- */

typedef VEC(uint64_t) address_list;

/* `n` bytes at `va`. */
static void scan_piece(address_list *out, const struct arch *arch, const uint8_t *bytes, size_t n,
		       uint64_t va)
{
	const struct arch_calls *k = arch_calls(arch);
	const uint8_t *at = bytes, *end = bytes + n;
	while ((at = memmem(at, (size_t)(end - at), k->insn, k->insn_size))) {
		uint64_t found = va + (uint64_t)(at - bytes);
		if (found % arch->insn_align == 0)
			vec_push(out, found);
		at++;
	}
}

/* Pieces overlap, because an instruction may begin in one and end in the next. */
static void scan_section(address_list *out, const struct module *m, const struct arch *arch,
			 const struct section *s, const atomic_bool *stop)
{
	uint64_t overlap = arch_calls(arch)->insn_size - 1u;
	for (uint64_t at = 0; at < s->size && !is_set(stop); at += PIECE) {
		size_t n;
		uint64_t left = s->size - at;
		const uint8_t *p = module_at(m, s->va + at,
					     left < PIECE + overlap ? left : PIECE + overlap, &n);
		if (!p)
			return;
		scan_piece(out, arch, p, n, s->va + at);
		lazy_file_forget(m->file, s->offset + at, left < PIECE ? left : PIECE);
	}
}

/* ---- which of them are system calls ---- */

uint32_t call_sites_function(struct flow *f, uint64_t va)
{
	uint32_t count, function = flow_function_at(f, va);
	if (function != UINT32_MAX && flow_functions(f, &count)[function].bounded)
		return function;
	flow_discover_near(f, va);
	return flow_function_at(f, va);
}

/* A quick look at the code before va: false if instructions of any lengths, decoded one after the
 * other, pass over va. Nearly all bytes that only look like a system call are told by that, and no
 * flow graph is built for them.
 *
 * An instruction has at most `insn_max` bytes, so the real ones begin at one of as many addresses
 * in a row. Decoded from each of these, most soon fall into step with each other. */
static bool may_begin_at(const struct module *m, const struct arch *arch, uint64_t va)
{
	enum { BACK = 128 };
	bool reached[BACK + 1] = {0};
	size_t n;
	const uint8_t *p = module_at(m, va - BACK, BACK + arch->insn_max, &n);
	if (arch->insn_align > 1 || !p || n < BACK || !module_is_code(m, va - BACK))
		return true;
	memset(reached, true, arch->insn_max);
	for (size_t at = 0; at < BACK; at++) {
		struct insn in;
		if (!reached[at])
			continue;
		size_t length = arch->decode(p + at, n - at, va - BACK + at, DECODE_FLOW, &in);
		size_t next = at + (length ? length : 1);
		if (next <= BACK)
			reached[next] = true;
	}
	return reached[BACK];
}

/* Finds the number of the system call at `va`. False if no instruction begins there. */
static bool find_number(const struct module *m, const struct arch *arch, const struct block *b,
			uint64_t va, int64_t *number)
{
	unsigned reg = calls_number_register(arch);
	uint64_t at = b->start;
	struct insn in;
	*number = -1;
	for (; at < va; at += in.length) {
		if (!decode_at(m, arch, at, DECODE_FULL, &in))
			return false;
		if (regset_has(&in.writes, reg))
			*number = in.op == OP_SET && in.dst == reg ? in.imm : -1;
	}
	return at == va;
}

static void add_if_call(call_sites *out, struct flow *f, uint64_t va, struct arena *a,
			struct arena *tmp)
{
	const struct module *m = flow_module(f);
	struct system_call site = {.va = va};
	if (!may_begin_at(m, arch_of_machine(m->machine), va))
		return;
	uint32_t function = call_sites_function(f, va);
	if (function == UINT32_MAX)
		return;
	const struct cfg *g = flow_cfg(f, function, a, tmp);
	uint32_t block = cfg_block_at(g, va);
	if (block != BLOCK_NONE &&
	    find_number(m, arch_of_machine(m->machine), &g->blocks[block], va, &site.number))
		vec_push(out, site);
	arena_clear(a);
	arena_clear(tmp);
}

static bool search(call_sites *out, struct flow *f, const atomic_bool *stop)
{
	const struct module *m = flow_module(f);
	struct arena a = {0}, tmp = {0};
	address_list found = {0};
	for (uint32_t i = 0; i < m->section_count; i++)
		if (m->sections[i].execute && m->sections[i].in_file)
			scan_section(&found, m, arch_of_machine(m->machine), &m->sections[i], stop);
	for (uint32_t i = 0; i < found.len && !is_set(stop); i++)
		add_if_call(out, f, found.data[i], &a, &tmp);
	vec_free(&found);
	arena_release(&a);
	arena_release(&tmp);
	return !is_set(stop);
}

bool call_sites_find(call_sites *out, struct flow *f, const atomic_bool *stop)
{
	const struct module *m = flow_module(f);
	vec_clear(out);
	if (is_worth_it(m) && load(out, m))
		return true;
	if (!search(out, f, stop))
		return false;
	if (is_worth_it(m) && !module_problem(m))
		store(out, m);
	return true;
}

bool call_sites_find_soon(call_sites *out, struct flow *f)
{
	const struct module *m = flow_module(f);
	vec_clear(out);
	return m->size < SMALL_MODULE ? search(out, f, NULL) : is_worth_it(m) && load(out, m);
}
