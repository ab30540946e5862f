/* The recipes of a module's functions, kept in the user's cache directory (module/cache_file.h):
 * what was analysed in one run need not be analysed in the next. A function has its recipes from
 * there only if its bounds are the same. */
#pragma once
#include "base/vec.h"
#include "module/module.h"
#include "unwind/recipe.h"

/* A range of code whose recipes are known. */
struct known_span {
	uint64_t start, end;
	uint32_t first, count; /* entries */
};

struct recipe_table {
	VEC(struct known_span) spans; /* sorted by start, disjoint */
	VEC(struct recipe_entry) entries;
	VEC(struct recipe) recipes; /* recipe 0 knows nothing */
};

void recipe_table_release(struct recipe_table *t);

/* Fills in an empty table; false if there is no usable file. */
bool recipe_cache_load(struct recipe_table *t, const struct module *m);
/* Writes the spans of `t`, and those of `before` that do not overlap with them. */
void recipe_cache_store(const struct recipe_table *t, const struct recipe_table *before,
			const struct module *m);
