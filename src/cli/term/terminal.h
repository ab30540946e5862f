/* The terminal: its size, its capabilities, its escape codes. All of Sonde's knowledge of terminals
 * is here. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct terminal_size {
	unsigned columns, rows;
};

/* Returns false if `fd` is not a terminal. */
bool terminal_size(int fd, struct terminal_size *out);
/* Returns its columns; `otherwise` if `fd` is not a terminal, or implausibly narrow. */
unsigned terminal_columns(int fd, unsigned otherwise);
/* True if it supports moving the cursor. */
bool terminal_draws(int fd);
/* True if it shows colours and the user wants them (NO_COLOR). */
bool terminal_has_color(int fd);
/* Writes all bytes; returns false if that fails. */
bool terminal_write(int fd, const char *bytes, size_t size);

#define TERMINAL_PLAIN        "\033[m"
#define TERMINAL_BOLD         "\033[1m"
#define TERMINAL_DIM          "\033[2m"
#define TERMINAL_GREEN        "\033[32m"
#define TERMINAL_YELLOW       "\033[33m"
#define TERMINAL_BOLD_CYAN    "\033[1;36m"
#define TERMINAL_CLEAR_LINE   "\033[K" /* from the cursor on */
#define TERMINAL_CLEAR_BELOW  "\033[J"
#define TERMINAL_CLEAR        "\033[2J"
#define TERMINAL_HOME         "\033[H"
#define TERMINAL_TO_ROW       "\033[%u;1H"
#define TERMINAL_UP           "\033[%dA"
#define TERMINAL_SCROLL_TO    "\033[1;%ur" /* sets the last row of the scroll region */
#define TERMINAL_SCROLL_ALL   "\033[r"
#define TERMINAL_SAVE_CURSOR  "\0337"
#define TERMINAL_LOAD_CURSOR  "\0338"
#define TERMINAL_HIDE_CURSOR  "\033[?25l"
#define TERMINAL_SHOW_CURSOR  "\033[?25h"
#define TERMINAL_NO_WRAP      "\033[?7l"
#define TERMINAL_WRAP         "\033[?7h"
#define TERMINAL_OTHER_SCREEN "\033[?1049h"
#define TERMINAL_MAIN_SCREEN  "\033[?1049l"
