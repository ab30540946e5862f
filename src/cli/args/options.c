#include "cli/args/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct option_parser {
	const struct option_set *sets;
	int argc, at; /* argv[at] is parsed next */
	char **argv;
	struct err *e;
};

struct found_option {
	const struct option *option;
	void *values;
};

static bool takes_value(const struct option *o)
{
	return o->type != OPTION_FLAG && o->type != OPTION_UNFLAG;
}

/* Finds the option with this long name (of n bytes) or, if `name` is NULL, with this letter. */
static struct found_option find(const struct option_set *sets, const char *name, size_t n,
				char letter)
{
	for (; sets->options; sets++) {
		for (const struct option *o = sets->options; o->name; o++) {
			bool same = name ? strlen(o->name) == n && !memcmp(o->name, name, n)
					 : o->letter == letter;
			if (same)
				return (struct found_option){o, sets->values};
		}
	}
	return (struct found_option){0};
}

static int parse_number(const char *name, const char *value, struct option_number *out,
			struct err *e)
{
	char *end;
	bool hex = value[0] == '0' && (value[1] == 'x' || value[1] == 'X');
	errno = 0;
	unsigned long long v = strtoull(value, &end, hex ? 16 : 10);
	if (errno || *end || end == value || strchr("+- \t", *value))
		return err_set(e, ERR_INPUT,
			       "--%s needs a number (decimal, or hexadecimal after 0x), not '%s'",
			       name, value);
	*out = (struct option_number){v, true};
	return 0;
}

static int parse_choice(const struct option *o, const char *value, unsigned *out, struct err *e)
{
	struct text all = TEXT_INIT;
	for (unsigned i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], value)) {
			*out = i;
			text_release(&all);
			return 0;
		}
		text_printf(&all, "%s%s", i ? ", " : "", o->choices[i]);
	}
	err_set(e, ERR_INPUT, "invalid value '%s' for --%s; use one of: %s", value, o->name,
		all.data);
	text_release(&all);
	return ERR_INPUT;
}

static int store(struct found_option f, const char *value, struct err *e)
{
	const struct option *o = f.option;
	void *target = (char *)f.values + o->offset;
	switch (o->type) {
	case OPTION_FLAG: *(bool *)target = true; return 0;
	case OPTION_UNFLAG: *(bool *)target = false; return 0;
	case OPTION_TEXT: *(const char **)target = value; return 0;
	case OPTION_NUMBER: return parse_number(o->name, value, target, e);
	case OPTION_CHOICE: return parse_choice(o, value, target, e);
	default: return o->parse(value, e);
	}
}

/* One typing error is allowed, and one more per three letters. Words of MAX_WORD letters and more
 * are not compared: the effort grows with their length. */
enum { LETTERS_PER_TYPO = 3, MAX_TYPOS = 10, MAX_WORD = 100, LEAST_PART = 3 };

/* What the user has typed a part of is as near as what has one typing error. */
static unsigned distance_to(const char *word, const char *candidate)
{
	bool is_prefix = strlen(word) > 1 && !strncmp(word, candidate, strlen(word));
	bool is_part = strlen(word) >= LEAST_PART && strstr(candidate, word);
	return is_prefix || is_part ? 1 : text_distance(word, candidate);
}

size_t nearest_words(const char *word, const char *const *words, size_t count, size_t *out,
		     size_t most)
{
	unsigned distances[MOST_NEAREST];
	const unsigned allowed =
		1 + (unsigned)strnlen(word, LETTERS_PER_TYPO * MAX_TYPOS) / LETTERS_PER_TYPO;
	size_t found = 0;
	for (size_t i = 0; i < count && strlen(word) < MAX_WORD; i++) {
		unsigned distance = distance_to(word, words[i]);
		if (distance > allowed || (found == most && distance >= distances[most - 1]))
			continue;
		size_t at = found < most ? found++ : most - 1;
		for (; at && distances[at - 1] > distance; at--) {
			distances[at] = distances[at - 1];
			out[at] = out[at - 1];
		}
		distances[at] = distance;
		out[at] = i;
	}
	return found;
}

int nearest_word(const char *word, const char *const *words, size_t count)
{
	size_t nearest;
	return nearest_words(word, words, count, &nearest, 1) ? (int)nearest : -1;
}

/* Reports an unknown option. `word` is what the user typed, n bytes including dashes; `letter` is
 * the unknown letter in it, or 0 if the word is a long option. */
static int unknown_option(const struct option_parser *p, const char *word, size_t n, char letter)
{
	VEC(const char *) names = {0};
	char name[100];
	size_t dashes = strspn(word, "-"), length = n - dashes;
	length = length < sizeof(name) ? length : sizeof(name) - 1;
	memcpy(name, word + dashes, length);
	name[length] = '\0';
	for (const struct option_set *s = p->sets; s->options; s++)
		for (const struct option *o = s->options; o->name; o++)
			if (o->help)
				vec_push(&names, o->name);
	int suggestion = !letter || length > 1 ? nearest_word(name, names.data, names.len) : -1;
	int shown = n > 100 ? 100 : (int)n;
	if (names.data && suggestion >= 0)
		err_set(p->e, ERR_INPUT, "unknown option '%.*s'; did you mean '--%s'?", shown, word,
			names.data[suggestion]);
	else if (letter)
		err_set(p->e, ERR_INPUT, "unknown option '-%c'; see --help", letter);
	else
		err_set(p->e, ERR_INPUT, "unknown option '%.*s'; see --help", shown, word);
	vec_free(&names);
	return ERR_INPUT;
}

/* Stores the value of an option: `attached` if not NULL, otherwise the next argument. */
static int take_value(struct option_parser *p, struct found_option f, const char *attached)
{
	if (!attached && p->at == p->argc)
		return err_set(p->e, ERR_INPUT, "--%s needs a value: %s", f.option->name,
			       f.option->value);
	return store(f, attached ? attached : p->argv[p->at++], p->e);
}

static int parse_long(struct option_parser *p, const char *word)
{
	size_t n = strcspn(word + 2, "=");
	const char *attached = word[2 + n] ? word + 2 + n + 1 : NULL;
	struct found_option f = find(p->sets, word + 2, n, 0);
	if (!f.option)
		return unknown_option(p, word, n + 2, 0);
	if (takes_value(f.option))
		return take_value(p, f, attached);
	if (attached)
		return err_set(p->e, ERR_INPUT, "--%s takes no value", f.option->name);
	return store(f, NULL, p->e);
}

static int parse_letters(struct option_parser *p, const char *word)
{
	for (const char *c = word + 1; *c; c++) {
		struct found_option f = find(p->sets, NULL, 0, *c);
		if (!f.option)
			return unknown_option(p, word, strlen(word), *c);
		if (takes_value(f.option))
			return take_value(p, f, c[1] ? c + 1 : NULL);
		store(f, NULL, p->e);
	}
	return 0;
}

int options_parse(const struct option_set *sets, enum options_order order, int argc, char **argv,
		  struct operands *out, struct err *e)
{
	struct option_parser p = {.sets = sets, .argc = argc, .argv = argv, .e = e};
	int count = 0;
	while (p.at < argc) {
		char *word = argv[p.at++];
		bool is_option = word[0] == '-' && word[1];
		if (is_option && !strcmp(word, "--"))
			break;
		if (!is_option) {
			argv[count++] = word;
			if (order == OPTIONS_FIRST)
				break;
			continue;
		}
		int r = word[1] == '-' ? parse_long(&p, word) : parse_letters(&p, word);
		if (r)
			return r;
	}
	while (p.at < argc)
		argv[count++] = argv[p.at++];
	argv[count] = NULL;
	*out = (struct operands){argv, count};
	return 0;
}

bool options_have(const struct option *options, const char *word)
{
	for (const struct option *o = options; o->name; o++) {
		size_t n = strlen(o->name);
		if (word[0] != '-' || !word[1])
			return false;
		if (word[1] == '-'
			    ? !strncmp(word + 2, o->name, n) && (!word[2 + n] || word[2 + n] == '=')
			    : word[1] == o->letter)
			return true;
	}
	return false;
}

static void describe_name(const struct option *o, struct text *out)
{
	if (o->letter)
		text_printf(out, "  -%c, --%s", o->letter, o->name);
	else
		text_printf(out, "      --%s", o->name);
	if (o->value)
		text_printf(out, "=%s", o->value);
}

void options_describe(const struct option *options, struct text *out)
{
	struct text name = TEXT_INIT;
	size_t width = 0;
	for (const struct option *o = options; o->name; o++) {
		text_clear(&name);
		describe_name(o, &name);
		width = o->help && name.len > width ? name.len : width;
	}
	for (const struct option *o = options; o->name; o++) {
		if (!o->help)
			continue;
		size_t start = out->len;
		describe_name(o, out);
		text_fill(out, ' ', width + 2 - (out->len - start));
		text_printf(out, "%s\n", o->help);
	}
	text_release(&name);
}
