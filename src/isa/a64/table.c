/* Parses the rows once and indexes them by the top bits of the word.
 *
 * Bits 31:21 select a bucket of rules, in the order of the rows. Most buckets are short. Those of
 * Advanced SIMD and SVE are not, so a bucket of more than SPLIT_ABOVE rules is divided again by
 * bits 15:10. A decode is then one or two table look-ups and a few compares. */
#include "isa/a64/table.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/vec.h"

enum { TOP_SHIFT = 21, TOP_COUNT = 2048, LOW_SHIFT = 10, LOW_COUNT = 64, SPLIT_ABOVE = 10 };

#define LOW_MASK ((uint32_t)(LOW_COUNT - 1) << LOW_SHIFT)

/* A bucket is the index of its first match in `matches`, or SPLIT and the index of the first of its
 * LOW_COUNT buckets in `low`. The matches of a bucket end with one that matches every word:
 * undefined. */
typedef uint32_t bucket;

#define SPLIT (UINT32_C(1) << 31)

static struct {
	pthread_once_t once;
	atomic_bool built;
	VEC(struct a64_rule) rules;
	VEC(struct a64_match) matches;
	VEC(bucket) low;
	bucket top[TOP_COUNT];
} table = {.once = PTHREAD_ONCE_INIT};

enum { READ = 1, WRITE = 2 };

#define NOT_31 UINT32_C(0x7fffffff)
#define ANY    UINT32_MAX

static const struct {
	char letter;
	bool vector;
	uint8_t access, base;
	uint32_t keep;
} letters[] = {
	{'r', false, READ, 0, NOT_31},
	{'w', false, WRITE, 0, NOT_31},
	{'u', false, READ | WRITE, 0, NOT_31},
	{'b', false, READ, 0, ANY},
	{'s', false, WRITE, 0, ANY},
	{'B', false, READ | WRITE, 0, ANY},
	{'k', false, READ, 12, ANY},
	{'v', true, READ, 0, ANY},
	{'V', true, WRITE, 0, ANY},
	{'A', true, READ | WRITE, 0, ANY},
	{'p', false, READ, A64_FIRST_PREDICATE, ANY},
	{'P', false, WRITE, A64_FIRST_PREDICATE, ANY},
	{'Q', false, READ | WRITE, A64_FIRST_PREDICATE, ANY},
};

#define CORE(reg)   (UINT64_C(1) << (reg))
#define LOW_REGS(n) ((UINT64_C(1) << (n)) - 1)
#define PREDICATES  (LOW_REGS(A64_FFR + 1) - LOW_REGS(A64_FIRST_PREDICATE))

static const struct {
	uint16_t implied;
	uint64_t reads, writes; /* of regset.core */
} implied_regs[] = {
	{FLAGS_R, CORE(REG_FLAGS), 0},
	{FLAGS_W, 0, CORE(REG_FLAGS)},
	{LINK_R, CORE(30), 0},
	{LINK_W, 0, CORE(30)},
	{SP_R, CORE(31), 0},
	{X16_R, CORE(16), 0},
	{X16_W, 0, CORE(16)},
	{X17_R, CORE(17), 0},
	{X17_W, 0, CORE(17)},
	{FFR_R, CORE(A64_FFR), 0},
	{FFR_W, 0, CORE(A64_FFR)},
	{FPCR_R, CORE(A64_FPCR), 0},
	{FPCR_W, 0, CORE(A64_FPCR)},
	{KERNEL, LOW_REGS(6) | CORE(8), CORE(0)},
	{FIRMWARE, LOW_REGS(18), LOW_REGS(18)},
	{VECTORS_RW, PREDICATES, PREDICATES},
};

static struct a64_field *new_field(struct a64_rule *rule, bool vector)
{
	if (vector)
		return rule->vec_count < A64_MAX_VEC ? &rule->vec[rule->vec_count++] : NULL;
	return rule->core_count < A64_MAX_CORE ? &rule->core[rule->core_count++] : NULL;
}

/* Returns NULL if the letter is unknown or the rule has no room for another field. */
static struct a64_field *add_field(struct a64_rule *rule, char letter)
{
	for (size_t i = 0; i < ARRAY_SIZE(letters); i++) {
		if (letters[i].letter != letter)
			continue;
		struct a64_field *f = new_field(rule, letters[i].vector);
		if (f)
			*f = (struct a64_field){
				.reads = letters[i].access & READ ? letters[i].keep : 0,
				.writes = letters[i].access & WRITE ? letters[i].keep : 0,
				.base = letters[i].base,
				.ones = 1,
			};
		return f;
	}
	return NULL;
}

static bool is_count(char c)
{
	return c == '2' || c == '3' || c == '4' || c == '8';
}

static bool parse_pattern(const char *s, struct a64_rule *rule)
{
	int bit = 32;
	char last = ' ';
	struct a64_field *field = NULL;

	for (; *s; last = *s++) {
		if (*s == ' ')
			continue;
		if (bit-- == 0)
			return false;
		if (is_count(*s)) {
			if (!field || last == 'x' || !isalpha((unsigned char)last))
				return false;
			field->ones = (uint8_t)((1u << (*s - '0')) - 1);
		} else if (*s == '0' || *s == '1') {
			rule->mask |= 1u << bit;
			rule->value |= (uint32_t)(*s - '0') << bit;
			continue;
		} else if (*s == 'x') {
			continue;
		} else if (*s != last && !(field = add_field(rule, *s))) {
			return false;
		}
		field->shift = (uint8_t)bit;
		field->mask = (uint8_t)(field->mask << 1 | 1);
		if (field->mask > 31)
			return false;
	}
	return bit == 0;
}

bool a64_parse_row(const struct a64_row *row, struct a64_rule *rule)
{
	*rule = (struct a64_rule){
		.class = row->class,
		.form = row->form,
		.kind = a64_form_info[row->form].kind,
		.flags = a64_form_info[row->form].flags,
		.checked = a64_form_info[row->form].valid != NULL,
	};
	for (size_t i = 0; i < ARRAY_SIZE(implied_regs); i++) {
		if (row->implied & implied_regs[i].implied) {
			rule->reads.core |= implied_regs[i].reads;
			rule->writes.core |= implied_regs[i].writes;
		}
	}
	if (row->implied & VECTORS_RW)
		rule->reads.vec = rule->writes.vec = UINT32_MAX;
	return parse_pattern(row->pattern, rule);
}

static void parse_rows(void)
{
	static const struct a64_row *const all[] = {a64_rows_base, a64_rows_memory, a64_rows_simd,
						    a64_rows_sve, a64_rows_sme};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		for (const struct a64_row *row = all[i]; row->pattern; row++) {
			struct a64_rule rule;
			bool ok = a64_parse_row(row, &rule);
			assert(ok);
			(void)ok;
			vec_push(&table.rules, rule);
		}
	}
}

static uint32_t first_key(const struct a64_rule *rule)
{
	return rule->value >> TOP_SHIFT;
}

/* The value of bits 31:21 after `key` that the rule allows, or TOP_COUNT. */
static uint32_t next_key(const struct a64_rule *rule, uint32_t key)
{
	uint32_t fixed = rule->mask >> TOP_SHIFT;
	uint32_t next = ((key | fixed) + 1) & ~fixed; /* counts in the free bits */
	return next == 0 || next >= TOP_COUNT ? TOP_COUNT : next | first_key(rule);
}

/* Rules that match words with given bits 31:21. */
struct ids {
	const uint16_t *data;
	uint32_t count;
};

static bool same_ids(struct ids a, struct ids b)
{
	return a.count == b.count && memcmp(a.data, b.data, a.count * sizeof(*a.data)) == 0;
}

static void add_match(uint32_t id)
{
	const struct a64_rule *r = &table.rules.data[id];
	vec_push(&table.matches, (struct a64_match){.mask = r->mask,
						    .value = r->value,
						    .rule = (uint16_t)id,
						    .flags = r->flags,
						    .class = r->class,
						    .form = r->form,
						    .kind = r->kind,
						    .checked = r->checked});
}

static void end_matches(void)
{
	vec_push(&table.matches, (struct a64_match){.form = UNDEFINED});
}

static bucket make_bucket(struct ids ids)
{
	bucket b = table.matches.len;
	for (uint32_t i = 0; i < ids.count; i++)
		add_match(ids.data[i]);
	end_matches();
	return b;
}

/* If the matches from `b` on equal those of `last`, which directly precede them, drops them and
 * returns `last`. */
static bucket share(bucket last, bucket b)
{
	uint32_t count = table.matches.len - b;
	const struct a64_match *new = &table.matches.data[b], *old = &table.matches.data[last];
	if (b - last != count || memcmp(old, new, count * sizeof(*new)) != 0)
		return b;
	table.matches.len = b;
	return last;
}

static bucket make_split_bucket(struct ids ids)
{
	bucket last = table.matches.len, split = SPLIT | table.low.len;

	for (uint32_t k = 0; k < LOW_COUNT; k++) {
		bucket b = table.matches.len;
		for (uint32_t i = 0; i < ids.count; i++) {
			const struct a64_rule *r = &table.rules.data[ids.data[i]];
			if (((k << LOW_SHIFT ^ r->value) & r->mask & LOW_MASK) == 0)
				add_match(ids.data[i]);
		}
		end_matches();
		last = share(last, b);
		vec_push(&table.low, last);
	}
	return split;
}

/* Sorts the rules by the values of bits 31:21 that they allow. The result holds those of value k
 * from start[k] up to start[k + 1]. */
static uint16_t *sort_rules(uint32_t start[TOP_COUNT + 1])
{
	uint32_t fill[TOP_COUNT];

	memset(start, 0, (TOP_COUNT + 1) * sizeof(*start));
	vec_each (r, &table.rules)
		for (uint32_t k = first_key(r); k < TOP_COUNT; k = next_key(r, k))
			start[k + 1]++;
	for (uint32_t k = 0; k < TOP_COUNT; k++)
		start[k + 1] += fill[k] = start[k];
	uint16_t *ids = xmalloc(start[TOP_COUNT] * sizeof(*ids));
	vec_each (r, &table.rules)
		for (uint32_t k = first_key(r); k < TOP_COUNT; k = next_key(r, k))
			ids[fill[k]++] = (uint16_t)(r - table.rules.data);
	return ids;
}

static void build(void)
{
	uint32_t start[TOP_COUNT + 1];
	struct ids last = {0};

	parse_rows();
	uint16_t *all = sort_rules(start);
	for (uint32_t k = 0; k < TOP_COUNT; k++) {
		struct ids ids = {all + start[k], start[k + 1] - start[k]};
		if (k > 0 && same_ids(ids, last))
			table.top[k] = table.top[k - 1];
		else if (ids.count > SPLIT_ABOVE)
			table.top[k] = make_split_bucket(ids);
		else
			table.top[k] = make_bucket(ids);
		last = ids;
	}
	free(all);
	atomic_store_explicit(&table.built, true, memory_order_release);
}

/* The flag saves a call of pthread_once() per decode. */
static void build_once(void)
{
	if (!atomic_load_explicit(&table.built, memory_order_acquire))
		pthread_once(&table.once, build);
}

const struct a64_match *a64_find(uint32_t word)
{
	build_once();
	bucket b = table.top[word >> TOP_SHIFT];
	if (b & SPLIT)
		b = table.low.data[(b & ~SPLIT) + ((word & LOW_MASK) >> LOW_SHIFT)];
	const struct a64_match *m = &table.matches.data[b];
	while ((word & m->mask) != m->value)
		m++;
	return m;
}

const struct a64_rule *a64_rule(const struct a64_match *m)
{
	return &table.rules.data[m->rule];
}

const struct a64_rule *a64_all_rules(uint32_t *count)
{
	build_once();
	*count = table.rules.len;
	return table.rules.data;
}
