/* A full screen that is redrawn in place. These functions do not write: they append text and escape
 * codes to `out`. */
#pragma once
#include "base/text.h"

void screen_enter(struct text *out);
void screen_leave(struct text *out);
/* Draws the first `lines` lines of the body and clears the rest of the screen. Each line is
 * overwritten and then cleared to its end, which avoids flicker. The terminal cuts long lines. */
void screen_draw(struct text *out, const struct text *body, unsigned lines);
