#include "count/coverage.h"

#include "base/hashmap.h"
#include "base/quantity.h"
#include "count/choose.h"
#include "sample/sampler.h"

enum {
	HZ = 97,         /* samples per second */
	MIN_SAMPLES = 5, /* with fewer, shares mean nothing */
};

/* Uninstrumented code. */
struct uncovered {
	struct code *code;
	enum counted_status status;
	uint64_t va; /* of the function, if it was refused, and why */
	enum refusal why;
	uint64_t samples;
};

struct coverage {
	struct sampler *sampler; /* NULL: perf is not permitted */
	VEC(struct uncovered) list;
	struct hashmap at; /* code and va -> list */
	uint64_t samples;
	/* Set while samples are taken. */
	struct target *const *targets;
	uint32_t target_count;
};

/* ---- samples ---- */

static struct uncovered *uncovered_at(struct coverage *c, struct code *code,
				      enum counted_status status, uint64_t va)
{
	const uint64_t key[] = {code->id, status, va};
	uint32_t next = c->list.len;
	uint32_t at = hashmap_add(&c->at, hash_bytes(key, sizeof(key), 0), next);
	if (at == next)
		vec_push(&c->list, (struct uncovered){.code = code, .status = status, .va = va});
	return &c->list.data[at];
}

static void on_sample(void *ctx, const struct sample *s)
{
	struct coverage *c = ctx;
	struct target *t = NULL;
	for (uint32_t i = 0; i < c->target_count && !t; i++)
		if (target_pid(c->targets[i]) == s->pid)
			t = c->targets[i];
	if (!t || !s->registers.known || s->in_kernel)
		return;
	struct counted_place p = target_counted_place(t, s->registers.pc);
	c->samples++;
	if (p.status != PLACE_COUNTED && p.code)
		uncovered_at(c, p.code, p.status, p.status == PLACE_REFUSED ? p.va : 0)->samples++;
}

struct coverage *coverage_new(void)
{
	struct coverage *c = xcalloc(1, sizeof(*c));
	struct sampler_options o = {.event_count = 1,
				    .hz = HZ,
				    .perf_only = true,
				    .sink = {.sample = on_sample, .ctx = c}};
	struct err ignored;
	if (event_find(&o.events[0], "cpu-clock", &ignored) ||
	    sampler_new(&c->sampler, &o, &ignored))
		c->sampler = NULL;
	return c;
}

void coverage_free(struct coverage *c)
{
	if (c->sampler)
		c->sampler->ops->free(c->sampler);
	vec_free(&c->list);
	hashmap_release(&c->at);
	free(c);
}

void coverage_watch(struct coverage *c, int pid)
{
	struct err ignored;
	if (c->sampler && c->sampler->ops->watch(c->sampler, pid, true, false, &ignored)) {
		c->sampler->ops->free(c->sampler);
		c->sampler = NULL;
	}
}

void coverage_take(struct coverage *c, struct target *const *targets, uint32_t count)
{
	struct err ignored;
	c->targets = targets;
	c->target_count = count;
	if (c->sampler)
		c->sampler->ops->run(c->sampler, 0, &ignored);
	c->target_count = 0;
}

/* ---- reporting ---- */

void coverage_refused(struct coverage *c, const struct counted_function *p)
{
	uncovered_at(c, p->code, PLACE_REFUSED, p->va)->why = p->refused;
}

static const char *function_name(struct profile *p, const struct uncovered *u)
{
	uint32_t count, i = flow_function_at(u->code->flow, u->va);
	const struct function *list = flow_functions(u->code->flow, &count);
	return i == UINT32_MAX || !list[i].name ? "" : arena_strdup(&p->arena, list[i].name);
}

/* "" for a whole module. */
static const char *name_of(struct profile *p, const struct uncovered *u)
{
	if (u->status == PLACE_REFUSED)
		return function_name(p, u);
	return u->status == PLACE_STUB      ? "linkage stubs"
	       : u->status == PLACE_BETWEEN ? "code outside of functions"
					    : "";
}

static const char *reason_of(struct profile *p, const struct uncovered *u)
{
	if (u->status == PLACE_REFUSED && u->why == REFUSED_UNRESOLVED)
		return "its jumps are not all understood";
	if (u->status == PLACE_REFUSED)
		return arena_printf(&p->arena, "a point of it %s", refusal_text[u->why]);
	return u->status == PLACE_NO_COUNT ? count_why_not(u->code->path) : "never counted";
}

static uint32_t millionths_of(const struct coverage *c, const struct uncovered *u)
{
	return c->samples ? (uint32_t)(u->samples * 1000000 / c->samples) : PROFILE_NONE;
}

const char *coverage_missed(const struct coverage *c, unsigned *percent)
{
	const struct uncovered *most = NULL;
	uint64_t samples = 0;
	vec_each (u, &c->list) {
		if (u->status != PLACE_NO_COUNT || !count_may_choose(u->code->path))
			continue;
		samples += u->samples;
		most = !most || u->samples > most->samples ? u : most;
	}
	if (!most || c->samples < MIN_SAMPLES || samples * 2 < c->samples)
		return NULL;
	*percent = (unsigned)percent_of(samples, c->samples);
	return most->code->path;
}

void coverage_report(struct coverage *c, struct profile *p, struct modules *modules)
{
	vec_each (u, &c->list)
		vec_push(&p->uncovered, (struct profile_uncovered){
						.module = modules_find(modules, u->code),
						.share = millionths_of(c, u),
						.address = u->va,
						.name = name_of(p, u),
						.reason = reason_of(p, u),
					});
}
