/* The table of results of `sonde path`: for each function its call paths, most expensive first. */
#pragma once
#include "base/text.h"
#include "path/session.h"
#include "profile/places.h"

struct table_options {
	bool threads;   /* one row per call path and thread */
	unsigned width; /* columns; 0: unlimited */
	unsigned lines; /* maximum; 0: unlimited, but at most MAX_PATHS paths per function */
};

void table_render(const struct path_session *s, struct places *places,
		  const struct table_options *o, struct text *out);
