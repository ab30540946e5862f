/* A few lines at the bottom of a terminal that tell how far something is, while a program may write
 * above them: the terminal scrolls the rest only. Where there is no terminal, a plain line now and
 * then. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* All-zero is one that shows nothing. */
struct live_region {
	int fd;
	bool open;     /* there is something to show it on */
	bool terminal; /* else plain lines */
	bool drawn;    /* the lines are reserved */
	unsigned rows, columns;
	uint64_t next; /* ns: when it is due */
	double pause;  /* s until it is due again */
};

void live_region_init(struct live_region *r, int fd);
bool live_region_is_due(const struct live_region *r);
/* Whether it has room for more than a headline. */
bool live_region_is_wide(const struct live_region *r);
/* The lines are cut at the terminal's edge. */
void live_region_show(struct live_region *r, const char *headline, const char *const *lines,
		      uint32_t count);
/* Takes it away; it may be shown again. */
void live_region_clear(struct live_region *r);
