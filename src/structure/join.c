/* Makes one structure of the results of many builders. Functions and texts are in the order of
 * function numbers, so the result does not depend on how functions were dealt out. */
#include <stdlib.h>
#include <string.h>

#include "structure/builder.h"
#include "structure/storage.h"

struct structure_join {
	struct structure_builder *builders;
	uint32_t **texts; /* for each builder: text number -> offset in `text`; 0: not added */
	struct text_pool text;
	struct structure_function *functions;
	struct scope *scopes;
	struct machine_loop *loops;
	struct address_range *ranges;
	struct storage_counts at; /* what is filled so far */
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

static uint32_t text_offset(struct structure_join *j, uint32_t builder, uint32_t number)
{
	uint32_t *known = &j->texts[builder][number];
	if (!*known && number) {
		const char *s = text_pool_get(&j->builders[builder].text, number);
		uint32_t joined = text_pool_add(&j->text, s);
		*known = j->text.starts.data[joined];
	}
	return *known;
}

static uint32_t rebase(uint32_t index, uint32_t base)
{
	return index == INDEX_NONE ? index : index + base;
}

static void join_scopes(struct structure_join *j, const struct finished_function *p)
{
	const struct scope *from = j->builders[p->builder].scopes.data + p->built->first_scope;
	for (uint32_t i = 0; i < p->built->scope_count; i++) {
		struct scope *s = &j->scopes[j->at.scopes + i];
		*s = from[i];
		s->end += j->at.scopes;
		s->parent = rebase(s->parent, j->at.scopes);
		s->name = text_offset(j, p->builder, s->name);
		s->file = text_offset(j, p->builder, s->file);
		s->call_file = text_offset(j, p->builder, s->call_file);
		s->first_range += j->at.ranges;
		s->loop = rebase(s->loop, j->at.loops);
	}
}

static void join_loops(struct structure_join *j, const struct finished_function *p)
{
	const struct machine_loop *from = j->builders[p->builder].loops.data + p->built->first_loop;
	for (uint32_t i = 0; i < p->built->function.loop_count; i++) {
		struct machine_loop *l = &j->loops[j->at.loops + i];
		*l = from[i];
		l->function = j->at.functions;
		l->parent = rebase(l->parent, j->at.loops);
		l->scope += j->at.scopes;
	}
}

static void join_function(struct structure_join *j, const struct finished_function *p)
{
	struct structure_function *out = &j->functions[j->at.functions];
	*out = p->built->function;
	out->name = text_offset(j, p->builder, out->name);
	out->linkage = text_offset(j, p->builder, out->linkage);
	out->scope = j->at.scopes;
	out->first_loop = j->at.loops;
	join_scopes(j, p);
	join_loops(j, p);
	if (p->built->range_count)
		memcpy(j->ranges + j->at.ranges,
		       j->builders[p->builder].ranges.data + p->built->first_range,
		       p->built->range_count * sizeof(*j->ranges));
	j->at.functions++;
	j->at.scopes += p->built->scope_count;
	j->at.loops += p->built->function.loop_count;
	j->at.ranges += p->built->range_count;
}

static void count_all(const struct structure_builder *builders, uint32_t count,
		      struct storage_counts *n)
{
	*n = (struct storage_counts){.text = 1};
	for (uint32_t i = 0; i < count; i++) {
		n->functions += builders[i].built.len;
		n->loops += builders[i].loops.len;
		n->ranges += builders[i].ranges.len;
		n->scopes += builders[i].scopes.len;
		n->text += builders[i].text.bytes.len;
	}
}

static struct finished_function *in_order(struct structure_builder *builders, uint32_t count,
					  uint32_t total)
{
	struct finished_function *list = xmalloc((total + 1) * sizeof(*list));
	uint32_t n = 0;
	for (uint32_t i = 0; i < count; i++)
		vec_each (done, &builders[i].built)
			list[n++] = (struct finished_function){i, done};
	qsort(list, n, sizeof(*list), by_number);
	return list;
}

struct structure *builders_join(struct structure_builder *builders, uint32_t count)
{
	/* There is no more text than in all builders together: the texts of a pool differ. */
	struct storage_counts n;
	count_all(builders, count, &n);
	struct structure *s = xcalloc(1, sizeof(*s));
	storage_attach(s, xmalloc(storage_size(&n)), &n);

	struct structure_join j = {.builders = builders};
	j.functions = s->storage;
	j.loops = (void *)(j.functions + n.functions);
	j.ranges = (void *)(j.loops + n.loops);
	j.scopes = (void *)(j.ranges + n.ranges);
	text_pool_init(&j.text);
	j.texts = xcalloc(count, sizeof(*j.texts));
	for (uint32_t i = 0; i < count; i++)
		j.texts[i] = xcalloc(builders[i].text.starts.len, sizeof(**j.texts));

	struct finished_function *list = in_order(builders, count, n.functions);
	for (uint32_t i = 0; i < n.functions; i++)
		join_function(&j, &list[i]);

	s->text_size = j.text.bytes.len;
	memcpy((char *)(j.scopes + n.scopes), j.text.bytes.data, s->text_size);
	free(list);
	for (uint32_t i = 0; i < count; i++)
		free(j.texts[i]);
	free(j.texts);
	text_pool_release(&j.text);
	return s;
}
