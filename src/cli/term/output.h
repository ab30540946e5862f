/* Data for the user, on stdout. Commands build it in a `struct text` and hand it over in large
 * pieces; when stdout is a terminal it goes through a pager, and colours are used where they help.
 *
 * A reader that stops reading (`sonde ... | head`) is no failure. A disk that is full is. */
#pragma once
#include <stdbool.h>

#include "base/text.h"

enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Decides about colour and, if stdout is a terminal and `pager`, starts $SONDE_PAGER, $PAGER or
 * less. Call once, when it is sure that there is something to show. */
void output_begin(enum color_when color, bool pager);
/* Decides about colour alone, for what goes to this file. */
void output_color(enum color_when color, int fd);
/* Writes and clears the text. Ends the process if writing fails; quietly if nobody reads. */
void output_write(struct text *t);
/* The same once it is much. */
void output_flush(struct text *t);
/* Waits for the pager. Also runs at exit. */
void output_end(void);

/* True if the user's locale has characters beyond ASCII, as UTF-8. */
bool output_is_utf8(void);

/* What a piece of text is; the colours follow from it. */
enum style { STYLE_NONE, STYLE_HEADING, STYLE_NAME, STYLE_LOOP, STYLE_INLINE, STYLE_ADDRESS };

/* Switches to a style, STYLE_NONE for the terminal's own. Adds nothing when colours are off. */
void output_style(struct text *t, enum style style);
/* Adds a name or path found in a file: control characters come out as \xNN. */
void output_name(struct text *t, const char *name);
