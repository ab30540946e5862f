/* A few lines at the bottom of a terminal that show progress, while the program may write above
 * them: only the rows above scroll. Without a terminal, a plain line is printed now and then. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

/* An all-zero region shows nothing. */
struct live_region {
	int fd;
	bool open;     /* initialised */
	bool terminal; /* otherwise plain lines are printed */
	bool drawn;    /* the lines at the bottom are reserved */
	unsigned rows, columns;
	uint64_t next; /* ns: when the next update is due */
	double pause;  /* s between updates */
};

void live_region_init(struct live_region *r, int fd);
bool live_region_is_due(const struct live_region *r);
/* True if the terminal has room for lines below the headline. */
bool live_region_is_wide(const struct live_region *r);
/* Shows the headline and the lines, shortened to the terminal's width. */
void live_region_show(struct live_region *r, const char *headline, const char *const *lines,
		      uint32_t count);
/* Removes the lines; they may be shown again. */
void live_region_clear(struct live_region *r);
