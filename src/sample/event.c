/* Names of events. Those that every kernel has are listed here, so that they work and can be
 * suggested on any machine; the many that are special to a CPU come from libpfm4. */
#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"
#include "sample/sampler.h"

struct known_event {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define SOFTWARE(name, id)                                                                         \
	{                                                                                          \
		name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##id                                       \
	}
#define HARDWARE(name, id)                                                                         \
	{                                                                                          \
		name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##id                                       \
	}

static const struct known_event known_events[] = {
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cs", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
	SOFTWARE("cgroup-switches", CGROUP_SWITCHES),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	HARDWARE("ref-cycles", REF_CPU_CYCLES),
};

/* A cache event is called "CACHE-ACCESS". The index is the kernel's number of the cache. */
static const char *const caches[PERF_COUNT_HW_CACHE_MAX] = {
	"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node",
};
static const struct {
	const char *name;
	uint8_t operation, result;
} accesses[] = {
	{"loads", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"load-misses", PERF_COUNT_HW_CACHE_OP_READ, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"stores", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"store-misses", PERF_COUNT_HW_CACHE_OP_WRITE, PERF_COUNT_HW_CACHE_RESULT_MISS},
	{"prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_ACCESS},
	{"prefetch-misses", PERF_COUNT_HW_CACHE_OP_PREFETCH, PERF_COUNT_HW_CACHE_RESULT_MISS},
};

enum { NAME_MAX_LENGTH = 200, CACHE_NAME = 32 };

/* Names outlive everything that refers to them. */
static struct arena names;

static void cache_name(char out[CACHE_NAME], size_t cache, size_t access)
{
	snprintf(out, CACHE_NAME, "%s-%s", caches[cache], accesses[access].name);
}

static bool find_known(struct event *out, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		if (!strcmp(known_events[i].name, name)) {
			out->type = known_events[i].type;
			out->config = known_events[i].config;
			out->clock = out->type == PERF_TYPE_SOFTWARE &&
				     out->config <= PERF_COUNT_SW_TASK_CLOCK;
			return true;
		}
	return false;
}

static bool find_cache(struct event *out, const char *name)
{
	char candidate[CACHE_NAME];
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t a = 0; a < ARRAY_SIZE(accesses); a++) {
			cache_name(candidate, c, a);
			if (strcmp(candidate, name) != 0)
				continue;
			out->type = PERF_TYPE_HW_CACHE;
			out->config = c | (uint64_t)accesses[a].operation << 8 |
				      (uint64_t)accesses[a].result << 16;
			return true;
		}
	return false;
}

/* "r1a8": the number that the CPU's manual gives to the event. */
static bool find_raw(struct event *out, const char *name)
{
	size_t digits = strlen(name) - 1;
	if (name[0] != 'r' || digits < 1 || digits > 16 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != digits)
		return false;
	out->type = PERF_TYPE_RAW;
	out->config = strtoull(name + 1, NULL, 16);
	return true;
}

static bool pfm_ready(void)
{
	static enum { UNTRIED, READY, ABSENT } state;
	if (state == UNTRIED)
		state = pfm_initialize() == PFM_SUCCESS ? READY : ABSENT;
	return state == READY;
}

/* libpfm4 reads modifiers itself, some of which are special to the CPU. */
static bool find_in_library(struct event *out, const char *name)
{
	struct perf_event_attr attr = {0};
	pfm_perf_encode_arg_t arg = {.attr = &attr, .size = sizeof(arg)};
	if (!pfm_ready() || pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT,
						      &arg) != PFM_SUCCESS)
		return false;
	out->type = attr.type;
	out->config = attr.config;
	out->config1 = attr.config1;
	out->config2 = attr.config2;
	out->exclude_user = attr.exclude_user;
	out->exclude_kernel = attr.exclude_kernel;
	return true;
}

/* Takes ":u", ":k" or ":uk" off the name. Returns false if another modifier follows the colon: only
 * libpfm4 may know that. */
static bool take_modifiers(struct event *out, char *name)
{
	char *colon = strrchr(name, ':');
	if (!colon)
		return true;
	size_t n = strlen(colon + 1);
	if (!n || strspn(colon + 1, "uk") != n)
		return false;
	out->exclude_user = !strchr(colon, 'u');
	out->exclude_kernel = !strchr(colon, 'k');
	*colon = '\0';
	return true;
}

struct nearest {
	const char *wanted;
	char name[CACHE_NAME];
	unsigned distance;
};

static void consider(struct nearest *n, const char *name)
{
	unsigned d = text_distance(n->wanted, name);
	if (d >= n->distance)
		return;
	n->distance = d;
	snprintf(n->name, sizeof(n->name), "%s", name);
}

static int refuse_unknown(const char *name, struct err *e)
{
	struct nearest n = {.wanted = name, .distance = (unsigned)strlen(name) / 3 + 1};
	char candidate[CACHE_NAME];
	for (size_t i = 0; i < ARRAY_SIZE(known_events); i++)
		consider(&n, known_events[i].name);
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t a = 0; a < ARRAY_SIZE(accesses); a++) {
			cache_name(candidate, c, a);
			consider(&n, candidate);
		}
	if (n.name[0])
		return err_set(e, ERR_INPUT, "there is no event '%s'; did you mean %s?", name,
			       n.name);
	return err_set(e, ERR_INPUT,
		       "there is no event '%s'; events are cpu-clock, task-clock, page-faults, "
		       "context-switches; where the CPU counts them cycles, instructions, "
		       "cache-misses, branch-misses, L1-dcache-load-misses and the like; raw "
		       "events (r1a8), and the CPU's own events by their libpfm4 names",
		       name);
}

int event_find(struct event *out, const char *name, struct err *e)
{
	char base[NAME_MAX_LENGTH];
	struct event found = {0};
	if (!name[0] || strlen(name) >= sizeof(base))
		return err_set(e, ERR_INPUT, "an event has a name of 1 to %d letters",
			       NAME_MAX_LENGTH - 1);
	memcpy(base, name, strlen(name) + 1);
	bool ours =
		take_modifiers(&found, base) &&
		(find_known(&found, base) || find_cache(&found, base) || find_raw(&found, base));
	if (!ours) {
		found = (struct event){0};
		if (!find_in_library(&found, name))
			return refuse_unknown(base, e);
	}
	found.name = arena_strdup(&names, name);
	found.unit = found.clock ? "ns" : "";
	*out = found;
	return 0;
}
