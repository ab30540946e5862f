/* Exports profiles to the formats of other tools. One file per format: export_NAME.c. */
#pragma once
#include "base/text.h"
#include "profile/tree.h"

struct export_options {
	/* Selects metric, threads and contexts; `lines` is ignored. pprof gets all metrics. */
	struct tree_options tree;
	bool loops;         /* loops are frames, or graph nodes, of their own */
	bool inlines;       /* inlined calls are frames of their own; otherwise they belong to their
			       caller */
	bool by_thread;     /* collapsed: the thread is the first frame; speedscope: one profile per
			       thread */
	double min_percent; /* dot: leave out nodes and edges below this share of the total */
};

#define EXPORT_OPTIONS_INIT                                                                        \
	{                                                                                          \
		.loops = true, .inlines = true, .min_percent = 0.5                                 \
	}

struct export_format {
	const char *name;
	const char *help; /* the programs that read it */
	bool binary;      /* not for a terminal */
	/* Appends the whole file. The profile must be fused. */
	void (*write)(const struct profile *p, const struct export_options *o, struct text *out);
};

extern const struct export_format export_formats[]; /* ends with a NULL name */
/* NULL if there is no format with this name. */
const struct export_format *export_format_named(const char *name);

void export_collapsed(const struct profile *p, const struct export_options *o, struct text *out);
void export_speedscope(const struct profile *p, const struct export_options *o, struct text *out);
void export_pprof(const struct profile *p, const struct export_options *o, struct text *out);
void export_callgrind(const struct profile *p, const struct export_options *o, struct text *out);
void export_dot(const struct profile *p, const struct export_options *o, struct text *out);
