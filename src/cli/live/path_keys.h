/* Keys of a terminal while the table is shown there: they become the orders of path_orders.h. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/text.h"

struct keys {
	int fd; /* -1: none */
	struct termios before;
	char asking; /* the key whose name is being typed, or 0 */
	bool help;   /* is shown */
	char line[512];
	size_t len;
	struct text order;
};

/* Makes the terminal tell keys as they are pressed; keys_close() sets it back. */
void keys_open(struct keys *k, int fd);
void keys_close(struct keys *k);
/* The next order, or NULL. Good until the next call. */
const char *keys_next(struct keys *k, bool *changed);
/* The line below the table: what is being typed, or what the keys do. */
void keys_line(const struct keys *k, struct text *out);
