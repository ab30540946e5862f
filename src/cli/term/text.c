#include "cli/term/text.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "profile/short_name.h"

void add_share(struct text *out, uint64_t amount, uint64_t total)
{
	if (!amount)
		text_fill(out, ' ', 7);
	else
		text_printf(out, "%6.1f%%", percent_of(amount, total));
}

void add_count(struct text *out, uint64_t n)
{
	struct text digits = TEXT_INIT;
	text_u64(&digits, n);
	for (size_t i = 0; i < digits.len; i++) {
		if (i && (digits.len - i) % 3 == 0)
			text_char(out, ',');
		text_char(out, digits.data[i]);
	}
	text_release(&digits);
}

/* The limits below are where rounding would add a digit. */
void add_brief_count(struct text *out, uint64_t n)
{
	static const char units[] = "kMGTPE";
	double value = (double)n;
	size_t i = 0;
	if (n < 100000) {
		add_count(out, n);
		return;
	}
	for (value /= 1000; value >= 999.5; value /= 1000)
		i++;
	int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	text_printf(out, "%.*f %c", digits, value, units[i]);
}

void add_mean(struct text *out, double mean)
{
	if (mean >= 99.95 || mean == floor(mean))
		add_brief_count(out, mean < 1.8e19 ? (uint64_t)llround(mean) : UINT64_MAX);
	else
		text_printf(out, "%.*f", mean < 9.995 ? 2 : 1, mean);
}

void add_amount(struct text *out, const struct profile_metric *m, uint64_t amount)
{
	static const struct {
		double size;
		const char *unit;
	} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
	size_t i = 0;
	if (!amount || strcmp(m->unit, "ns") != 0) {
		add_count(out, amount);
		return;
	}
	while (i + 1 < ARRAY_SIZE(units) && (double)amount < units[i].size)
		i++;
	double value = (double)amount / units[i].size;
	text_printf(out, "%.*f %s", value < 10 ? 2 : value < 100 ? 1 : 0, value, units[i].unit);
}

void add_brief_amount(struct text *out, const struct profile_metric *m, uint64_t amount)
{
	if (strcmp(m->unit, "ns") != 0)
		add_brief_count(out, amount);
	else
		add_amount(out, m, amount);
}

void add_counted(struct text *out, uint64_t n, const char *one, const char *many)
{
	add_count(out, n);
	text_char(out, ' ');
	text_add(out, n == 1 ? one : many);
}

/* Bytes that continue a UTF-8 character occupy no column of their own. */
static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t text_columns(const char *s, size_t n)
{
	size_t columns = 0;
	for (size_t i = 0; i < n; i++)
		columns += !is_continuation(s[i]);
	return columns;
}

/* Returns the number of bytes in the first `columns` columns. */
static size_t prefix_bytes(const char *s, size_t n, size_t columns)
{
	size_t i = 0;
	while (i < n && (columns || is_continuation(s[i])))
		columns -= !is_continuation(s[i++]);
	return i;
}

enum { MIN_SHORTENED = 8 }; /* in fewer columns, a shortened name says nothing */

void add_short(struct text *out, const char *name, size_t width)
{
	struct text all = TEXT_INIT;
	output_name(&all, name);
	size_t columns = text_columns(all.data, all.len);
	if (columns <= width || width < MIN_SHORTENED) {
		text_addn(out, all.len ? all.data : "", all.len);
	} else {
		size_t tail = (width - 3) / 2, head = width - 3 - tail;
		size_t skip = prefix_bytes(all.data, all.len, columns - tail);
		text_addn(out, all.data, prefix_bytes(all.data, all.len, head));
		text_add(out, "...");
		text_addn(out, all.data + skip, all.len - skip);
	}
	text_release(&all);
}

static bool long_names;

void text_long_names(bool on)
{
	long_names = on;
}

void add_bare(struct text *out, const char *name)
{
	struct text bare = TEXT_INIT;
	if (!long_names)
		bare_name(&bare, name);
	output_name(out, bare.len ? bare.data : name);
	text_release(&bare);
}

void add_function_name(struct text *out, const char *name, size_t width)
{
	struct text bare = TEXT_INIT;
	bool fits = long_names || text_columns(name, strlen(name)) <= width;
	if (!fits)
		add_bare(&bare, name);
	add_short(out, fits ? name : bare.data, long_names ? SIZE_MAX : width);
	text_release(&bare);
}

void add_path(struct text *out, const char *path, size_t width)
{
	struct text tidy = TEXT_INIT;
	text_add(&tidy, *path == '/' ? "/" : "");
	size_t floor = tidy.len; /* length of the prefix that ".." cannot remove */
	while (*path) {
		size_t n = strcspn(path, "/");
		bool up = n == 2 && !memcmp(path, "..", 2);
		if (up && tidy.len > floor) {
			while (--tidy.len > floor && tidy.data[tidy.len - 1] != '/')
				;
		} else if (n && !(n == 1 && *path == '.')) {
			text_addn(&tidy, path, n);
			text_char(&tidy, '/');
			floor = up ? tidy.len : floor;
		}
		path += n + (path[n] == '/');
	}
	if (tidy.len > 1)
		tidy.len--;
	text_addn(&tidy, "", 0);
	add_short(out, tidy.data, width);
	text_release(&tidy);
}

void add_place(struct text *out, const char *file, uint32_t first, uint32_t last)
{
	output_name(out, *file ? base_name(file) : "?");
	if (!first)
		return;
	text_char(out, ':');
	text_u64(out, first);
	if (last > first) {
		text_char(out, '-');
		text_u64(out, last);
	}
}

void add_scope_place(struct text *out, const struct profile *p, const struct profile_scope *s)
{
	bool call = s->kind == PROFILE_INLINE && s->call_line;
	bool start = s->kind == PROFILE_FUNCTION;
	if (call)
		add_place(out, s->call_file, s->call_line, s->call_line);
	else if (*s->file && s->first_line)
		add_place(out, s->file, s->first_line, start ? 0 : s->last_line);
	else if (s->module < p->modules.len) {
		const char *name = base_name(p->modules.data[s->module].path);
		bool bare = *name != '['; /* names such as [vdso] have brackets already */
		text_add(out, bare ? "[" : "");
		output_name(out, name);
		text_add(out, bare ? "]" : "");
	}
}

void pad_to(struct text *out, size_t start, size_t column)
{
	size_t used = out->len > start ? text_columns(out->data + start, out->len - start) : 0;
	text_fill(out, ' ', used < column ? column - used : 1);
}

void add_cell(struct text *out, struct text *cell, size_t columns)
{
	const char *data = cell->len ? cell->data : "";
	size_t used = text_columns(data, cell->len);
	text_fill(out, ' ', used < columns ? columns - used : 1);
	text_addn(out, data, cell->len);
	text_clear(cell);
}

void add_word_cell(struct text *out, const char *word, size_t columns)
{
	struct text cell = TEXT_INIT;
	text_add(&cell, word);
	add_cell(out, &cell, columns);
	text_release(&cell);
}

void add_count_cell(struct text *out, uint64_t n, size_t columns)
{
	struct text cell = TEXT_INIT;
	add_brief_count(&cell, n);
	add_cell(out, &cell, columns);
	text_release(&cell);
}

void csv_text(struct text *out, const char *value)
{
	struct text plain = TEXT_INIT;
	output_name(&plain, value);
	text_char(out, '"');
	for (size_t i = 0; i < plain.len; i++) {
		if (plain.data[i] == '"')
			text_char(out, '"');
		text_char(out, plain.data[i]);
	}
	text_add(out, "\",");
	text_release(&plain);
}

void csv_u64(struct text *out, uint64_t value)
{
	text_u64(out, value);
	text_char(out, ',');
}

void csv_end(struct text *out)
{
	out->data[out->len - 1] = '\n';
}
