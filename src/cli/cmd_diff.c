/* `sonde diff`: shows what got slower between two recorded runs. Exit statuses are those of
 * diff(1), so that it can stop a build. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cli/command.h"
#include "cli/report/diff.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "profile/fuse.h"
#include "profile/store.h"

enum { EXIT_SLOWER = 1, EXIT_TROUBLE = 2 };

/* If matched functions have less than this share of both profiles, the programs are not the
 * same. */
static const double MIN_COMMON_SHARE = 0.1;

/* The default of --min-percent for text; JSON and CSV have all rows. */
static const double DEFAULT_MIN_PERCENT = 0.1;

struct diff_args {
	const char *metric, *gate, *min_percent;
	bool normalise, all, json, csv;
};

static int parse_percent(const char *option, const char *word, double *out, struct err *e)
{
	char *end;
	errno = 0;
	double percent = strtod(word, &end);
	if (end == word || *end || errno || !isfinite(percent) || percent < 0)
		return err_set(e, ERR_INPUT, "--%s needs a number in percent, not '%s'", option,
			       word);
	*out = percent;
	return 0;
}

static int load(struct diff_input *in, const char *path, struct err *e)
{
	const struct fuse_options o = {0};
	in->path = path;
	int r = store_load(&in->profile, path, e);
	if (!r && !in->profile.fused)
		profile_fuse(&in->profile, &o);
	return r;
}

static void add_metrics(struct text *out, const struct profile *p)
{
	vec_each (m, &p->metrics)
		text_printf(out, "%s%s", m > p->metrics.data ? ", " : "", m->name);
	if (!p->metrics.len)
		text_add(out, "nothing");
}

/* Selects the metric that was named, otherwise the first metric of A that B has, too. */
static int choose_metric(struct diff_input *a, struct diff_input *b, const char *name,
			 struct err *e)
{
	struct text in_a = TEXT_INIT, in_b = TEXT_INIT;
	vec_each (m, &a->profile.metrics) {
		uint32_t other = profile_metric_named(&b->profile, m->name);
		if (other == PROFILE_NONE || (name && strcmp(m->name, name) != 0))
			continue;
		a->metric = (uint32_t)(m - a->profile.metrics.data);
		b->metric = other;
		return 0;
	}
	add_metrics(&in_a, &a->profile);
	add_metrics(&in_b, &b->profile);
	int r = err_set(e, ERR_INPUT, "%s was %smeasured in both: %s has %s, %s has %s",
			name ? name : "no metric", name ? "not " : "", a->path, in_a.data, b->path,
			in_b.data);
	text_release(&in_a);
	text_release(&in_b);
	return r;
}

static const char *command_of(const struct diff_input *in)
{
	const char *command = profile_get_fact(&in->profile, "command");
	return command ? command : "an unknown program";
}

static int check_related(const struct diff_view *v, struct err *e)
{
	const struct diff *d = v->diff;
	const char *metric = v->a->profile.metrics.data[v->a->metric].name;
	if (!d->a.total || !d->b.total)
		return err_set(e, ERR_INPUT, "%s has no %s%s, so there is nothing to compare",
			       d->a.total ? v->b->path : v->a->path, d->exact ? "" : "samples of ",
			       metric);
	if (d->matched_a >= MIN_COMMON_SHARE || d->matched_b >= MIN_COMMON_SHARE)
		return 0;
	return err_set(e, ERR_INPUT,
		       "%s and %s have no hot functions in common, so these are different "
		       "programs: '%s' and '%s'",
		       v->a->path, v->b->path, command_of(v->a), command_of(v->b));
}

static void show(const struct diff_view *v, const struct diff_args *args)
{
	struct text out = TEXT_INIT;
	output_begin(common.color, common.pager && !args->json && !args->csv);
	if (args->json)
		diff_json(v, &out);
	else if (args->csv)
		diff_csv(v, &out);
	else
		diff_text(v, &out);
	output_write(&out);
	output_end();
	text_release(&out);
}

static int compare(struct diff_view *v, const struct diff_args *args, struct err *e)
{
	struct diff d;
	const struct diff_options o = {v->a->metric, v->b->metric, args->normalise};
	diff_build(&d, &v->a->profile, &v->b->profile, &o);
	v->diff = &d;
	int status = check_related(v, e) ? EXIT_TROUBLE : EXIT_SUCCESS;
	if (!status) {
		show(v, args);
		status = diff_gate_exceeded(v) ? EXIT_SLOWER : EXIT_SUCCESS;
	}
	diff_release(&d);
	return status;
}

static int parse_view(struct diff_view *v, const struct diff_args *args, struct err *e)
{
	*v = (struct diff_view){.normalise = args->normalise,
				.all = args->all,
				.min_percent = args->json || args->csv ? 0 : DEFAULT_MIN_PERCENT,
				.gate = -1};
	int r = args->gate ? parse_percent("gate", args->gate, &v->gate, e) : 0;
	if (!r && args->min_percent)
		r = parse_percent("min-percent", args->min_percent, &v->min_percent, e);
	if (!r && args->json && args->csv)
		r = err_set(e, ERR_INPUT, "diff writes one format at a time: --json or --csv");
	return r;
}

static int run(const void *args, const struct operands *operands)
{
	const struct diff_args *options = args;
	struct diff_input a = {0}, b = {0};
	struct diff_view v;
	struct err e;
	int status = EXIT_TROUBLE;
	if (operands->count != 2)
		die("diff compares two profiles: sonde diff OLD NEW");
	if (parse_view(&v, options, &e))
		die("%s", e.text);
	v.a = &a;
	v.b = &b;
	if (!load(&a, operands->list[0], &e) && !load(&b, operands->list[1], &e) &&
	    !choose_metric(&a, &b, options->metric, &e))
		status = compare(&v, options, &e);
	if (status == EXIT_TROUBLE)
		complain("%s", e.text);
	profile_release(&a.profile);
	profile_release(&b.profile);
	return status;
}

static const struct option options[] = {
	OPTION("gate", OPTION_TEXT, struct diff_args, gate, .letter = 'g', .value = "PERCENT",
	       .help = "exit with status 1 if something got slower by more than this"),
	OPTION("metric", OPTION_TEXT, struct diff_args, metric, .letter = 'm', .value = "NAME",
	       .help = "metric to compare, if several were measured"),
	OPTION("normalise", OPTION_FLAG, struct diff_args, normalise, .letter = 'n',
	       .help = "compare shares of the total, for runs of different length"),
	OPTION("all", OPTION_FLAG, struct diff_args, all, .letter = 'a',
	       .help = "also show what has not changed significantly"),
	OPTION("min-percent", OPTION_TEXT, struct diff_args, min_percent, .value = "P",
	       .help = "leave out smaller changes (0.1; 0 for JSON and CSV)"),
	OPTION("json", OPTION_FLAG, struct diff_args, json, .letter = 'j', .help = "write JSON"),
	OPTION("csv", OPTION_FLAG, struct diff_args, csv, .help = "write comma-separated values"),
	{0},
};

static const struct diff_args defaults = {0};

const struct command cmd_diff = {
	.name = "diff",
	.summary = "Show what got slower between two recorded runs",
	.usage = "OLD NEW [options]",
	.details = "\nOLD and NEW are profiles that sonde record, count or path wrote.\n",
	.options = options,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
