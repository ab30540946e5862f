#include "cli/report/findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/args/shared_options.h"
#include "cli/report/data.h"
#include "cli/term/output.h"
#include "cli/term/text.h"
#include "profile/short_name.h"
#include "search/hypothesis.h"

enum { NUMBER_COLUMNS = 4, INDENT = 7, MIN_COLUMNS = 20 };

void add_title(struct text *out, const char *hypothesis)
{
	enum hypothesis_id h = hypothesis_named(hypothesis);
	struct text title = TEXT_INIT;
	text_add(&title, h < HYPOTHESES ? hypotheses[h].title : hypothesis);
	if (title.len && title.data[0] >= 'a' && title.data[0] <= 'z')
		title.data[0] = (char)(title.data[0] - 'a' + 'A');
	output_name(out, title.len ? title.data : "");
	text_release(&title);
}

void add_wrapped(struct text *out, const char *text, size_t at, size_t indent, size_t width)
{
	struct text plain = TEXT_INIT;
	size_t most = width > indent + MIN_COLUMNS ? width : indent + MIN_COLUMNS;
	bool first = true; /* the next word is the first of its line */
	output_name(&plain, text);
	for (const char *word = plain.len ? plain.data : ""; *word;) {
		size_t n = strcspn(word, " "), columns = text_columns(word, n);
		if (!first && at + 1 + columns > most) {
			text_char(out, '\n');
			text_fill(out, ' ', indent);
			at = indent;
			first = true;
		}
		if (!first)
			text_char(out, ' ');
		text_addn(out, word, n);
		at += columns + !first;
		first = false;
		word += n + strspn(word + n, " ");
	}
	text_release(&plain);
}

void add_seconds(struct text *out, double seconds)
{
	seconds = checked(A_TIME, seconds);
	text_printf(out, "%.*f s", seconds < 9.995 ? 2 : seconds < 999.95 ? 1 : 0, seconds);
}

/* Reads a number among the facts of a profile. A file may contain anything, so impossible values
 * are treated as missing. */
static bool number_fact(const struct profile *p, const char *name, enum quantity what, double *out)
{
	const char *value = profile_get_fact(p, name);
	char *end;
	if (!value)
		return false;
	*out = strtod(value, &end);
	return end != value && !*end && can_be(what, *out);
}

uint32_t findings_code(const struct profile *p, uint32_t experiment)
{
	uint32_t at = PROFILE_NONE;
	if (experiment < p->experiments.len)
		at = p->experiments.data[experiment].focus[PROFILE_CODE];
	while (at != PROFILE_NONE && p->resources.data[at].kind != RESOURCE_FUNCTION &&
	       p->resources.data[at].kind != RESOURCE_LOOP)
		at = p->resources.data[at].parent;
	return at;
}

static uint32_t function_of(const struct profile *p, uint32_t code)
{
	while (code != PROFILE_NONE && p->resources.data[code].kind != RESOURCE_FUNCTION)
		code = p->resources.data[code].parent;
	return code;
}

static const struct profile_experiment *experiment_of(const struct profile *p,
						      const struct profile_finding *f)
{
	return f->experiment == PROFILE_NONE ? NULL : &p->experiments.data[f->experiment];
}

static bool is_sampled(const struct profile *p, const struct profile_finding *f)
{
	const struct profile_experiment *x = experiment_of(p, f);
	return !x || x->flags & EXPERIMENT_SAMPLED;
}

static bool is_over(const struct profile *p, const struct profile_finding *f)
{
	const struct profile_experiment *x = experiment_of(p, f);
	return x && x->flags & EXPERIMENT_OVER;
}

static void add_run(const struct profile *p, size_t width, struct text *out)
{
	static const struct {
		const char *ended, *verb, *how;
	} ends[] = {
		{"exit", "ran", ""},
		{"signal", "ran", " until a signal ended it"},
		{"duration", "was observed for", ""},
		{"interrupted", "was observed for", " until interrupted"},
		{"exhausted", "was observed for", " until nothing was left to test"},
	};
	const char *command = profile_get_fact(p, "command"), *ended = profile_get_fact(p, "ended");
	size_t i = 0;
	double seconds;
	for (size_t k = 0; k < ARRAY_SIZE(ends); k++)
		i = ended && !strcmp(ended, ends[k].ended) ? k : i;
	add_short(out, command && *command ? command : "The program", width / 2);
	if (number_fact(p, "seconds", A_TIME, &seconds)) {
		text_printf(out, " %s ", ends[i].verb);
		add_seconds(out, seconds);
	} else
		text_add(out, i < 2 ? " ran" : " was observed"); /* the first two rows say "ran" */
	text_add(out, ends[i].how);
}

static void add_search(const struct profile *p, struct text *out)
{
	double seconds, overhead;
	text_add(out, "; ");
	if (number_fact(p, "search_seconds", A_TIME, &seconds)) {
		text_add(out, "searched for ");
		add_seconds(out, seconds);
		text_add(out, ", ");
	}
	add_counted(out, p->experiments.len, "experiment", "experiments");
	if (!number_fact(p, "overhead", A_SHARE, &overhead))
		return;
	if (overhead < 0.001)
		text_add(out, ", less than 0.1 % overhead");
	else
		text_printf(out, ", %.1f %% overhead", percent(overhead));
}

void findings_headline(const struct profile *p, size_t width, struct text *out)
{
	struct text line = TEXT_INIT;
	add_run(p, width, &line);
	add_search(p, &line);
	add_wrapped(out, line.data, 0, 2, width);
	text_add(out, "\n\n");
	text_release(&line);
}

static void add_line(struct text *out, const char *text, size_t indent, size_t width)
{
	text_fill(out, ' ', indent);
	add_wrapped(out, text, indent, indent + 2, width);
	text_char(out, '\n');
}

/* Of the program as a whole, the kernel measures the CPU time. */
static const char *source_of(const struct profile *p, const struct profile_finding *f)
{
	const struct profile_experiment *x = experiment_of(p, f);
	if (is_sampled(p, f))
		return "from samples";
	return p->resources.data[x->focus[PROFILE_CODE]].parent == PROFILE_NONE ? "from CPU times"
										: "from probes";
}

/* Adds the confidence of a finding, and how it was measured. */
static void add_evidence(const struct profile *p, const struct profile_finding *f, size_t width,
			 struct text *out)
{
	const struct profile_experiment *x = experiment_of(p, f);
	struct text line = TEXT_INIT;
	text_add(&line, f->confidence >= 0.95  ? "confidence above 95 %"
			: f->confidence >= 0.8 ? "confidence 80-95 %"
					       : "confidence below 80 %");
	if (x && x->flags & EXPERIMENT_UNSURE)
		text_printf(&line, ", close to the %.0f %% threshold", percent(x->threshold));
	text_printf(&line, "; %s", source_of(p, f));
	if (is_over(p, f))
		text_add(&line, "; for part of the run only");
	add_line(out, line.data, INDENT, width);
	text_release(&line);
}

static void add_finding(const struct profile *p, uint32_t number, size_t width, struct text *out)
{
	const struct profile_finding *f = &p->findings.data[number];
	size_t start = out->len;
	bool has_evidence = false;
	text_printf(out, "%2u", number + 1);
	pad_to(out, start, NUMBER_COLUMNS);
	output_style(out, STYLE_HEADING);
	add_wrapped(out, f->sentence, NUMBER_COLUMNS, NUMBER_COLUMNS, width);
	output_style(out, STYLE_NONE);
	text_char(out, '\n');
	vec_each (m, &p->remarks) {
		if (m->finding != number)
			continue;
		has_evidence |= !strcmp(m->kind, "evidence");
		add_line(out, m->text, INDENT, width);
	}
	if (!has_evidence)
		add_evidence(p, f, width, out);
	text_char(out, '\n');
}

/* Undecided experiments are counted here only if the search was cut short: a search that ended
 * normally has a note about them. */
static void add_nothing(const struct profile *p, size_t width, struct text *out)
{
	uint32_t undecided = 0;
	bool has_note = false;
	struct text line = TEXT_INIT;
	vec_each (m, &p->remarks)
		has_note |= !strcmp(m->kind, "note");
	vec_each (x, &p->experiments)
		undecided += x->state != PROFILE_TRUE && x->state != PROFILE_FALSE;
	text_add(&line, p->experiments.len ? "No bottleneck was found"
					   : "Nothing was found, because nothing was tested");
	if (undecided && !has_note) {
		text_add(&line, "; ");
		add_counted(&line, undecided, "experiment was", "experiments were");
		text_add(&line, " not decided");
	}
	text_char(&line, '.');
	add_line(out, line.data, 0, width);
	text_char(out, '\n');
	text_release(&line);
}

static bool is_step(const struct profile_remark *m)
{
	return m->finding == PROFILE_NONE && !strcmp(m->kind, "step");
}

static bool is_chain(const struct profile_remark *m)
{
	return m->finding == PROFILE_NONE && !strcmp(m->kind, "chain");
}

static bool is_command(const struct profile_remark *m)
{
	return m->finding == PROFILE_NONE && !strcmp(m->kind, "command");
}

static bool is_note(const struct profile_remark *m)
{
	return m->finding == PROFILE_NONE && !is_step(m) && !is_chain(m) && !is_command(m);
}

/* Adds remarks about the run, one per line. */
static void add_remarks(const struct profile *p, bool (*has)(const struct profile_remark *m),
			size_t width, struct text *out)
{
	bool any = false;
	vec_each (m, &p->remarks) {
		if (!has(m))
			continue;
		add_line(out, m->text, 0, width);
		any = true;
	}
	if (any)
		text_char(out, '\n');
}

static void add_steps(const struct profile *p, size_t width, struct text *out)
{
	bool any = false;
	vec_each (m, &p->remarks) {
		if (!is_step(m))
			continue;
		if (!any) {
			output_style(out, STYLE_HEADING);
			text_add(out, "Next steps\n");
			output_style(out, STYLE_NONE);
		}
		text_add(out, "  - ");
		add_wrapped(out, m->text, 4, 4, width);
		text_char(out, '\n');
		any = true;
	}
	if (any)
		text_char(out, '\n');
}

void findings_render(const struct profile *p, size_t width, struct text *out)
{
	findings_headline(p, width, out);
	add_remarks(p, is_command, width, out);
	add_remarks(p, is_chain, width, out);
	for (uint32_t i = 0; i < p->findings.len; i++)
		add_finding(p, i, width, out);
	if (!p->findings.len)
		add_nothing(p, width, out);
	add_remarks(p, is_note, width, out);
	add_steps(p, width, out);
}

/* Adds a word for the shell, in quotes if it needs them. */
static void add_word(struct text *out, const char *word)
{
	if (!word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
			       "_-./:+,@%")]) {
		text_add(out, word);
		return;
	}
	text_char(out, '\'');
	for (; *word; word++) {
		if (*word == '\'')
			text_add(out, "'\\'");
		text_char(out, *word);
	}
	text_char(out, '\'');
}

/* Returns the function of the first finding that has one with samples. */
static const char *hot_function(const struct profile *p)
{
	vec_each (f, &p->findings) {
		uint32_t code = function_of(p, findings_code(p, f->experiment));
		if (code == PROFILE_NONE)
			continue;
		vec_each (s, &p->scopes)
			if (s->kind == PROFILE_FUNCTION &&
			    !strcmp(s->name, p->resources.data[code].name))
				return s->name;
	}
	return NULL;
}

void findings_more(const struct profile *p, const char *file, size_t width, struct text *out)
{
	const char *function = p->values.len ? hot_function(p) : NULL;
	struct text command = TEXT_INIT, line = TEXT_INIT, name = TEXT_INIT;
	text_add(&command, "sonde report ");
	if (file && strcmp(file, DEFAULT_PROFILE) != 0) {
		add_word(&command, file);
		text_char(&command, ' ');
	}
	text_printf(&line, "More: %s--view=search%s", command.data,
		    p->values.len ? " (or tree, loops)" : "");
	if (function) {
		text_printf(&line, ", %s--lines --focus=", command.data);
		bare_name(&name, function);
		add_word(&line, name.data);
	}
	add_line(out, line.data, 0, width);
	text_release(&command);
	text_release(&line);
	text_release(&name);
}

static void number_json(const struct profile *p, const char *fact, enum quantity what,
			const char *key, struct json *j)
{
	double number;
	if (number_fact(p, fact, what, &number))
		json_quantity(j, key, what, number, 6);
	else
		json_string(j, key, NULL);
}

static void where_json(const struct profile *p, const struct profile_finding *f, struct json *j)
{
	uint32_t code = findings_code(p, f->experiment), function = function_of(p, code);
	if (code == PROFILE_NONE)
		return;
	const struct profile_resource *r = &p->resources.data[code];
	json_object(j, "where");
	json_string(j, "function",
		    function == PROFILE_NONE ? NULL : p->resources.data[function].name);
	json_string(j, "file", *r->file ? r->file : NULL);
	json_u64(j, "first_line", r->first_line);
	json_u64(j, "last_line", r->last_line);
	json_bool(j, "loop", r->kind == RESOURCE_LOOP);
	json_end(j);
}

/* Adds the functions and inlined calls from the start of the program to the finding's context. */
static void path_json(const struct profile *p, const struct profile_finding *f, struct json *j)
{
	VEC(const char *) names = {0};
	for (uint32_t n = f->node; n != PROFILE_NONE; n = p->nodes.data[n].parent) {
		for (uint32_t s = p->nodes.data[n].scope; s != PROFILE_NONE;
		     s = p->scopes.data[s].parent) {
			const struct profile_scope *scope = &p->scopes.data[s];
			bool called =
				scope->kind == PROFILE_FUNCTION || scope->kind == PROFILE_INLINE;
			if (called && !is_startup(p, s))
				vec_push(&names, scope->name);
		}
	}
	json_array(j, "call_path");
	while (names.len)
		json_string(j, NULL, vec_pop(&names));
	json_end(j);
	vec_free(&names);
}

void focus_json(const struct profile *p, const struct profile_experiment *x, struct json *j)
{
	struct text path = TEXT_INIT;
	json_object(j, "focus");
	for (int h = 0; h < PROFILE_HIERARCHIES; h++) {
		text_clear(&path);
		profile_resource_path(p, x->focus[h], &path);
		json_string(j, profile_hierarchy_names[h], path.data);
	}
	json_end(j);
	text_release(&path);
}

static void finding_json(const struct profile *p, uint32_t number, struct json *j)
{
	const struct profile_finding *f = &p->findings.data[number];
	const struct profile_experiment *x = experiment_of(p, f);
	json_object(j, NULL);
	json_string(j, "hypothesis", f->hypothesis);
	json_quantity(j, "share", A_SHARE, f->share, 6);
	json_quantity(j, "confidence", A_SHARE, f->confidence, 6);
	json_string(j, "measured", is_sampled(p, f) ? "samples" : "probes");
	json_bool(j, "over", is_over(p, f));
	if (x) {
		json_u64(j, "experiment", f->experiment);
		focus_json(p, x, j);
	}
	where_json(p, f, j);
	path_json(p, f, j);
	json_string(j, "sentence", f->sentence);
	json_array(j, "remarks");
	vec_each (m, &p->remarks) {
		if (m->finding != number)
			continue;
		json_object(j, NULL);
		json_string(j, "kind", m->kind);
		json_string(j, "text", m->text);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void remarks_json(const struct profile *p, const char *key,
			 bool (*has)(const struct profile_remark *m), struct json *j)
{
	json_array(j, key);
	vec_each (m, &p->remarks)
		if (has(m))
			json_string(j, NULL, m->text);
	json_end(j);
}

static void commands_json(const struct profile *p, struct json *j)
{
	json_array(j, "commands");
	vec_each (c, &p->evidence.commands) {
		json_object(j, NULL);
		json_string(j, "name", c->name);
		json_u64(j, "processes", c->processes);
		json_quantity(j, "cpu", A_TIME, c->cpu, 6);
		json_quantity(j, "wall", A_TIME, c->wall, 6);
		json_quantity(j, "longest", A_TIME, c->longest, 6);
		json_string(j, "argument", *c->argument ? c->argument : NULL);
		json_quantity(j, "first", A_TIME, c->first, 6);
		json_quantity(j, "last", A_TIME, c->last, 6);
		json_quantity(j, "alone", A_TIME, c->alone, 6);
		json_quantity(j, "closing", A_TIME, c->closing, 6);
		json_end(j);
	}
	json_end(j);
}

void findings_json(const struct profile *p, struct json *j)
{
	const char *loops = profile_get_fact(p, "loops");
	json_string(j, "command", profile_get_fact(p, "command"));
	number_json(p, "seconds", A_TIME, "seconds", j);
	json_string(j, "ended", profile_get_fact(p, "ended"));
	json_string(j, "strategy", profile_get_fact(p, "strategy"));
	json_bool(j, "loops", loops && !strcmp(loops, "1"));
	number_json(p, "search_seconds", A_TIME, "search_seconds", j);
	json_u64(j, "experiments", p->experiments.len);
	number_json(p, "overhead", A_SHARE, "overhead", j);
	json_quantity(j, "idle", A_SHARE, share_of(p->evidence.run.idle, p->evidence.run.seconds),
		      6);
	json_array(j, "findings");
	for (uint32_t i = 0; i < p->findings.len; i++)
		finding_json(p, i, j);
	json_end(j);
	remarks_json(p, "chains", is_chain, j);
	commands_json(p, j);
	remarks_json(p, "steps", is_step, j);
	remarks_json(p, "notes", is_note, j);
}
