/* `sonde structure`: shows functions, inlined calls, loops and lines of a file, or of all modules
 * that a process has mapped. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "base/vec.h"
#include "cli/args/choose.h"
#include "cli/command.h"
#include "cli/structure/view.h"
#include "cli/term/die.h"
#include "cli/term/output.h"
#include "cli/term/progress.h"
#include "process/maps.h"

struct structure_args {
	struct option_number pid;
	const char *function;
	bool loops, stats, json, use_cache, use_debug;
};

/* The state of showing one module after the other. */
struct structure_show {
	const struct structure_args *args;
	struct choice choice;
	struct text out;
	struct json json;
	bool begun, incomplete;
};

static bool function_contains(const struct structure *s, const struct structure_function *p,
			      uint64_t va)
{
	const struct scope *scope = &s->scopes[p->scope];
	for (uint32_t i = 0; i < scope->range_count; i++) {
		const struct address_range *r = &s->ranges[scope->first_range + i];
		if (r->start <= va && va < r->end)
			return true;
	}
	return p->start <= va && va < p->end;
}

static bool is_chosen(const struct choice *c, const struct structure *s,
		      const struct structure_function *p)
{
	if (!c->pattern)
		return true;
	if (c->by_address)
		return function_contains(s, p, c->address);
	return choice_has_name(c, p->name ? s->text + p->name : NULL,
			       p->linkage ? s->text + p->linkage : NULL);
}

static void show_text(const struct structure_show *show, const struct view *v, struct text *out)
{
	const struct structure_args *a = show->args;
	if (!a->loops && !a->stats)
		view_tree(v, out);
	if (a->loops)
		view_loops(v, out);
	if (a->stats)
		view_stats(v, out);
}

static void show_json(const struct structure_show *show, const struct view *v, struct json *j)
{
	const struct structure_args *a = show->args;
	json_object(j, NULL);
	view_module_json(v, j);
	if (!a->loops && !a->stats)
		view_tree_json(v, j);
	if (a->loops)
		view_loops_json(v, j);
	if (a->stats)
		view_stats_json(v, j);
	json_end(j);
}

/* Starts the output when the first module has been read: if there is an error before that, nothing
 * else is written. */
static void begin_output(struct structure_show *show)
{
	if (show->begun)
		return;
	show->begun = true;
	output_begin(common.color, common.pager);
	show->json = (struct json)JSON_INIT(&show->out);
	if (show->args->json && show->args->pid.given) {
		json_object(&show->json, NULL);
		json_u64(&show->json, "pid", show->args->pid.value);
		json_array(&show->json, "modules");
	}
}

static void end_output(struct structure_show *show)
{
	while (show->json.depth)
		json_end(&show->json);
	output_write(&show->out);
	output_end();
	text_release(&show->out);
}

static void show_module(struct structure_show *show, const struct structure *s, const char *path)
{
	VEC(uint32_t) chosen = {0};
	for (uint32_t i = 0; i < s->function_count; i++)
		if (is_chosen(&show->choice, s, &s->functions[i]))
			vec_push(&chosen, i);
	if (chosen.len || !show->choice.pattern) {
		struct view v = {s, path, chosen.data, chosen.len};
		begin_output(show);
		if (show->args->json)
			show_json(show, &v, &show->json);
		else
			show_text(show, &v, &show->out);
	}
	vec_free(&chosen);
}

static bool show_progress(void *ctx, long done, long total)
{
	if (total > 0)
		progress_show(ctx, "fetching debugging information: %ld %%",
			      (long)percent_of((uint64_t)done, (uint64_t)total));
	else
		progress_show(ctx, "fetching debugging information: %ld kB", done / 1000);
	return true;
}

/* Opens the structure of the file `path` or, if `module` is not NULL, of that module. */
static int open_structure(struct structure **out, const struct structure_args *a, const char *path,
			  struct module *module, struct err *e)
{
	struct progress progress = {0};
	const struct structure_options options = {
		.use_cache = a->use_cache,
		.use_debug = a->use_debug,
		.debug = {.fetch = true, .progress = show_progress, .ctx = &progress},
	};
	int r = module ? structure_build(out, module, &options, e)
		       : structure_open(out, path, &options, e);
	progress_end(&progress);
	return r;
}

static void show_file(struct structure_show *show, const char *path)
{
	struct structure *s;
	struct err e;
	if (open_structure(&s, show->args, path, NULL, &e))
		die("%s: %s", path, e.text);
	show_module(show, s, path);
	structure_free(s);
}

/* A module that cannot be read does not prevent the others from being shown. */
static void show_mapped(struct structure_show *show, const struct maps *m,
			const struct mapped_module *mi)
{
	struct structure *s = NULL;
	struct module *module = NULL;
	struct err e;
	if (!maps_open_module(&module, m, mi, &e) &&
	    !open_structure(&s, show->args, mi->path, module, &e)) {
		show_module(show, s, mi->path);
		structure_free(s);
	} else {
		complain("%s: %s", mi->path, e.text);
		show->incomplete = true;
	}
	module_close(module);
}

static bool is_repeated(const struct maps *m, uint32_t module)
{
	const struct mapped_module *a = m->modules, *b = &m->modules[module];
	for (; a < b; a++)
		if (a->inode == b->inode && a->device_major == b->device_major &&
		    a->device_minor == b->device_minor && a->vdso == b->vdso)
			return true;
	return false;
}

static void show_process(struct structure_show *show, uint64_t pid)
{
	struct maps m;
	struct err e;
	if (!pid || pid > INT_MAX)
		die("there is no process %" PRIu64, pid);
	if (maps_read(&m, (int)pid, &e))
		die("%s", e.text);
	for (uint32_t i = 0; i < m.module_count; i++)
		if (!is_repeated(&m, i))
			show_mapped(show, &m, &m.modules[i]);
	if (!m.module_count)
		die("process %" PRIu64 " has no code mapped; it may be a kernel thread or a zombie",
		    pid);
	maps_release(&m);
}

static int run(const void *args, const struct operands *operands)
{
	struct structure_show show = {.args = args};
	const char *pattern = show.args->function;
	if (show.args->pid.given && operands->count)
		die("structure takes a file or a process, not both");
	if (!show.args->pid.given && operands->count != 1)
		die("structure needs one file or process: sonde structure FILE|-p PID");
	choice_init(&show.choice, pattern);
	if (show.args->pid.given)
		show_process(&show, show.args->pid.value);
	else
		show_file(&show, operands->list[0]);
	if (!show.begun && pattern)
		die("no function matches '%s'; names are case-sensitive, '*%s*' would match a "
		    "part",
		    pattern, pattern);
	if (show.begun)
		end_output(&show);
	choice_release(&show.choice);
	return show.incomplete ? EXIT_OURS : EXIT_SUCCESS;
}

static const struct option options[] = {
	OPTION("pid", OPTION_NUMBER, struct structure_args, pid, .letter = 'p', .value = "PID",
	       .help = "show all modules of this process, instead of a file"),
	OPTION("function", OPTION_TEXT, struct structure_args, function, .letter = 'f',
	       .value = "PATTERN",
	       .help = "only functions of this name (*, ?, [] match) or address"),
	OPTION("loops", OPTION_FLAG, struct structure_args, loops, .letter = 'l',
	       .help = "list the loops in a table"),
	OPTION("stats", OPTION_FLAG, struct structure_args, stats, .letter = 's',
	       .help = "analysis statistics: counts, seconds and memory"),
	OPTION("json", OPTION_FLAG, struct structure_args, json, .letter = 'j',
	       .help = "write JSON"),
	OPTION("no-cache", OPTION_UNFLAG, struct structure_args, use_cache,
	       .help = "do not read or write the cache"),
	OPTION("no-debug", OPTION_UNFLAG, struct structure_args, use_debug,
	       .help = "ignore debugging information"),
	{0},
};

static const struct structure_args defaults = {.use_cache = true, .use_debug = true};

const struct command cmd_structure = {
	.name = "structure",
	.summary = "Show functions, inlined calls, loops and lines",
	.usage = "FILE|-p PID [options]",
	.options = options,
	.defaults = &defaults,
	.args_size = sizeof(defaults),
	.run = run,
};
