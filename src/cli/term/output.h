/* Data for the user, on stdout. Commands build it in a `struct text` and hand it over in large
 * pieces. If stdout is a terminal, it is shown in a pager, with colours where they help.
 *
 * A reader that stops reading (`sonde ... | head`) is not an error. A full disk is. */
#pragma once
#include <stdbool.h>

#include "base/text.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Decides whether to use colour and, if stdout is a terminal and `pager` is set, starts
 * $SONDE_PAGER, $PAGER or less. Call it once, when there is certainly something to show. */
void output_begin(enum color_when color, bool pager);
/* Only decides whether to use colour, for output to this file. */
void output_color(enum color_when color, int fd);
/* Writes and clears the text. Ends the process if writing fails: with success if the reader is
 * gone, otherwise with an error. */
void output_write(struct text *t);
/* Does the same, but only if the text has become large. */
void output_flush(struct text *t);
/* Waits for the pager to end. Also called at exit. */
void output_end(void);

/* True if the user's locale uses UTF-8. */
bool output_is_utf8(void);

/* The role of a piece of text; colours are derived from it. */
enum style { STYLE_NONE, STYLE_HEADING, STYLE_NAME, STYLE_LOOP, STYLE_INLINE, STYLE_ADDRESS };

/* Switches to a style, STYLE_NONE for the terminal's default. Adds nothing if colours are off. */
void output_style(struct text *t, enum style style);
/* Adds a name or path that was read from a file; control characters become \xNN. */
void output_name(struct text *t, const char *name);
