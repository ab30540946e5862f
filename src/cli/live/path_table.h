/* The table of results of `sonde path`: for each function its call paths, the costliest first. */
#pragma once
#include "base/text.h"
#include "path/session.h"
#include "profile/places.h"

struct table_options {
	bool threads;   /* a row for each thread */
	unsigned width; /* columns; 0: as wide as it gets */
	unsigned lines; /* at most so many; 0: MOST paths of each function */
};

void table_render(const struct path_session *s, struct places *places,
		  const struct table_options *o, struct text *out);
