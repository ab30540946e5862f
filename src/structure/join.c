#include "structure/join.h"

#include <stdlib.h>

#include "base/order.h"
#include "structure/storage.h"

/* Results of builders that are being taken over. */
struct taking {
	struct structure_join *join;
	struct structure_builder *builders;
	uint32_t **texts; /* for each builder: text number -> offset in join->text; 0: not added */
};

struct finished_function {
	uint32_t builder;
	const struct built *built;
};

static int by_number(const void *a, const void *b)
{
	const struct finished_function *x = a, *y = b;
	return x->built->number < y->built->number ? -1 : x->built->number > y->built->number;
}

static uint32_t text_offset(const struct taking *t, uint32_t builder, uint32_t number)
{
	uint32_t *known = &t->texts[builder][number];
	if (!*known && number) {
		const char *s = text_pool_get(&t->builders[builder].text, number);
		uint32_t joined = text_pool_add(&t->join->text, s);
		*known = t->join->text.starts.data[joined];
	}
	return *known;
}

static uint32_t rebase(uint32_t index, uint32_t base)
{
	return index == INDEX_NONE ? index : index + base;
}

static void take_scopes(const struct taking *t, const struct finished_function *p)
{
	struct structure_join *j = t->join;
	const struct scope *from = t->builders[p->builder].scopes.data + p->built->first_scope;
	uint32_t first = j->scopes.len;
	vec_append(&j->scopes, from, p->built->scope_count);
	for (uint32_t i = first; i < j->scopes.len; i++) {
		struct scope *s = &j->scopes.data[i];
		s->end += first;
		s->parent = rebase(s->parent, first);
		s->name = text_offset(t, p->builder, s->name);
		s->file = text_offset(t, p->builder, s->file);
		s->call_file = text_offset(t, p->builder, s->call_file);
		s->first_range += j->ranges.len;
		s->loop = rebase(s->loop, j->loops.len);
	}
}

/* `first_scope` is where the scopes of the function are now. */
static void take_loops(const struct taking *t, const struct finished_function *p,
		       uint32_t first_scope)
{
	struct structure_join *j = t->join;
	const struct machine_loop *from = t->builders[p->builder].loops.data + p->built->first_loop;
	uint32_t first = j->loops.len;
	vec_append(&j->loops, from, p->built->function.loop_count);
	for (uint32_t i = first; i < j->loops.len; i++) {
		j->loops.data[i].parent = rebase(j->loops.data[i].parent, first);
		j->loops.data[i].scope += first_scope;
	}
}

static void take_function(const struct taking *t, const struct finished_function *p)
{
	struct structure_join *j = t->join;
	struct structure_function out = p->built->function;
	out.name = text_offset(t, p->builder, out.name);
	out.linkage = text_offset(t, p->builder, out.linkage);
	out.scope = j->scopes.len;
	out.first_loop = j->loops.len;
	take_scopes(t, p);
	take_loops(t, p, out.scope);
	vec_append(&j->ranges, t->builders[p->builder].ranges.data + p->built->first_range,
		   p->built->range_count);
	vec_push(&j->functions, out);
}

static struct finished_function *in_order(struct structure_builder *builders, uint32_t count,
					  uint32_t *total)
{
	VEC(struct finished_function) list = {0};
	for (uint32_t i = 0; i < count; i++)
		vec_each (done, &builders[i].built)
			vec_push(&list, (struct finished_function){i, done});
	if (list.len)
		qsort(list.data, list.len, sizeof(*list.data), by_number);
	*total = list.len;
	return list.data;
}

void join_init(struct structure_join *j)
{
	*j = (struct structure_join){0};
	text_pool_init(&j->text);
	/* Arrays without elements are no null pointers, either. */
	vec_reserve(&j->functions, 1);
	vec_reserve(&j->loops, 1);
	vec_reserve(&j->ranges, 1);
	vec_reserve(&j->scopes, 1);
}

void join_add(struct structure_join *j, struct structure_builder *builders, uint32_t count)
{
	struct taking t = {j, builders, xcalloc(count, sizeof(*t.texts))};
	uint32_t total;
	for (uint32_t i = 0; i < count; i++)
		t.texts[i] = xcalloc(builders[i].text.starts.len, sizeof(**t.texts));
	struct finished_function *list = in_order(builders, count, &total);
	for (uint32_t i = 0; i < total; i++)
		take_function(&t, &list[i]);
	free(list);
	for (uint32_t i = 0; i < count; i++) {
		builder_clear(&builders[i]);
		free(t.texts[i]);
	}
	free(t.texts);
}

/* ---- a structure that was made before ---- */

static uint32_t copy_text(struct structure_join *j, const struct structure *known, uint32_t offset)
{
	uint32_t number = text_pool_add(&j->text, known->text + offset);
	return j->text.starts.data[number];
}

static uint32_t moved(uint32_t index, uint32_t from, uint32_t to)
{
	return index == INDEX_NONE ? index : index - from + to;
}

static void copy_scope(struct structure_join *j, const struct structure *known,
		       const struct structure_function *p, uint32_t scope, uint32_t first_scope)
{
	struct scope s = known->scopes[scope];
	s.end = moved(s.end, p->scope, first_scope);
	s.parent = moved(s.parent, p->scope, first_scope);
	s.name = copy_text(j, known, s.name);
	s.file = copy_text(j, known, s.file);
	s.call_file = copy_text(j, known, s.call_file);
	s.loop = moved(s.loop, p->first_loop, j->loops.len);
	s.first_range = j->ranges.len;
	vec_append(&j->ranges, known->ranges + known->scopes[scope].first_range, s.range_count);
	vec_push(&j->scopes, s);
}

static void copy_function(struct structure_join *j, const struct structure *known,
			  const struct structure_function *p)
{
	struct structure_function out = *p;
	out.name = copy_text(j, known, p->name);
	out.linkage = copy_text(j, known, p->linkage);
	out.scope = j->scopes.len;
	out.first_loop = j->loops.len;
	for (uint32_t i = p->scope; i < known->scopes[p->scope].end; i++)
		copy_scope(j, known, p, i, out.scope);
	for (uint32_t i = p->first_loop; i < p->first_loop + p->loop_count; i++) {
		struct machine_loop l = known->loops[i];
		l.parent = moved(l.parent, p->first_loop, out.first_loop);
		l.scope = moved(l.scope, p->scope, out.scope);
		vec_push(&j->loops, l);
	}
	vec_push(&j->functions, out);
}

void join_add_known(struct structure_join *j, const struct structure *known)
{
	struct hashmap there = {0};
	vec_each (p, &j->functions)
		hashmap_put(&there, p->start, 0);
	for (uint32_t i = 0; i < known->function_count; i++)
		if (hashmap_get(&there, known->functions[i].start) == HASHMAP_NONE)
			copy_function(j, known, &known->functions[i]);
	hashmap_release(&there);
}

/* Sorts the functions, and tells each loop where its function is now. */
static void order_functions(struct structure_join *j)
{
	order_by_address(j->functions.data, j->functions.len, sizeof(*j->functions.data),
			 offsetof(struct structure_function, start));
	for (uint32_t i = 0; i < j->functions.len; i++) {
		const struct structure_function *p = &j->functions.data[i];
		for (uint32_t k = 0; k < p->loop_count; k++)
			j->loops.data[p->first_loop + k].function = i;
	}
}

struct structure *join_finish(struct structure_join *j)
{
	order_functions(j);
	vec_trim(&j->functions);
	vec_trim(&j->loops);
	vec_trim(&j->ranges);
	vec_trim(&j->scopes);
	vec_trim(&j->text.bytes);
	struct structure *s = xcalloc(1, sizeof(*s));
	void *const arrays[STORAGE_PARTS] = {j->functions.data, j->loops.data, j->ranges.data,
					     j->scopes.data, j->text.bytes.data};
	const struct storage_counts n = {j->functions.len, j->loops.len, j->ranges.len,
					 j->scopes.len, j->text.bytes.len};
	storage_attach(s, arrays, &n);
	/* The bytes are the structure's text now. */
	j->text.bytes.data = NULL;
	text_pool_release(&j->text);
	return s;
}
