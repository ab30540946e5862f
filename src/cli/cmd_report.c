/* `sonde report`: shows where the time of a recorded run went. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/observe.h"
#include "cli/report/search.h"
#include "cli/report/view.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "cli/term/text.h"
#include "findings/findings.h"
#include "profile/export.h"
#include "profile/fuse.h"
#include "profile/store.h"

static const char *const sorts[] = {"self", "total", "name", NULL};
static const char *const exports[] = {"collapsed", "speedscope", "pprof", "callgrind", "dot", NULL};

enum { NO_EXPORT = UINT8_MAX };

static void check_args(const struct report_args *a)
{
	struct err e;
	uint32_t levels;
	const struct report_view *v = report_chosen_view(a);
	bool exporting = a->export != NO_EXPORT;
	if (a->json + a->csv + exporting > 1)
		die("report writes one format at a time: --json, --csv or --export");
	if (a->lines && a->assembly)
		die("report shows --lines or --asm, not both at once");
	if (a->json && !v->json && !v->build)
		die("--asm has no JSON output");
	if (a->csv && !v->csv && !v->build)
		die("this view has no CSV output; all views except summary, graph and findings "
		    "do (--view=...)");
	if (exporting && v->search && v->csv && strcmp(exports[a->export], "dot") != 0)
		die("a search can only be exported as a graph (--export=dot); --json and --csv "
		    "write all of it");
	if (flatten_parse(a->flatten, &levels, &e))
		die("%s", e.text);
	if (a->depth.given && !a->depth.value)
		die("--depth needs at least one level");
	if (a->output && !exporting)
		die("--output is for --export; for everything else redirect the output: sonde "
		    "report "
		    "... >%s",
		    a->output);
}

static void write_to(const char *path, const struct text *t)
{
	FILE *f = fault("export-open", EACCES) ? NULL : fopen(path, "we");
	if (!f)
		die("cannot write %s: %s", path, strerror(errno));
	bool failed = fwrite(t->data, 1, t->len, f) != t->len;
	if (fclose(f) != 0 || failed)
		die("cannot write %s: %s", path, strerror(errno));
}

static void export(struct report *r)
{
	const struct report_args *a = r->args;
	const struct export_format *f = export_format_named(exports[a->export]);
	struct export_options o = EXPORT_OPTIONS_INIT;
	struct text out = TEXT_INIT;
	o.tree = report_tree_options(r, false);
	o.by_thread = a->per_thread;
	o.min_percent = a->min_percent ? percent(r->min_share) : o.min_percent;
	if (f->binary && !a->output && isatty(STDOUT_FILENO))
		die("%s is a binary format; write it to a file with --output=FILE", f->name);
	if (report_chosen_view(a)->text == search_text)
		search_dot(r, &out);
	else
		f->write(r->profile, &o, &out);
	if (a->output) {
		write_to(a->output, &out);
	} else {
		output_begin(common.color, false);
		output_write(&out);
	}
	text_release(&out);
}

/* Printed after the data, so that it stays visible on the screen. */
static void complain_about_modules(const struct profile *p)
{
	vec_each (i, &p->modules)
		if (i->problem && *i->problem)
			complain("%s: %s", i->path, i->problem);
}

static void load(struct profile *p, const char *path, bool is_default, bool long_names)
{
	struct err e;
	const struct fuse_options o = {0};
	if (is_default && access(path, F_OK) != 0 && errno == ENOENT)
		die("there is no %s here; record one with: sonde record -- PROGRAM", path);
	if (store_load(p, path, &e))
		die("%s", e.text);
	if (!p->fused)
		profile_fuse(p, &o);
	findings_make(p, long_names);
}

static int run(const void *args, const struct operands *operands)
{
	struct report_args a = *(const struct report_args *)args;
	struct profile p;
	struct report r;
	struct err e;
	struct text out = TEXT_INIT;
	const char *path = operands->count ? operands->list[0] : DEFAULT_PROFILE;
	if (operands->count > 1)
		die("report takes one profile at a time; sonde diff compares two");
	check_args(&a);
	text_long_names(a.long_names);
	load(&p, path, !operands->count, a.long_names);
	if (a.view == VIEW_BEST && a.export == NO_EXPORT)
		a.view = report_best_view(&a, &p);
	if (report_init(&r, &a, &p, &e))
		die("%s", e.text);
	if (a.export != NO_EXPORT) {
		export(&r);
	} else {
		output_begin(common.color, common.pager);
		report_write(&r, path, &out);
		output_write(&out);
		output_end();
	}
	complain_about_modules(&p);
	text_release(&out);
	report_release(&r);
	profile_release(&p);
	return EXIT_SUCCESS;
}

static const struct option options[] = {
	OPTION("view", OPTION_CHOICE, struct report_args, view, .letter = 'v', .value = "VIEW",
	       .choices = report_view_names,
	       .help = "summary, tree, callers, flat, loops, graph, threads, trips, mix, parallel, "
		       "findings, search"),
	OPTION("lines", OPTION_FLAG, struct report_args, lines, .letter = 'l',
	       .help = "source, annotated with shares"),
	OPTION("asm", OPTION_FLAG, struct report_args, assembly, .letter = 'a',
	       .help = "disassembly, annotated with shares"),
	OPTION("thread", OPTION_TEXT, struct report_args, thread, .letter = 't', .value = "THREAD",
	       .help = "only threads with this ID or name (*, ?, [] match)"),
	OPTION("focus", OPTION_TEXT, struct report_args, focus, .value = "PATTERN",
	       .help = "only call paths through this function, loop or FILE:LINE"),
	OPTION("metric", OPTION_TEXT, struct report_args, metric, .letter = 'm', .value = "NAME",
	       .help = "metric to show, if several were measured"),
	OPTION("sort", OPTION_CHOICE, struct report_args, sort, .letter = 's', .value = "KEY",
	       .choices = sorts, .help = "self, total or name"),
	OPTION("min-percent", OPTION_TEXT, struct report_args, min_percent, .value = "P",
	       .help = "collapse rows with a smaller share (0.5; 0 for JSON and CSV)"),
	OPTION("depth", OPTION_NUMBER, struct report_args, depth, .letter = 'd', .value = "N",
	       .help = "show at most N levels"),
	OPTION("by-line", OPTION_FLAG, struct report_args, by_line,
	       .help = "tree: show lines as well"),
	OPTION("no-fold", OPTION_UNFLAG, struct report_args, fold,
	       .help = "tree, callers: show every level of recursion"),
	OPTION("flatten", OPTION_TEXT, struct report_args, flatten, .value = "N|loops",
	       .help = "flat: remove outer levels, or everything outside loops"),
	OPTION("per-thread", OPTION_FLAG, struct report_args, per_thread,
	       .help = "show the values of each thread as well"),
	OPTION("source-path", OPTION_TEXT, struct report_args, source_path, .value = "DIR",
	       .help = "folder of the source files, for --lines"),
	OPTION_LONG_NAMES(struct report_args, long_names),
	OPTION("json", OPTION_FLAG, struct report_args, json, .letter = 'j', .help = "write JSON"),
	OPTION("csv", OPTION_FLAG, struct report_args, csv, .help = "write comma-separated values"),
	OPTION("export", OPTION_CHOICE, struct report_args, export, .letter = 'x',
	       .value = "FORMAT", .choices = exports,
	       .help = "collapsed, speedscope, pprof, callgrind or dot"),
	OPTION("output", OPTION_TEXT, struct report_args, output, .letter = 'o', .value = "FILE",
	       .help = "file for --export, instead of standard output"),
	{0},
};

static const struct report_args defaults = {
	.view = VIEW_BEST,
	.sort = SORT_BEST,
	.fold = true,
	.export = NO_EXPORT,
};

const struct command cmd_report = {
	.name = "report",
	.summary = "Show where the time of a recorded run went",
	.usage = "[FILE] [options]",
	.details = "\nFILE is a profile that sonde record, count, path or diagnose wrote; the "
		   "default is sonde.data.\n",
	.options = options,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
