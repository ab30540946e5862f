#include "cli/live/path_line.h"

#include <string.h>

#include "cli/term/startup.h"
#include "cli/term/text.h"

enum {
	INNER_FRAMES = 60, /* frames shown of a long path, at both ends */
	OUTER_FRAMES = 6,
	MAX_NAME_COLUMNS = 60,
	SEPARATOR_COLUMNS = 3, /* " > " */
	TIMES_COLUMNS = 6,     /* " x1234" */
	OMITTED_COLUMNS = 6,   /* "... > " */
};

void path_line_nodes(const struct profile *p, uint32_t leaf, node_numbers *out)
{
	node_numbers all = {0};
	for (uint32_t at = leaf; at; at = p->nodes.data[at].parent)
		vec_push(&all, at);
	uint32_t cut = all.len > INNER_FRAMES + OUTER_FRAMES ? all.len - OUTER_FRAMES : 0;
	for (uint32_t i = all.len; i-- > 0;) {
		if (cut && i < cut && i >= INNER_FRAMES) {
			if (i == INNER_FRAMES)
				vec_push(out, PROFILE_NONE);
			continue;
		}
		vec_push(out, all.data[i]);
	}
	vec_free(&all);
}

static void add_level(struct text *out, const struct place_level *l, bool place)
{
	add_function_name(out, l->name, MAX_NAME_COLUMNS);
	text_add(out, l->inlined ? " inlined" : "");
	if (!place || (!l->line && !l->loop_count))
		return;
	text_add(out, " (");
	if (l->line)
		add_place(out, l->file, l->line, l->line);
	for (uint32_t i = 0; i < l->loop_count; i++) {
		text_printf(out, "%sloop %u", l->line || i ? ", " : "", l->loops[i].first);
		if (l->loops[i].last > l->loops[i].first)
			text_printf(out, "-%u", l->loops[i].last);
	}
	text_char(out, ')');
}

/* One part of the line: a function or inlined call. Equal neighbours are merged and counted. */
struct line_piece {
	struct text text;
	uint32_t times;
};

typedef VEC(struct line_piece) piece_list;

static void add_piece(piece_list *pieces, struct text *t)
{
	if (pieces->len && vec_last(pieces).text.len == t->len &&
	    !memcmp(vec_last(pieces).text.data, t->data, t->len)) {
		vec_last(pieces).times++;
		text_release(t);
		return;
	}
	vec_push(pieces, (struct line_piece){*t, 1});
}

static void add_words(piece_list *pieces, const char *words)
{
	struct text t = TEXT_INIT;
	text_add(&t, words);
	add_piece(pieces, &t);
}

static void clear_pieces(piece_list *pieces)
{
	vec_each (p, pieces)
		text_release(&p->text);
	vec_clear(pieces);
}

/* Adds a frame. Startup functions (_start, start_thread) are of no interest: they and all pieces
 * before them are dropped. Once *started is set, the program's own code has begun. */
static void add_frame(struct places *places, const struct profile *profile, uint32_t node,
		      piece_list *pieces, bool *started)
{
	level_list levels = {0};
	const struct profile_node *n = &profile->nodes.data[node];
	places_levels(places, n->module, n->address, &levels);
	if (!*started && levels.len && is_startup_name(levels.data[0].name)) {
		clear_pieces(pieces);
		levels.len = 0;
	}
	for (uint32_t i = 0; i < levels.len; i++) {
		struct text text = TEXT_INIT;
		add_level(&text, &levels.data[i], true);
		add_piece(pieces, &text);
	}
	*started |= pieces->len > 1;
	vec_free(&levels);
}

/* Adds the measured function itself. It is measured as a whole, so no line of it is named. */
static void add_entry(struct places *places, const struct profile *profile, uint32_t leaf,
		      piece_list *pieces)
{
	const struct profile_node *n = &profile->nodes.data[leaf];
	level_list levels = {0};
	struct text text = TEXT_INIT;
	places_levels(places, n->module, n->address, &levels);
	add_level(&text, &levels.data[0], false);
	vec_push(pieces, (struct line_piece){text, 1});
	vec_free(&levels);
}

static void find_pieces(struct places *places, const struct profile *profile, uint32_t leaf,
			bool function, piece_list *pieces)
{
	node_numbers nodes = {0};
	bool started = false;
	path_line_nodes(profile, leaf, &nodes);
	for (uint32_t i = 0; i < nodes.len; i++) {
		uint32_t node = nodes.data[i];
		if (node == PROFILE_NONE)
			add_words(pieces, "...");
		else if (profile->nodes.data[node].kind == NODE_PARTIAL)
			add_words(pieces, "[callers unknown]");
		else if (node == leaf && function)
			add_entry(places, profile, node, pieces);
		else
			add_frame(places, profile, node, pieces, &started);
	}
	vec_free(&nodes);
}

static size_t piece_columns(const struct line_piece *p)
{
	return text_columns(p->text.data, p->text.len) + (p->times > 1 ? TIMES_COLUMNS : 0) +
	       SEPARATOR_COLUMNS;
}

/* Joins the pieces. If the line would be too long, the outermost pieces are left out. */
static void join_pieces(struct text *out, const piece_list *pieces, size_t width)
{
	uint32_t first = pieces->len;
	size_t used = OMITTED_COLUMNS;
	while (first && (!width || first == pieces->len ||
			 used + piece_columns(&pieces->data[first - 1]) <= width))
		used += piece_columns(&pieces->data[--first]);
	text_add(out, first ? "... > " : "");
	for (uint32_t i = first; i < pieces->len; i++) {
		text_add(out, i > first ? " > " : "");
		text_addn(out, pieces->data[i].text.data, pieces->data[i].text.len);
		if (pieces->data[i].times > 1)
			text_printf(out, " x%u", pieces->data[i].times);
	}
}

void path_line(struct text *out, struct places *places, const struct profile *profile,
	       uint32_t leaf, bool function, size_t width)
{
	piece_list pieces = {0};
	find_pieces(places, profile, leaf, function, &pieces);
	join_pieces(out, &pieces, width);
	clear_pieces(&pieces);
	vec_free(&pieces);
}
