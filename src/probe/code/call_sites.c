#include "probe/code/call_sites.h"

#include <string.h>

#include "base/hashmap.h"
#include "isa/calls.h"
#include "module/cache_file.h"
#include "module/lazy_file.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 1 };

enum {
	SMALL_MODULE = 1 << 20, /* bytes of a module that is not worth a file */
	PIECE = 1 << 20,        /* bytes that are in memory at a time */
};

static const char magic[8] = "sondesys";

/*  head | addresses  */
struct call_head {
	char magic[8];
	uint64_t checksum; /* of the addresses, and of the key */
	uint64_t key, count;
};

static bool is_worth_it(const struct module *m)
{
	return m->build_id.size && m->size >= SMALL_MODULE;
}

static struct cache_name name_of(const struct module *m)
{
	const uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), m->size};
	return (struct cache_name){"calls", m->build_id, hash_bytes(parts, sizeof(parts), 0)};
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

/* `n` bytes at `va`. */
static void scan_piece(call_sites *out, const struct arch *arch, const uint8_t *bytes, size_t n,
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
static void scan_section(call_sites *out, const struct module *m, const struct arch *arch,
			 const struct section *s)
{
	uint64_t overlap = arch_calls(arch)->insn_size - 1u;
	for (uint64_t at = 0; at < s->size; at += PIECE) {
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

void call_sites_find(call_sites *out, const struct module *m, const struct arch *arch)
{
	vec_clear(out);
	if (is_worth_it(m) && load(out, m))
		return;
	for (uint32_t i = 0; i < m->section_count; i++)
		if (m->sections[i].execute && m->sections[i].in_file)
			scan_section(out, m, arch, &m->sections[i]);
	if (is_worth_it(m) && !module_problem(m))
		store(out, m);
}
