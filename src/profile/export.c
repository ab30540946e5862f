#include "profile/export.h"

#include <string.h>

const struct export_format export_formats[] = {
	{"collapsed", "flame graph tools: a line for each call path", false, export_collapsed},
	{"speedscope", "speedscope", false, export_speedscope},
	{"pprof", "pprof", true, export_pprof},
	{"callgrind", "callgrind_annotate and KCachegrind", false, export_callgrind},
	{"dot", "Graphviz: the loop-call graph", false, export_dot},
	{0},
};

const struct export_format *export_format_named(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}
