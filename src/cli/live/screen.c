#include "cli/live/screen.h"

#include <string.h>

#include "cli/term/terminal.h"

void screen_enter(struct text *out)
{
	text_add(out, TERMINAL_OTHER_SCREEN TERMINAL_HIDE_CURSOR TERMINAL_CLEAR);
}

void screen_leave(struct text *out)
{
	text_add(out, TERMINAL_SHOW_CURSOR TERMINAL_MAIN_SCREEN);
}

void screen_draw(struct text *out, const struct text *body, unsigned lines)
{
	unsigned line = 0;
	text_add(out, TERMINAL_HOME TERMINAL_NO_WRAP);
	for (const char *at = body->data; at && *at && line < lines; line++) {
		size_t n = strcspn(at, "\n");
		text_addn(out, at, n);
		text_add(out, TERMINAL_PLAIN TERMINAL_CLEAR_LINE "\r\n");
		at += n + (at[n] == '\n');
	}
	text_add(out, TERMINAL_CLEAR_BELOW TERMINAL_WRAP);
}
