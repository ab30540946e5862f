/* Random functions of either architecture, as modules in memory: two of them, a big one of random
 * instructions and branches and a small one behind it that it calls and jumps to. */
#pragma once
#include <elf.h>
#include <string.h>

#include "base/vec.h"
#include "flow/flow.h"

enum { MADE_BASE = 0x10000, MADE_ITEMS = 24 };

enum made_kind {
	MADE_PLAIN,
	MADE_BRANCH,
	MADE_JUMP,
	MADE_RETURN,
	MADE_TAIL,
	MADE_TAIL_IF,
	MADE_CALL
};

struct made_item {
	uint8_t kind;
	uint8_t plain;  /* of MADE_PLAIN: which */
	uint8_t target; /* item, of MADE_BRANCH and _JUMP; MADE_ITEMS: the very start */
};

struct made {
	const struct arch *arch;
	struct module *module;
	struct flow *flow;
};

static uint64_t made_state = 1;

static uint32_t made_random(uint32_t n)
{
	made_state = made_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(made_state >> 33) % n;
}

struct made_code {
	uint32_t size;
	uint8_t bytes[MADE_ITEMS * 8 + 64];
};

static void made_add(struct made_code *c, const void *bytes, uint32_t n)
{
	memcpy(c->bytes + c->size, bytes, n);
	c->size += n;
}

static const uint32_t made_a64_plain[] = {
	0xaa0103f0, /* mov x16, x1 */
	0xd2800031, /* mov x17, 1 */
	0x8b110210, /* add x16, x16, x17 */
	0xf100061f, /* cmp x16, 1 */
	0x9a910200, /* csel x0, x16, x17, eq */
	0xf9400010, /* ldr x16, [x0] */
	0xf9000001, /* str x1, [x0] */
	0xa9bf43f1, /* stp x17, x16, [sp, -16]! */
	0xa8c143f1, /* ldp x17, x16, [sp], 16 */
	0xeb110200, /* subs x0, x16, x17 */
	0x4ea11c22, /* mov v2.16b, v1.16b */
	0x4e228420, /* add v0.16b, v1.16b, v2.16b */
	0x4eb81f19, /* mov v25.16b, v24.16b */
	0x4f000418, /* movi v24.4s, 0 */
	0x4eb9d720, /* fsub v0.4s, v25.4s, v25.4s */
	0xd4000001, /* svc 0 */
	0xd503201f, /* nop */
};

static void made_a64_item(struct made_code *c, const struct made_item *i, uint32_t to)
{
	uint32_t away = (to - c->size) / 4, word = 0xd503201f;
	switch (i->kind) {
	case MADE_PLAIN: word = made_a64_plain[i->plain % ARRAY_SIZE(made_a64_plain)]; break;
	case MADE_BRANCH:
	case MADE_TAIL_IF: word = 0x54000000 | (away & 0x7ffff) << 5; break; /* b.eq */
	case MADE_JUMP:
	case MADE_TAIL: word = 0x14000000 | (away & 0x3ffffff); break;
	case MADE_CALL: word = 0x94000000 | (away & 0x3ffffff); break;
	default: word = 0xd65f03c0; break;
	}
	made_add(c, &word, 4);
}

static const struct {
	uint8_t size, bytes[7];
} made_x64_plain[] = {
	{3, {0x49, 0x89, 0xf3}},       /* mov r11, rsi */
	{3, {0x41, 0xb2, 0x01}},       /* mov r10b, 1 */
	{3, {0x4d, 0x01, 0xd3}},       /* add r11, r10 */
	{4, {0x49, 0x83, 0xfb, 0x01}}, /* cmp r11, 1 */
	{4, {0x4c, 0x0f, 0x44, 0xd7}}, /* cmove r10, rdi */
	{3, {0x4c, 0x8b, 0x1f}},       /* mov r11, [rdi] */
	{3, {0x48, 0x89, 0x37}},       /* mov [rdi], rsi */
	{2, {0x41, 0x53}},             /* push r11 */
	{2, {0x41, 0x5b}},             /* pop r11 */
	{3, {0x4d, 0x31, 0xd2}},       /* xor r10, r10 */
	{2, {0xd3, 0xe6}},             /* shl esi, cl */
	{2, {0xff, 0xc6}},             /* inc esi */
	{3, {0x4c, 0x89, 0xd0}},       /* mov rax, r10 */
	{3, {0x0f, 0x57, 0xc9}},       /* xorps xmm1, xmm1 */
	{4, {0xc5, 0xf0, 0x58, 0xe9}}, /* vaddps xmm5, xmm1, xmm1 */
	{4, {0x45, 0x0f, 0x57, 0xc0}}, /* xorps xmm8, xmm8 */
	{4, {0x45, 0x0f, 0x28, 0xc8}}, /* movaps xmm9, xmm8 */
	{4, {0x41, 0x0f, 0x58, 0xc9}}, /* addps xmm1, xmm9 */
	{2, {0x0f, 0x05}},             /* syscall */
	{1, {0x90}},
};

static void made_x64_item(struct made_code *c, const struct made_item *i, uint32_t to)
{
	static const uint8_t op[][2] = {[MADE_BRANCH] = {0x0f, 0x84},
					[MADE_JUMP] = {0x3e, 0xe9},
					[MADE_TAIL] = {0x3e, 0xe9},
					[MADE_TAIL_IF] = {0x0f, 0x84},
					[MADE_CALL] = {0x3e, 0xe8}};
	uint32_t away = to - (c->size + 6);
	uint32_t which = i->plain % ARRAY_SIZE(made_x64_plain);
	if (i->kind == MADE_PLAIN) {
		made_add(c, made_x64_plain[which].bytes, made_x64_plain[which].size);
	} else if (i->kind == MADE_RETURN) {
		made_add(c, "\xc3", 1);
	} else {
		made_add(c, op[i->kind], 2);
		made_add(c, &away, 4);
	}
}

/* All items, each jumping to where `starts` says that its target is; fills in where they are. */
static void made_encode(const struct arch *arch, const struct made_item *items, uint32_t *starts,
			struct made_code *c)
{
	c->size = 0;
	if (made_state & 1)
		made_add(c, arch == &arch_a64 ? "\x5f\x24\x03\xd5" : "\xf3\x0f\x1e\xfa", 4);
	for (uint32_t i = 0; i < MADE_ITEMS; i++) {
		bool out = items[i].kind >= MADE_TAIL;
		uint32_t to = out                            ? starts[MADE_ITEMS]
			      : items[i].target < MADE_ITEMS ? starts[items[i].target]
							     : 0;
		starts[i] = c->size;
		if (arch == &arch_a64)
			made_a64_item(c, &items[i], to);
		else
			made_x64_item(c, &items[i], to);
	}
	starts[MADE_ITEMS] = c->size;
}

/* The small function overwrites two registers and returns. */
static void made_add_callee(const struct arch *arch, struct made_code *c)
{
	static const uint32_t a64[] = {0xd280003e, 0xd2800031, 0xd65f03c0}; /* mov x30, x17; ret */
	static const uint8_t x64[] = {0x49, 0xc7, 0xc2, 1, 0, 0, 0, 0xc3};  /* mov r10, 1; ret */
	made_add(c, arch == &arch_a64 ? (const void *)a64 : x64,
		 arch == &arch_a64 ? sizeof(a64) : sizeof(x64));
}

static void made_items(struct made_item *items)
{
	for (uint32_t i = 0; i < MADE_ITEMS; i++) {
		uint32_t roll = made_random(20);
		items[i] = (struct made_item){
			.kind = roll < 11   ? MADE_PLAIN
				: roll < 16 ? MADE_BRANCH
				: roll < 17 ? MADE_JUMP
					    : (uint8_t)(MADE_RETURN + made_random(4)),
			.plain = (uint8_t)made_random(255),
			.target = (uint8_t)made_random(MADE_ITEMS + 1),
		};
	}
	items[MADE_ITEMS - 1].kind = MADE_RETURN;
}

/* The small function begins at `small`. */
static bool made_open_code(struct made *m, const struct arch *arch, const struct made_code *code,
			   uint32_t small)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr p;
		struct made_code code;
	} file = {.code = *code};
	const uint64_t va = MADE_BASE + offsetof(__typeof__(file), code.bytes);
	struct err e;

	memcpy(file.h.e_ident, ELFMAG "\2\1\1", 7);
	file.h.e_type = ET_EXEC;
	file.h.e_machine = arch->elf_machine;
	file.h.e_version = EV_CURRENT;
	file.h.e_entry = va;
	file.h.e_phoff = offsetof(__typeof__(file), p);
	file.h.e_ehsize = sizeof(file.h);
	file.h.e_phentsize = sizeof(file.p);
	file.h.e_phnum = 1;
	file.p = (Elf64_Phdr){.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_vaddr = MADE_BASE,
			      .p_filesz = sizeof(file),
			      .p_memsz = sizeof(file),
			      .p_align = 4096};
	*m = (struct made){.arch = arch};
	if (module_open_memory(&m->module, "made", &file, sizeof(file), &e) ||
	    flow_open(&m->flow, m->module, &e))
		return false;
	flow_add_start(m->flow, va, va + small, "big", FOUND_SYMBOL);
	flow_add_start(m->flow, va + small, va + code->size, "small", FOUND_SYMBOL);
	flow_discover(m->flow);
	return true;
}

static bool made_open(struct made *m, const struct arch *arch)
{
	struct made_code code = {0};
	struct made_item items[MADE_ITEMS];
	uint32_t starts[MADE_ITEMS + 1] = {0};
	made_items(items);
	made_encode(arch, items, starts, &code); /* once to learn where they are */
	made_encode(arch, items, starts, &code);
	made_add_callee(arch, &code);
	return made_open_code(m, arch, &code, starts[MADE_ITEMS]);
}

/* The number of "big" or "small". */
static uint32_t made_function(const struct made *m, const char *name)
{
	uint32_t count;
	const struct function *p = flow_functions(m->flow, &count);
	for (uint32_t i = 0; i < count; i++)
		if (p[i].name && !strcmp(p[i].name, name))
			return i;
	return UINT32_MAX;
}

static const struct cfg *made_cfg(struct made *m, struct arena *a, struct arena *tmp)
{
	return flow_cfg(m->flow, made_function(m, "big"), a, tmp);
}

static void made_close(struct made *m)
{
	flow_close(m->flow);
	module_close(m->module);
}
