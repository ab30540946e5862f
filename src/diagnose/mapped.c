#include "diagnose/mapped.h"

void mapped_release(struct mapped *m)
{
	vec_each (p, &m->processes)
		vec_free(&p->list);
	vec_free(&m->processes);
}

void mapped_forget(struct mapped *m, uint32_t process)
{
	if (process < m->processes.len)
		vec_free(&m->processes.data[process].list);
}

struct refreshing {
	struct mapped_process *process;
	void (*each)(void *ctx, struct code *code);
	void *ctx;
};

static void on_module(void *ctx, struct code *code, uint64_t bias)
{
	struct refreshing *r = ctx;
	vec_push(&r->process->list, (struct mapped_at){code, bias});
	r->each(r->ctx, code);
}

void mapped_refresh(struct mapped *m, uint32_t process, struct space *space,
		    void (*each)(void *ctx, struct code *code), void *ctx)
{
	while (m->processes.len <= process)
		vec_push(&m->processes, (struct mapped_process){0});
	struct refreshing r = {&m->processes.data[process], each, ctx};
	vec_clear(&r.process->list);
	r.process->condition_signals = 0;
	space_codes(space, on_module, &r);
}

struct still_mapped {
	const struct mapped_process *process;
	uint32_t count;
};

static void count_known(void *ctx, struct code *code, uint64_t bias)
{
	struct still_mapped *s = ctx;
	vec_each (at, &s->process->list)
		s->count += at->code == code && at->bias == bias;
}

bool mapped_has_lost(const struct mapped *m, uint32_t process, struct space *space)
{
	if (process >= m->processes.len)
		return false;
	struct still_mapped s = {&m->processes.data[process], 0};
	space_codes(space, count_known, &s);
	return s.count < s.process->list.len;
}

bool mapped_bias(const struct mapped *m, uint32_t process, const struct code *code, uint64_t *bias)
{
	if (process >= m->processes.len)
		return false;
	vec_each (at, &m->processes.data[process].list)
		if (at->code == code) {
			*bias = at->bias;
			return true;
		}
	return false;
}

static bool has_data(const struct module *module, uint64_t va)
{
	for (uint32_t i = 0; i < module->segment_count; i++)
		if (va - module->segments[i].va < module->segments[i].memory_size)
			return true;
	return false;
}

/* The last symbol that begins at or before va. */
static const struct symbol *symbol_before(const struct module *module, uint64_t va)
{
	uint32_t low = 0, high;
	const struct symbol *all = module_symbols(module, &high);
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (all[mid].va <= va)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &all[low - 1] : NULL;
}

const char *mapped_variable(const struct mapped *m, uint32_t process, uint64_t address,
			    uint64_t *offset, uint64_t *size)
{
	if (process >= m->processes.len)
		return NULL;
	vec_each (at, &m->processes.data[process].list) {
		uint64_t va = address - at->bias;
		if (!has_data(at->code->module, va))
			continue;
		const struct symbol *s = symbol_before(at->code->module, va);
		if (!s || va - s->va >= s->size)
			continue;
		*offset = va - s->va;
		*size = s->size;
		return s->name;
	}
	return NULL;
}
