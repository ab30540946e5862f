/* Keys that the user presses while the table is shown. They become commands for path_command(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <termios.h>

#include "base/text.h"

struct keys {
	int fd;                /* -1: there is no keyboard */
	struct termios before; /* the state that keys_close() restores */
	char asking;           /* the key whose argument is being typed, or 0 */
	bool help;             /* the help text is shown */
	char line[512];        /* the argument as typed so far */
	size_t len;
	struct text command;
};

/* Makes the terminal deliver keys as they are pressed; keys_close() restores it. */
void keys_open(struct keys *k, int fd);
void keys_close(struct keys *k);
/* Returns the next command, or NULL; valid until the next call. Sets *changed if any key was
 * pressed. */
const char *keys_next(struct keys *k, bool *changed);
/* Appends the line below the table: the text being typed, or a summary of the keys. */
void keys_line(const struct keys *k, struct text *out);
