#include "cli/live/region.h"

#include "base/clock.h"
#include "base/text.h"
#include "cli/term/die.h"
#include "cli/term/terminal.h"
#include "cli/term/text.h"

/* The lines of the region, and the smallest terminal that has room for it. */
enum { LINES = 4, MIN_ROWS = 12, MIN_COLUMNS = 40 };

/* In seconds. The pause between plain lines doubles each time. */
static const double redraw_pause = 0.5, first_line_pause = 5, max_line_pause = 60;

static bool measure_terminal(struct live_region *r)
{
	struct terminal_size size;
	if (!terminal_draws(r->fd) || !terminal_size(r->fd, &size))
		return false;
	r->rows = size.rows;
	r->columns = size.columns;
	return r->rows >= MIN_ROWS && r->columns >= MIN_COLUMNS;
}

void live_region_init(struct live_region *r, int fd)
{
	*r = (struct live_region){.fd = fd, .open = true};
	r->terminal = measure_terminal(r);
	r->pause = r->terminal ? redraw_pause : first_line_pause;
	r->next = now_ns() + (uint64_t)(r->pause * 1e9);
}

bool live_region_is_due(const struct live_region *r)
{
	return r->open && now_ns() >= r->next;
}

bool live_region_is_wide(const struct live_region *r)
{
	return r->terminal;
}

static void write_and_release(const struct live_region *r, struct text *t)
{
	terminal_write(r->fd, t->data, t->len); /* progress is not worth an error */
	text_release(t);
}

/* Makes room below the cursor and restricts scrolling to the rows above. */
static void reserve(struct live_region *r, struct text *out)
{
	if (r->drawn)
		return;
	text_fill(out, '\n', LINES);
	text_printf(out, TERMINAL_UP TERMINAL_SAVE_CURSOR TERMINAL_SCROLL_TO TERMINAL_LOAD_CURSOR,
		    LINES, r->rows - LINES);
	r->drawn = true;
}

static void draw(struct live_region *r, const char *headline, const char *const *lines,
		 uint32_t count)
{
	struct text out = TEXT_INIT;
	if (!measure_terminal(r))
		return;
	reserve(r, &out);
	text_add(&out, TERMINAL_SAVE_CURSOR);
	for (uint32_t i = 0; i < LINES; i++) {
		text_printf(&out, TERMINAL_TO_ROW TERMINAL_DIM TERMINAL_CLEAR_LINE,
			    r->rows - LINES + 1 + i);
		if (i == 0)
			add_short(&out, headline, r->columns - 1);
		else if (i <= count)
			add_short(&out, lines[i - 1], r->columns - 1);
		text_add(&out, TERMINAL_PLAIN);
	}
	text_add(&out, TERMINAL_LOAD_CURSOR);
	write_and_release(r, &out);
}

void live_region_show(struct live_region *r, const char *headline, const char *const *lines,
		      uint32_t count)
{
	if (r->terminal) {
		draw(r, headline, lines, count);
	} else {
		complain("%s", headline);
		r->pause = r->pause * 2 < max_line_pause ? r->pause * 2 : max_line_pause;
	}
	r->next = now_ns() + (uint64_t)(r->pause * 1e9);
}

void live_region_clear(struct live_region *r)
{
	struct text out = TEXT_INIT;
	if (!r->drawn)
		return;
	text_printf(&out,
		    TERMINAL_SAVE_CURSOR TERMINAL_SCROLL_ALL TERMINAL_TO_ROW TERMINAL_CLEAR_BELOW
			    TERMINAL_LOAD_CURSOR,
		    r->rows - LINES + 1);
	write_and_release(r, &out);
	r->drawn = false;
}
