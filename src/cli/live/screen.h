/* A whole screen that is redrawn in place. Nothing is written here: codes are added to text. */
#pragma once
#include "base/text.h"

void screen_enter(struct text *out);
void screen_leave(struct text *out);
/* The first lines of the body, and nothing below them. Each is cleared to its end, so that nothing
 * flickers; the terminal cuts them at its edge. */
void screen_draw(struct text *out, const struct text *body, unsigned lines);
