#include "cli/live_region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/die.h"
#include "cli/report_text.h"

enum { LINES = 4, LEAST_ROWS = 12 };

static const double redraw = 0.5, first_line = 5, most_pause = 60; /* s */

static bool measure(struct live_region *r)
{
	struct winsize size;
	const char *term = getenv("TERM");
	if (!isatty(r->fd) || !term || !strcmp(term, "dumb") || ioctl(r->fd, TIOCGWINSZ, &size))
		return false;
	r->rows = size.ws_row;
	r->columns = size.ws_col;
	return r->rows >= LEAST_ROWS && r->columns >= 40;
}

void live_region_init(struct live_region *r, int fd)
{
	*r = (struct live_region){.fd = fd, .open = true};
	r->terminal = measure(r);
	r->pause = r->terminal ? redraw : first_line;
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

static void send(const struct live_region *r, struct text *t)
{
	/* If nobody takes it, nobody misses it. */
	ssize_t ignored = write(r->fd, t->data, t->len);
	(void)ignored;
	text_release(t);
}

/* Room is made below the cursor, and everything above scrolls by itself from now on. */
static void reserve(struct live_region *r, struct text *out)
{
	if (r->drawn)
		return;
	text_fill(out, '\n', LINES);
	text_printf(out, "\033[%dA\0337\033[1;%ur\0338", LINES, r->rows - LINES);
	r->drawn = true;
}

static void draw(struct live_region *r, const char *headline, const char *const *lines,
		 uint32_t count)
{
	struct text out = TEXT_INIT;
	if (!measure(r))
		return;
	reserve(r, &out);
	text_add(&out, "\0337");
	for (uint32_t i = 0; i < LINES; i++) {
		text_printf(&out, "\033[%u;1H\033[2m\033[K", r->rows - LINES + 1 + i);
		if (i == 0)
			add_short(&out, headline, r->columns - 1);
		else if (i <= count)
			add_short(&out, lines[i - 1], r->columns - 1);
		text_add(&out, "\033[m");
	}
	text_add(&out, "\0338");
	send(r, &out);
}

void live_region_show(struct live_region *r, const char *headline, const char *const *lines,
		      uint32_t count)
{
	if (r->terminal) {
		draw(r, headline, lines, count);
	} else {
		complain("%s", headline);
		r->pause = r->pause * 2 < most_pause ? r->pause * 2 : most_pause;
	}
	r->next = now_ns() + (uint64_t)(r->pause * 1e9);
}

void live_region_clear(struct live_region *r)
{
	struct text out = TEXT_INIT;
	if (!r->drawn)
		return;
	text_printf(&out, "\0337\033[r\033[%u;1H\033[J\0338", r->rows - LINES + 1);
	send(r, &out);
	r->drawn = false;
}
