/* Entries and iterations of loops: one row per loop, with a small drawing of its trip counts. It
 * shows at a glance whether a loop always has 3 iterations, mostly none, or anything from 1 to
 * 1000. */
#include <string.h>

#include "cli/report/counts.h"
#include "cli/report/view.h"
#include "cli/term/text.h"

enum {
	DRAWING_COLUMNS = 12,
	NUMBER_COLUMNS = 54, /* shares, entries, iterations, trip counts */
	COLUMNS = NUMBER_COLUMNS + DRAWING_COLUMNS + 4 /* two spaces on either side */
};

/* If this share of the entries has the same trip count, the others need not be drawn. */
static const double NEARLY_ALL = 0.9;

/* Returns the number of entries that have ended: only these have a trip count. */
static uint64_t ended_entries(const struct counts *c, const struct counts_row *r)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < r->trips_count; i++)
		sum += c->trips.data[r->first_trips + i].entries;
	return sum;
}

/* Adds "3 x 98%". Rounds down: only all entries are 100 %. */
static void add_value(const struct counts_trips *t, uint64_t all, const char *between,
		      struct text *out)
{
	add_brief_count(out, t->low);
	text_add(out, between);
	text_printf(out, "%d%%", (int)percent_of(t->entries, all));
}

/* Adds the trip counts as numbers, if there is only one, if one has nearly all entries, or if there
 * are two. Returns false if a drawing is needed. */
static bool add_values(const struct counts_trips *t, uint32_t count, uint64_t all, struct text *out)
{
	size_t start = out->len;
	if (count == 1) {
		text_add(out, t->low == t->high ? "always " : "");
		add_brief_count(out, t->low);
		if (t->high > t->low) {
			text_char(out, '-');
			add_brief_count(out, t->high);
		}
		return true;
	}
	for (uint32_t i = 0; i < count; i++) {
		if (t[i].low != t[i].high || (double)t[i].entries < NEARLY_ALL * (double)all)
			continue;
		add_value(&t[i], all, " x ", out);
		return true;
	}
	if (count != 2 || t[0].low != t[0].high || t[1].low != t[1].high)
		return false;
	add_value(&t[0], all, ":", out);
	text_char(out, ' ');
	add_value(&t[1], all, ":", out);
	if (out->len - start <= DRAWING_COLUMNS)
		return true;
	out->len = start;
	return false;
}

/* The bars: one per trip count if they fit, otherwise for 0, 1, 2-3, 4-7, 8-15, ... */
struct axis {
	bool each;
	uint64_t first; /* first trip count, or first power of two */
	uint32_t count; /* number of bars */
	uint32_t group; /* number of trip counts or powers per bar */
};

/* Returns 0 for 0, 1 for 1, 2 for 2-3, 3 for 4-7, ... */
static uint32_t power_bar(uint64_t trips)
{
	return trips ? 64 - (uint32_t)__builtin_clzll(trips) : 0;
}

static struct axis find_axis(const struct counts_trips *t, uint32_t count)
{
	uint64_t low = t[0].low, high = t[count - 1].low;
	struct axis a = {.each = high - low < DRAWING_COLUMNS, .first = low, .group = 1};
	for (uint32_t i = 0; i < count; i++)
		a.each &= t[i].low == t[i].high;
	a.count = (uint32_t)(high - low) + 1;
	if (!a.each) {
		uint32_t span = power_bar(high) - power_bar(low);
		a.first = power_bar(low);
		a.group = span / DRAWING_COLUMNS + 1;
		a.count = span / a.group + 1;
	}
	return a;
}

static uint32_t bar_of(const struct axis *a, uint64_t trips)
{
	return (uint32_t)((a->each ? trips : power_bar(trips)) - a->first) / a->group;
}

static void add_bars(const struct counts_trips *t, uint32_t count, struct text *out)
{
	static const char *const blocks[2][8] = {
		{".", ":", "-", "=", "+", "*", "%", "#"},
		{"\u2581", "\u2582", "\u2583", "\u2584", "\u2585", "\u2586", "\u2587", "\u2588"}};
	uint64_t bars[DRAWING_COLUMNS] = {0}, most = 0;
	struct axis axis = find_axis(t, count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t *bar = &bars[bar_of(&axis, t[i].low)];
		*bar += t[i].entries;
		most = *bar > most ? *bar : most;
	}
	for (uint32_t i = 0; i < axis.count; i++) {
		/* With a factor of 8, the highest bar would have a level too many. */
		uint32_t level = most ? (uint32_t)((double)bars[i] * 7.999 / (double)most) : 0;
		text_add(out, bars[i] ? blocks[output_is_utf8()][level] : " ");
	}
}

static void add_drawing(const struct counts *c, const struct counts_row *r, struct text *out)
{
	const struct counts_trips *t = r->trips_count ? &c->trips.data[r->first_trips] : NULL;
	if (r->flags & COUNTS_TRIPS_UNKNOWN)
		text_add(out, "not known");
	else if (!t)
		text_add(out, r->entries ? "not ended" : "");
	else if (!add_values(t, r->trips_count, ended_entries(c, r), out))
		add_bars(t, r->trips_count, out);
}

static void add_trips(const struct counts_row *row, uint64_t trips, struct text *out)
{
	if (row->flags & COUNTS_TRIPS_UNKNOWN)
		add_word_cell(out, "?", 7);
	else if (!row->trips_count)
		add_word_cell(out, "-", 7);
	else
		add_count_cell(out, trips, 7);
}

static void add_iterations(const struct counts_row *row, struct text *out)
{
	struct text mean = TEXT_INIT;
	bool known = !(row->flags & COUNTS_ITERATIONS_UNKNOWN);
	add_count_cell(out, row->entries, 8);
	if (known)
		add_count_cell(out, row->iterations, 11);
	else
		add_word_cell(out, "?", 11);
	add_trips(row, row->trip_min, out);
	if (known && row->entries)
		add_mean(&mean, (double)row->iterations / (double)row->entries);
	else
		text_char(&mean, '?');
	add_cell(out, &mean, 7);
	add_trips(row, row->trip_max, out);
	text_release(&mean);
}

static void add_text(const struct counted_item *i, const struct report *r, struct text *out)
{
	size_t start = out->len;
	add_share(out, i->amount.self, r->total);
	add_share(out, i->amount.total, r->total);
	if (i->row) {
		add_iterations(i->row, out);
		text_add(out, "  ");
		add_drawing(i->counts, i->row, out);
	} else {
		add_word_cell(out, "not counted", 20);
	}
	pad_to(out, start, COLUMNS);
}

void trips_text(const struct report *r, struct text *out)
{
	struct counts_view c;
	counted_build(&c, r, loops_outline, SORT_TOTAL);
	counted_note(r, out);
	if (!c.rows.list.len) {
		text_add(out, "nothing was executed in a loop\n");
	} else {
		output_style(out, STYLE_ADDRESS);
		text_add(out, "trips are the iterations of one entry; \"3 x 98%\": 98 % of entries "
			      "have 3. Bars are entries, from min\nto max: with each number if "
			      "these fit, else with 0, 1, 2-3, 4-7, 8-15, ... iterations.\n");
		output_style(out, STYLE_HEADING);
		text_printf(out,
			    "   self  total entries iterations    min   mean    max  %-*s  %s\n",
			    DRAWING_COLUMNS, "trips", "loop");
		output_style(out, STYLE_NONE);
		counted_text(&c, r, COLUMNS, add_text, out);
		counted_legend(&c, out);
	}
	counted_release(&c);
}

static void add_known(struct json *j, const char *key, bool known, uint64_t value)
{
	if (known)
		json_u64(j, key, value);
	else
		json_string(j, key, NULL);
}

static void add_json(const struct counted_item *i, const struct report *r, struct json *j)
{
	static const struct counts_row none = {.flags = COUNTS_ITERATIONS_UNKNOWN |
							COUNTS_TRIPS_UNKNOWN};
	const struct counts_row *row = i->row ? i->row : &none;
	bool iterations = !(row->flags & COUNTS_ITERATIONS_UNKNOWN);
	bool trips = !(row->flags & COUNTS_TRIPS_UNKNOWN) && row->trips_count;
	(void)r;
	add_known(j, "entries", i->row, row->entries);
	add_known(j, "iterations", iterations, row->iterations);
	add_known(j, "trip_min", trips, row->trip_min);
	if (iterations && row->entries)
		json_quantity(j, "trip_mean", A_FACTOR,
			      (double)row->iterations / (double)row->entries, 4);
	else
		json_string(j, "trip_mean", NULL);
	add_known(j, "trip_max", trips, row->trip_max);
	json_u64(j, "machine_loops", row->machine_loops);
	json_bool(j, "machine_iterations", row->flags & COUNTS_MACHINE_ITERATIONS);
	json_array(j, "trips");
	for (uint32_t k = 0; k < row->trips_count; k++) {
		const struct counts_trips *t = &i->counts->trips.data[row->first_trips + k];
		json_object(j, NULL);
		json_u64(j, "low", t->low);
		json_u64(j, "high", t->high);
		json_u64(j, "entries", t->entries);
		json_end(j);
	}
	json_end(j);
}

void trips_json(const struct report *r, struct json *j)
{
	struct counts_view c;
	counted_build(&c, r, loops_outline, SORT_TOTAL);
	counted_json(&c, r, add_json, j);
	counted_release(&c);
}

/* "0:12 1:7 8-15:1" */
static void add_histogram(const struct counted_item *i, struct text *out)
{
	struct text all = TEXT_INIT;
	text_add(&all, "");
	for (uint32_t k = 0; k < i->row->trips_count; k++) {
		const struct counts_trips *t = &i->counts->trips.data[i->row->first_trips + k];
		text_add(&all, k ? " " : "");
		text_u64(&all, t->low);
		if (t->high > t->low) {
			text_char(&all, '-');
			text_u64(&all, t->high);
		}
		text_char(&all, ':');
		text_u64(&all, t->entries);
	}
	csv_text(out, all.data);
	text_release(&all);
}

static void add_csv_known(struct text *out, bool known, uint64_t value)
{
	if (known)
		csv_u64(out, value);
	else
		text_char(out, ',');
}

static void add_csv(const struct counted_item *i, struct text *out)
{
	if (!i->row) {
		text_add(out, ",,,,,,\"\",");
		return;
	}
	bool iterations = !(i->row->flags & COUNTS_ITERATIONS_UNKNOWN);
	bool trips = !(i->row->flags & COUNTS_TRIPS_UNKNOWN) && i->row->trips_count;
	csv_u64(out, i->row->entries);
	add_csv_known(out, iterations, i->row->iterations);
	add_csv_known(out, trips, i->row->trip_min);
	if (iterations && i->row->entries)
		text_printf(out, "%.4f", (double)i->row->iterations / (double)i->row->entries);
	text_char(out, ',');
	add_csv_known(out, trips, i->row->trip_max);
	csv_u64(out, i->row->machine_loops);
	add_histogram(i, out);
}

void trips_csv(const struct report *r, struct text *out)
{
	struct counts_view c;
	counted_build(&c, r, loops_outline, SORT_TOTAL);
	counted_csv_heading("entries,iterations,trip_min,trip_mean,trip_max,machine_loops,trips",
			    out);
	counted_csv(&c, r, add_csv, out);
	counted_release(&c);
}
