#include "findings/known.h"

#include <math.h>
#include <string.h>

#include "base/quantity.h"
#include "findings/limits.h"
#include "profile/short_name.h"

_Static_assert((int)CODE == PROFILE_CODE && (int)MACHINE == PROFILE_MACHINE &&
		       (int)SYNC == PROFILE_SYNC && (int)FILES == PROFILE_FILES,
	       "hierarchies have the same numbers in a search and in its profile");
_Static_assert((int)SAMPLE_CLASSES == EVIDENCE_CLASSES, "so have classes of samples");

/* ---- indices ---- */

static bool find_roots(struct known *k)
{
	for (int h = 0; h < HIERARCHIES; h++)
		k->whole.part[h] = PROFILE_NONE;
	for (uint32_t i = 0; i < k->p->resources.len; i++) {
		const struct profile_resource *r = &k->p->resources.data[i];
		if (r->parent == PROFILE_NONE && k->whole.part[r->hierarchy] == PROFILE_NONE)
			k->whole.part[r->hierarchy] = i;
	}
	for (int h = 0; h < HIERARCHIES; h++)
		if (k->whole.part[h] == PROFILE_NONE)
			return false;
	return true;
}

static void index_experiments(struct known *k)
{
	const struct profile *p = k->p;
	uint32_t count = p->experiments.len;
	k->hypothesis = xcalloc(count + 1, sizeof(*k->hypothesis));
	k->first_child = xcalloc(count + 2, sizeof(*k->first_child));
	k->children = xcalloc(p->refinements.len + 1, sizeof(*k->children));
	for (uint32_t i = 0; i < count; i++)
		k->hypothesis[i] = (uint8_t)hypothesis_named(p->experiments.data[i].hypothesis);
	vec_each (r, &p->refinements)
		k->first_child[r->parent + 2]++;
	for (uint32_t i = 2; i <= count + 1; i++)
		k->first_child[i] += k->first_child[i - 1];
	vec_each (r, &p->refinements)
		k->children[k->first_child[r->parent + 1]++] = r->child;
}

static void index_resources(struct known *k)
{
	uint32_t count = k->p->resources.len;
	k->first_amount = xcalloc(count + 2, sizeof(*k->first_amount));
	k->name = xmalloc((count + 1) * sizeof(*k->name));
	memset(k->name, 0xff, (count + 1) * sizeof(*k->name));
	vec_each (a, &k->e->amounts)
		k->first_amount[a->resource + 1]++;
	for (uint32_t i = 0; i < count; i++)
		k->first_amount[i + 1] += k->first_amount[i];
	for (uint32_t i = 0; i < k->e->names.len; i++)
		k->name[k->e->names.data[i].resource] = i;
}

bool known_init(struct known *k, struct profile *p, bool long_names)
{
	*k = (struct known){.p = p, .e = &p->evidence, .long_names = long_names};
	arena_init(&k->arena);
	index_experiments(k);
	index_resources(k);
	parties_find(&k->parties, p);
	return find_roots(k);
}

void known_release(struct known *k)
{
	free(k->hypothesis);
	free(k->first_child);
	free(k->children);
	free(k->first_amount);
	free(k->name);
	parties_release(&k->parties);
	hashmap_release(&k->shown);
	arena_release(&k->arena);
}

/* ---- experiments ---- */

bool known_within(const struct known *k, uint32_t resource, uint32_t whole)
{
	while (resource != whole && resource != PROFILE_NONE)
		resource = k->p->resources.data[resource].parent;
	return resource == whole;
}

static bool is_cpu_time(enum measure m)
{
	return m == MEASURE_CPU || m == MEASURE_SYSTEM || m == MEASURE_MEMORY ||
	       m == MEASURE_IMBALANCE;
}

bool known_concerns(const struct known *k, const struct focus *f, enum measure m,
		    const struct evidence_amount *a)
{
	bool computes = is_cpu_time(m);
	enum hierarchy objects = m == MEASURE_SYNC ? SYNC : FILES;
	if (!known_within(k, k->e->threads.data[a->thread].resource, f->part[MACHINE]))
		return false;
	if (computes || a->object == PROFILE_NONE)
		return computes && a->object == PROFILE_NONE;
	const struct evidence_object *o = &k->e->objects.data[a->object];
	if (object_kinds[object_kind_named(o->kind)].hierarchy != objects)
		return false;
	return f->part[objects] == k->whole.part[objects] ||
	       (o->resource != PROFILE_NONE && known_within(k, o->resource, f->part[objects]));
}

struct focus known_focus(const struct profile_experiment *x)
{
	struct focus f;
	for (int h = 0; h < HIERARCHIES; h++)
		f.part[h] = x->focus[h];
	return f;
}

uint32_t known_true(const struct known *k, enum hypothesis_id h, const struct focus *f)
{
	for (uint32_t i = 0; i < k->p->experiments.len; i++) {
		const struct profile_experiment *x = &k->p->experiments.data[i];
		if (k->hypothesis[i] == h && x->state == PROFILE_TRUE &&
		    !memcmp(x->focus, f->part, sizeof(f->part)))
			return i;
	}
	return PROFILE_NONE;
}

/* ---- samples ---- */

bool known_passes(const struct known *k, const struct evidence_chain *c, uint32_t part)
{
	const uint32_t *parts = k->e->parts.data + c->first;
	for (uint32_t i = 0; i < c->length; i++)
		if (parts[i] == part)
			return true;
	return false;
}

double known_seconds(const struct known *k, enum hypothesis_id h, uint32_t part, uint32_t object,
		     uint32_t *heaviest, uint64_t *samples)
{
	double sum = 0;
	*heaviest = PROFILE_NONE;
	*samples = 0;
	for (uint32_t i = 0; i < k->e->chains.len; i++) {
		const struct evidence_chain *c = &k->e->chains.data[i];
		if (c->class != hypotheses[h].samples ||
		    (object != PROFILE_NONE && c->object != object) || !known_passes(k, c, part))
			continue;
		sum += c->seconds;
		*samples += c->samples;
		if (*heaviest == PROFILE_NONE || c->seconds > k->e->chains.data[*heaviest].seconds)
			*heaviest = i;
	}
	return sum;
}

/* Returns the amount of the whole program for a measure. */
static double whole_amount(const struct known *k, enum measure m)
{
	bool computes = is_cpu_time(m);
	double sum = 0;
	amounts_each (a, k, k->whole.part[CODE])
		if (known_concerns(k, &k->whole, m, a))
			sum += computes ? a->cpu : k->e->run.calls_sampled ? a->seen_wait : a->wait;
	return sum;
}

/* Returns the CPU time of all samples, whatever it was for. */
static double sampled_cpu(const struct evidence_run *run)
{
	return run->sampled[SAMPLE_CPU] + run->sampled[SAMPLE_SYSTEM] + run->sampled[SAMPLE_MEMORY];
}

double known_share(const struct known *k, enum hypothesis_id h, double seconds)
{
	const struct evidence_run *run = &k->e->run;
	enum measure m = hypotheses[h].measure;
	double base = m == MEASURE_IMBALANCE ? run->time : is_cpu_time(m) ? run->cpu : run->threads;
	double seen = is_cpu_time(m) ? sampled_cpu(run) : run->sampled[hypotheses[h].samples];
	if (base <= 0 || seen <= 0)
		return 0;
	return fmin(seconds / seen * whole_amount(k, m) / base, 1);
}

double known_waited_for(const struct known *k, uint32_t part, enum object_kind kind)
{
	double seconds = 0;
	vec_each (chain, &k->e->chains)
		if (chain->class == SAMPLE_SYNC && known_kind(k, chain->object) == kind &&
		    (part == k->whole.part[CODE] || known_passes(k, chain, part)))
			seconds += chain->seconds;
	return known_share(k, SYNC_WAITING, seconds);
}

double known_rate(const struct known *k, const struct profile_experiment *x)
{
	double calls = 0;
	amounts_each (a, k, x->focus[CODE])
		calls += a->calls;
	return x->observed > 0 ? calls / x->observed : 0;
}

/* ---- threads and objects ---- */

bool known_idle(const struct known *k, uint32_t part, uint32_t object)
{
	double all = 0, idle = 0;
	amounts_each (a, k, part) {
		double seconds = object == PROFILE_NONE || a->object == object ? a->seen_wait : 0;
		all += seconds;
		idle += k->e->threads.data[a->thread].idle > 0 ? seconds : 0;
	}
	return idle > 0 && idle > idle_share * all;
}

bool known_worker(const struct known *k, uint32_t machine)
{
	vec_each (t, &k->e->threads)
		if (t->tid && t->idle <= 0 && known_within(k, t->resource, machine))
			return true;
	return false;
}

enum object_kind known_kind(const struct known *k, uint32_t object)
{
	return object == PROFILE_NONE ? OBJECT_KINDS
				      : object_kind_named(k->e->objects.data[object].kind);
}

double known_object_rate(const struct known *k, uint32_t object)
{
	const struct evidence_object *o = &k->e->objects.data[object];
	return checked(A_RATE, o->rate > 0 ? o->rate : (double)o->count / k->e->run.seconds);
}

/* ---- code ---- */

const char *known_file(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

uint32_t known_function(const struct known *k, uint32_t part)
{
	const struct profile_resource *all = k->p->resources.data;
	while (all[part].kind == RESOURCE_LOOP && all[part].parent != PROFILE_NONE)
		part = all[part].parent;
	return part;
}

const char *known_name(struct known *k, const char *function)
{
	struct text bare = TEXT_INIT;
	uint32_t own = (uint32_t)hash_bytes(function, strlen(function), 0) >> 1;
	if (k->long_names)
		return function;
	bare_name(&bare, function);
	if (bare.len && hashmap_add(&k->shown, hash_bytes(bare.data, bare.len, 0), own) == own)
		function = arena_strdup(&k->arena, bare.data);
	text_release(&bare);
	return function;
}

/* Compilers move the code of a parallel region to a function of its own, with such a name. */
static bool is_region(const char *function)
{
	return strstr(function, "._omp_fn.") || strstr(function, "omp_outlined");
}

bool known_is_region(const struct known *k, uint32_t function)
{
	return is_region(k->p->resources.data[function].name);
}

/* "parallel region at hydro.cc:783", of which the part is the function or a loop. */
static const char *region_name(struct known *k, uint32_t part)
{
	const struct profile_resource *r = &k->p->resources.data[known_function(k, part)];
	if (!r->first_line)
		return arena_printf(&k->arena, "parallel region of %.*s",
				    (int)strcspn(r->name, ".["), r->name);
	return arena_printf(&k->arena, "parallel region at %s:%u", known_file(r->file),
			    r->first_line);
}

static const char *shown_name(struct known *k, uint32_t part, const char *function)
{
	return is_region(function) && !k->long_names ? region_name(k, part)
						     : known_name(k, function);
}

/* In a path, functions are told apart by their neighbours: the short name will do. */
static const char *path_name(struct known *k, uint32_t part, const char *function)
{
	struct text bare = TEXT_INIT;
	if (k->long_names || is_region(function))
		return shown_name(k, part, function);
	bare_name(&bare, function);
	if (bare.len)
		function = arena_strdup(&k->arena, bare.data);
	text_release(&bare);
	return function;
}

static const char *shown_chain(struct known *k, uint32_t part, const char *chain)
{
	struct text out = TEXT_INIT;
	const char *last = "";
	while (*chain) {
		size_t n = chain_step(chain);
		const char *name = path_name(k, part, arena_strndup(&k->arena, chain, n));
		if (strcmp(name, last) != 0)
			text_printf(&out, "%s%s", out.len ? " > " : "", name);
		last = name;
		chain += n;
		chain += *chain ? strlen(" > ") : 0;
	}
	chain = arena_strdup(&k->arena, out.data ? out.data : "");
	text_release(&out);
	return chain;
}

struct code_words known_code(struct known *k, uint32_t resource)
{
	const struct profile_resource *r = &k->p->resources.data[resource];
	struct code_words w = {.name = r->name,
			       .chain = r->name,
			       .file = known_file(r->file),
			       .first_line = r->first_line,
			       .last_line = r->last_line,
			       .loop = r->kind == RESOURCE_LOOP};
	if (k->name[resource] != PROFILE_NONE) {
		w.name = k->e->names.data[k->name[resource]].function;
		w.chain = k->e->names.data[k->name[resource]].chain;
	}
	w.function = shown_name(k, resource, w.name);
	w.chain = shown_chain(k, resource, w.chain);
	return w;
}

/* Returns a function with its line or, if that is unknown, its module. */
static const char *function_words(struct known *k, uint32_t resource, const struct code_words *w)
{
	uint32_t module = k->p->resources.data[resource].module;
	if (w->first_line && is_region(w->name) && !k->long_names)
		return w->function;
	if (w->first_line)
		return arena_printf(&k->arena, "%s (%s:%u)", w->function, w->file, w->first_line);
	return arena_printf(&k->arena, "%s (%s)", w->function,
			    module == PROFILE_NONE ? "?"
						   : known_file(k->p->modules.data[module].path));
}

const char *known_place(struct known *k, uint32_t resource)
{
	struct code_words w = known_code(k, resource);
	if (w.loop && w.first_line)
		return arena_printf(&k->arena, "%s, loop at %s:%u-%u", w.function, w.file,
				    w.first_line, w.last_line);
	const char *function = function_words(k, resource, &w);
	return w.loop ? arena_printf(&k->arena, "a loop in %s", function) : function;
}

const char *known_noun(struct known *k, uint32_t resource)
{
	struct code_words w = known_code(k, resource);
	if (w.loop && w.first_line)
		return arena_printf(&k->arena, "the loop at %s:%u-%u in %s", w.file, w.first_line,
				    w.last_line, w.function);
	const char *function = function_words(k, resource, &w);
	return w.loop ? arena_printf(&k->arena, "a loop in %s", function) : function;
}
