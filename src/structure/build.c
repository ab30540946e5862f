/* Builds the structure of a whole module or of some functions: opens what is needed, deals the
 * functions out to all CPUs, and joins the results.
 *
 * A unit of debugging information is loaded by any worker, through its own handle, and is only read
 * afterwards. So even the functions of one large unit are spread over all workers. Loaded units are
 * kept up to KEPT_BYTES in all; the others are loaded again later, a few at a time. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/parallel.h"
#include "structure/cache.h"
#include "structure/join.h"
#include "structure/storage.h"

static const uint64_t KEPT_BYTES = (uint64_t)256 << 20;
/* What a unit is assumed to need if it was not loaded yet. */
static const uint64_t DEFAULT_BYTES = (uint64_t)4 << 20;
enum {
	FUNCTION_BATCH = 8,    /* functions that a worker takes at a time */
	JOINED_AT_ONCE = 8192, /* functions whose results are taken over together */
	MOST_KEPT = 8192,      /* functions of a module that are kept in the cache, if not all */
	UNITS_PER_WORKER = 16, /* loaded at a time while all units are read */
};

typedef VEC(uint32_t) numbers;

struct unit {
	struct debug_unit *unit; /* NULL while not loaded */
	struct source *source;
	uint64_t bytes;
	uint32_t first, count; /* its functions, in build.order */
};

struct build {
	struct module *module;
	bool alone; /* nobody else uses the module */
	const struct structure_options *options;
	struct debug *debug; /* NULL without debugging information */
	struct flow *flow;   /* options->flow, or our own */
	struct unit *units;
	uint32_t unit_count;
	uint32_t *unit_of; /* for each function; DEBUG_NONE if it has none */
	uint32_t *order;   /* functions by unit; those without one first */
	uint32_t without_unit;
	bool dealt; /* functions have their units, so units without functions need not be loaded */
	/* What each worker has of its own. Worker 0 uses the build's own handle. */
	struct structure_builder *builders;
	struct debug **handles;
	uint32_t worker_count;
	struct structure_join join;
	const struct structure *before; /* functions that were asked for in earlier runs, or NULL */
	bool one_handle; /* some worker has no handle of its own: units are loaded one by one */
	uint64_t kept;   /* bytes of loaded units that are kept */
	uint32_t first_unit, first_function; /* where the current parallel loop starts */
	struct structure_stats stats;
	double since; /* start of the current phase */
};

static void end_phase(struct build *b, double *seconds)
{
	double t = now_seconds();
	*seconds += t - b->since;
	b->since = t;
}

static uint64_t unit_bytes(const struct debug_unit *u, const struct source *s)
{
	return u->range_count * sizeof(*u->ranges) + u->scope_count * sizeof(*u->scopes) +
	       u->line_count * sizeof(*u->lines) + u->entry_count * sizeof(*u->entries) +
	       s->row_count * sizeof(*s->rows) + s->context_count * sizeof(*s->contexts);
}

static void load_unit(struct build *b, uint32_t number, struct debug *handle)
{
	struct unit *u = &b->units[number];
	if (u->unit)
		return;
	u->unit = debug_unit_load(handle, number);
	if (!u->unit)
		return;
	u->source = source_prepare(u->unit);
	u->bytes = unit_bytes(u->unit, u->source);
}

static void drop_unit(struct unit *u)
{
	source_free(u->source);
	if (u->unit)
		debug_unit_free(u->unit);
	u->source = NULL;
	u->unit = NULL;
}

static void load_one(void *ctx, uint32_t item, uint32_t worker)
{
	struct build *b = ctx;
	if (b->dealt && !b->units[b->first_unit + item].count)
		return;
	load_unit(b, b->first_unit + item, b->handles[worker]);
}

static void load_units(struct build *b, uint32_t first, uint32_t count)
{
	b->first_unit = first;
	if (!b->one_handle) {
		parallel_for(count, 1, load_one, b);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		load_one(b, i, 0);
}

/* Adds the starts of the unit's functions to flow. A function in several ranges is left out: it is
 * not known which range it begins in. */
static void add_starts(struct build *b, const struct debug_unit *u)
{
	for (uint32_t i = 0; i < u->entry_count; i++) {
		const struct debug_scope *s = &u->scopes[u->entries[i].scope];
		if (s->range_count == 1)
			flow_add_start(b->flow, u->entries[i].start, u->entries[i].end, NULL,
				       FOUND_DEBUG);
	}
}

/* Reads all units once for the functions in them, a few for each worker at a time. */
static void read_units(struct build *b)
{
	uint32_t step = b->worker_count * UNITS_PER_WORKER;
	for (uint32_t first = 0; first < b->unit_count; first += step) {
		uint32_t left = b->unit_count - first, count = left < step ? left : step;
		load_units(b, first, count);
		for (uint32_t i = first; i < first + count; i++) {
			struct unit *u = &b->units[i];
			if (!u->unit)
				continue;
			add_starts(b, u->unit);
			if (b->kept + u->bytes > KEPT_BYTES)
				drop_unit(u);
			else
				b->kept += u->bytes;
		}
	}
}

/* Finds the unit of each function in the list, and counts the functions of each unit. */
static void find_units(struct build *b, const uint32_t *list, uint32_t count)
{
	uint32_t all;
	const struct function *p = flow_functions(b->flow, &all);
	b->unit_of = xmalloc((all + (size_t)1) * sizeof(*b->unit_of));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t unit =
			b->debug ? debug_unit_at(b->debug, p[list[i]].start) : (uint32_t)DEBUG_NONE;
		if (unit < b->unit_count) {
			b->units[unit].count++;
		} else {
			unit = DEBUG_NONE;
			b->without_unit++;
		}
		b->unit_of[list[i]] = unit;
	}
}

/* Sorts the functions in the list by unit (a counting sort). */
static void deal_functions(struct build *b, const uint32_t *list, uint32_t count)
{
	uint32_t at, alone = 0;
	find_units(b, list, count);
	at = b->without_unit;
	b->order = xmalloc((count + (size_t)1) * sizeof(*b->order));
	uint32_t *next = xmalloc((b->unit_count + (size_t)1) * sizeof(*next));
	for (uint32_t u = 0; u < b->unit_count; u++) {
		b->units[u].first = next[u] = at;
		at += b->units[u].count;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t unit = b->unit_of[list[i]];
		b->order[unit == DEBUG_NONE ? alone++ : next[unit]++] = list[i];
	}
	b->dealt = true;
	free(next);
}

static void deal_all(struct build *b)
{
	uint32_t count;
	flow_functions(b->flow, &count);
	uint32_t *list = xmalloc((count + (size_t)1) * sizeof(*list));
	for (uint32_t i = 0; i < count; i++)
		list[i] = i;
	deal_functions(b, list, count);
	free(list);
}

static void add_function(struct structure_builder *builder, struct flow *f, uint32_t number,
			 const struct source *source)
{
	uint32_t count;
	const struct function *p = flow_functions(f, &count) + number;
	struct loop_forest forest;
	arena_clear(&builder->cfg_arena);
	arena_clear(&builder->tmp);
	const struct cfg *g = flow_cfg(f, number, &builder->cfg_arena, &builder->tmp);
	loops_find(g, &forest, &builder->cfg_arena, &builder->tmp);
	builder_add(builder, number, p, flow_parts(f) + p->first_part, g, &forest, source);
}

static void build_one(void *ctx, uint32_t item, uint32_t worker)
{
	struct build *b = ctx;
	uint32_t number = b->order[b->first_function + item], unit = b->unit_of[number];
	const struct source *source = unit == DEBUG_NONE ? NULL : b->units[unit].source;
	add_function(&b->builders[worker], b->flow, number, source);
}

static void build_functions(struct build *b, uint32_t first, uint32_t count)
{
	for (uint32_t done = 0; done < count; done += JOINED_AT_ONCE) {
		uint32_t left = count - done;
		b->first_function = first + done;
		parallel_for(left < JOINED_AT_ONCE ? left : JOINED_AT_ONCE, FUNCTION_BATCH,
			     build_one, b);
		join_add(&b->join, b->builders, b->worker_count);
	}
}

/* Loads units from `first` on, as many as memory allows; returns the number after the last one. */
static uint32_t load_some(struct build *b, uint32_t first)
{
	uint64_t bytes = 0;
	uint32_t end = first;
	while (end < b->unit_count && (end == first || bytes + b->units[end].bytes <= KEPT_BYTES))
		bytes += b->units[end++].bytes;
	load_units(b, first, end - first);
	return end;
}

static void build_all(struct build *b)
{
	build_functions(b, 0, b->without_unit);
	for (uint32_t first = 0; first < b->unit_count;) {
		uint32_t end = load_some(b, first), count = 0;
		for (uint32_t i = first; i < end; i++)
			count += b->units[i].count;
		build_functions(b, b->units[first].first, count);
		for (uint32_t i = first; i < end; i++)
			drop_unit(&b->units[i]);
		first = end;
	}
}

/* If the debugging information cannot be read, the build continues without it. */
static void open_debug(struct build *b)
{
	struct err e;
	struct debug_options options = b->options->debug;
	options.use_cache = b->options->use_cache;
	if (!b->options->use_debug)
		return;
	if (debug_open(&b->debug, b->module, &options, &e) < 0) {
		debug(LOG_STRUCTURE, 1, "%s: no debugging information: %s", b->module->path,
		      e.text);
		b->debug = NULL;
	}
	if (!b->debug)
		return;
	const struct module *file = debug_file(b->debug);
	if (file) {
		module_add_symbols(b->module, file);
		module_add_frames(b->module, file);
	}
	b->unit_count = debug_unit_count(b->debug);
	b->units = xcalloc(b->unit_count, sizeof(*b->units));
}

static void start_workers(struct build *b)
{
	struct err e;
	b->worker_count = parallel_workers();
	b->builders = xcalloc(b->worker_count, sizeof(*b->builders));
	b->handles = xcalloc(b->worker_count, sizeof(*b->handles));
	for (uint32_t i = 0; i < b->worker_count; i++) {
		builder_init(&b->builders[i]);
		if (i == 0)
			b->handles[i] = b->debug;
		else if (b->debug && debug_clone(&b->handles[i], b->debug, &e) < 0)
			b->one_handle = true;
	}
}

/* Gives memory back between two steps. */
static void forget_bytes(struct build *b)
{
	if (b->alone)
		module_forget_bytes(b->module);
	alloc_trim();
}

static void release_flow(struct build *b)
{
	if (b->flow != b->options->flow)
		flow_close(b->flow);
	b->flow = NULL;
}

static void release_builders(struct build *b)
{
	for (uint32_t i = 0; i < b->worker_count; i++)
		builder_release(&b->builders[i]);
	free(b->builders);
	b->builders = NULL;
}

static void release_build(struct build *b)
{
	if (b->builders)
		release_builders(b);
	for (uint32_t i = 1; i < b->worker_count; i++)
		if (b->handles[i])
			debug_close(b->handles[i]);
	for (uint32_t i = 0; i < b->unit_count; i++)
		drop_unit(&b->units[i]);
	free(b->handles);
	free(b->units);
	free(b->unit_of);
	free(b->order);
	if (b->flow)
		release_flow(b);
	if (b->debug)
		debug_close(b->debug);
}

static struct structure *build_dealt(struct build *b)
{
	join_init(&b->join);
	build_all(b);
	if (b->before)
		join_add_known(&b->join, b->before);
	release_builders(b);
	release_flow(b);
	forget_bytes(b);
	struct structure *s = join_finish(&b->join);
	s->machine = b->module->machine;
	s->build_id = b->module->build_id;
	s->has_lines = b->unit_count != 0;
	return s;
}

static int build(struct build *b, struct structure **out, struct err *e)
{
	b->since = now_seconds();
	open_debug(b);
	end_phase(b, &b->stats.seconds_debug);
	int rc = flow_open(&b->flow, b->module, e);
	if (rc < 0)
		return rc;
	forget_bytes(b);
	end_phase(b, &b->stats.seconds_flow);
	start_workers(b);
	read_units(b);
	end_phase(b, &b->stats.seconds_debug);
	flow_discover(b->flow);
	forget_bytes(b);
	end_phase(b, &b->stats.seconds_flow);
	deal_all(b);
	*out = build_dealt(b);
	end_phase(b, &b->stats.seconds_structure);
	return 0;
}

/* Does not use getrusage(): its value starts with the memory that the parent had at the fork(). */
static uint64_t peak_memory(void)
{
	char text[4096];
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	const char *line = strstr(text, "VmHWM:");
	return line ? strtoull(line + strlen("VmHWM:"), NULL, 10) * 1024 : 0;
}

static struct structure *load_cached(const struct cache_subject *subject)
{
	double start = now_seconds();
	struct structure *s = cache_load(subject);
	if (s) {
		s->stats.seconds_cache = now_seconds() - start;
		s->stats.peak_memory = peak_memory();
	}
	return s;
}

/* Builds the structure and, if wanted, stores it in the cache. */
static int build_fresh(struct structure **out, struct module *m, bool alone,
		       const struct structure_options *o, struct err *e)
{
	struct build b = {.module = m, .alone = alone, .options = o};
	int rc = build(&b, out, e);
	if (rc == 0 && module_problem(m)) {
		rc = err_set(e, ERR_SYSTEM, "%s", module_problem(m));
		structure_free(*out);
	}
	if (rc == 0 && o->use_cache && m->build_id.size) {
		const struct module *file = b.debug ? debug_file(b.debug) : NULL;
		struct cache_subject subject = {m->path, m->build_id, m->size, o, false};
		struct cache_sources sources = {file ? file->path : NULL, m->debuglink};
		cache_store(&subject, &sources, *out);
		end_phase(&b, &b.stats.seconds_cache);
	}
	release_build(&b);
	if (rc == 0) {
		b.stats.peak_memory = peak_memory();
		(*out)->stats = b.stats;
	}
	return rc;
}

int structure_build(struct structure **out, struct module *m, const struct structure_options *o,
		    struct err *e)
{
	struct cache_subject subject = {m->path, m->build_id, m->size, o, false};
	*out = o->use_cache ? load_cached(&subject) : NULL;
	return *out ? 0 : build_fresh(out, m, false, o, e);
}

struct structure *structure_cached(const char *path, const struct structure_options *o)
{
	struct cache_subject subject = {.path = path, .options = o};
	struct stat st;
	struct err e;
	if (!o->use_cache || stat(path, &st) || !S_ISREG(st.st_mode) ||
	    module_read_build_id(path, &subject.build_id, &e) < 0 || !subject.build_id.size)
		return NULL;
	subject.size = (uint64_t)st.st_size;
	return load_cached(&subject);
}

int structure_open(struct structure **out, const char *path, const struct structure_options *o,
		   struct err *e)
{
	*out = structure_cached(path, o);
	if (*out)
		return 0;
	double start = now_seconds();
	struct module *m;
	int rc = module_open(&m, path, e);
	if (rc < 0)
		return rc;
	double seconds = now_seconds() - start;
	rc = build_fresh(out, m, true, o, e);
	if (rc == 0)
		(*out)->stats.seconds_module = seconds;
	module_close(m);
	return rc;
}

/* Makes sure that flow knows the functions that have the addresses. It does not know where one ends
 * that is only known as an entry point: that is taken to be where the next known function begins.
 */
static void find_functions_at(const struct build *b, const uint64_t *addresses, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t total, n = flow_function_at(b->flow, addresses[i]);
		if (n == UINT32_MAX ? module_is_code(b->module, addresses[i])
				    : flow_functions(b->flow, &total)[n].found_by == FOUND_ENTRY)
			flow_discover_near(b->flow, addresses[i]);
	}
}

/* Lists the functions that have the addresses, each once. */
static void list_functions_at(const struct build *b, const uint64_t *addresses, uint32_t count,
			      numbers *list)
{
	uint32_t total;
	flow_functions(b->flow, &total);
	bool *seen = xcalloc(total + (size_t)1, sizeof(*seen));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t n = flow_function_at(b->flow, addresses[i]);
		if (n == UINT32_MAX || seen[n])
			continue;
		vec_push(list, n);
		seen[n] = true;
	}
	free(seen);
}

/* Uses the flow that the caller has, or starts in the cache, unless a separate debug file adds to
 * the module. */
static int choose_flow(struct build *b, struct err *e)
{
	if (b->debug && debug_file(b->debug))
		return flow_open(&b->flow, b->module, e);
	b->flow = b->options->flow;
	if (b->flow)
		return 0;
	return b->options->use_cache ? flow_open_cached(&b->flow, b->module, e)
				     : flow_open(&b->flow, b->module, e);
}

static int build_some(struct build *b, struct structure **out, const uint64_t *addresses,
		      uint32_t count, struct err *e)
{
	numbers list = {0};
	uint32_t ignored;
	if (b->options->flow) /* it must not see the symbols that come from elsewhere */
		flow_functions(b->options->flow, &ignored);
	open_debug(b);
	int rc = choose_flow(b, e);
	if (rc < 0)
		return rc;
	start_workers(b);
	find_functions_at(b, addresses, count);
	list_functions_at(b, addresses, count, &list);
	deal_functions(b, list.data, list.len);
	for (uint32_t i = 0; i < b->unit_count; i++)
		b->units[i].bytes = b->units[i].count ? DEFAULT_BYTES : 0;
	*out = build_dealt(b);
	vec_free(&list);
	return 0;
}

/* ---- what was asked for in earlier runs ---- */

/* Opening the debugging information of a C library takes most of the time at the end of a run, and
 * each run asks for nearly the same functions of it. */

typedef VEC(uint64_t) address_list;

/* Addresses that are in none of the functions. */
static void find_missing(const struct structure *s, const struct module *m,
			 const uint64_t *addresses, uint32_t count, address_list *out)
{
	struct scope_index *x = scope_index_new(s);
	for (uint32_t i = 0; i < count; i++)
		if (scope_index_function(x, addresses[i]) == INDEX_NONE &&
		    module_is_code(m, addresses[i]))
			vec_push(out, addresses[i]);
	scope_index_free(x);
}

/* Keeps what was asked for, together with what was there before. */
static void store_some(const struct build *b, const struct structure *s)
{
	const struct module *m = b->module, *file = b->debug ? debug_file(b->debug) : NULL;
	const struct cache_subject subject = {m->path, m->build_id, m->size, b->options, true};
	const struct cache_sources sources = {file ? file->path : NULL, m->debuglink};
	uint32_t before = b->before ? b->before->function_count : 0;
	if (b->options->use_cache && m->build_id.size && s->function_count > before &&
	    s->function_count <= MOST_KEPT && !module_problem(m))
		cache_store(&subject, &sources, s);
}

static int build_missing(struct structure **out, struct module *m, const address_list *missing,
			 const struct structure *before, const struct structure_options *o,
			 struct err *e)
{
	struct build b = {.module = m, .options = o, .before = before};
	int rc = build_some(&b, out, missing->data, missing->len, e);
	if (!rc)
		store_some(&b, *out);
	release_build(&b);
	return rc;
}

int structure_of_addresses(struct structure **out, struct module *m, const uint64_t *addresses,
			   uint32_t count, const struct structure_options *o, struct err *e)
{
	const struct cache_subject whole = {m->path, m->build_id, m->size, o, false},
				   some = {m->path, m->build_id, m->size, o, true};
	*out = o->use_cache ? load_cached(&whole) : NULL;
	if (*out)
		return 0;
	struct structure *before = o->use_cache ? load_cached(&some) : NULL;
	address_list missing = {0};
	if (before)
		find_missing(before, m, addresses, count, &missing);
	else
		vec_append(&missing, addresses, count);
	int rc = 0;
	if (!before || missing.len) {
		rc = build_missing(out, m, &missing, before, o, e);
		structure_free(before);
	} else {
		*out = before;
	}
	vec_free(&missing);
	return rc;
}
