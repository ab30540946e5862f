/* Profiles in the formats of other tools. One file a format: export_NAME.c. */
#pragma once
#include "base/text.h"
#include "profile/tree.h"

struct export_options {
	/* Which metric, threads and contexts; `lines` does not matter. pprof has all metrics. */
	struct tree_options tree;
	bool loops;     /* loops are frames, or nodes, of their own */
	bool inlines;   /* inlined calls are; otherwise they belong to who called them */
	bool by_thread; /* collapsed: the thread is the first frame; speedscope: a profile each */
	double min_percent; /* dot: leaves out nodes and edges with less of the total */
};

#define EXPORT_OPTIONS_INIT                                                                        \
	{                                                                                          \
		.loops = true, .inlines = true, .min_percent = 0.5                                 \
	}

struct export_format {
	const char *name;
	const char *help; /* what reads it */
	bool binary;      /* not for a terminal */
	/* Appends the whole file. The profile must be fused. */
	void (*write)(const struct profile *p, const struct export_options *o, struct text *out);
};

extern const struct export_format export_formats[]; /* ends with a NULL name */
/* NULL if there is none of this name. */
const struct export_format *export_format_named(const char *name);

void export_collapsed(const struct profile *p, const struct export_options *o, struct text *out);
void export_speedscope(const struct profile *p, const struct export_options *o, struct text *out);
void export_pprof(const struct profile *p, const struct export_options *o, struct text *out);
void export_callgrind(const struct profile *p, const struct export_options *o, struct text *out);
void export_dot(const struct profile *p, const struct export_options *o, struct text *out);
