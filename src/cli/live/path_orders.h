/* What the user tells `sonde path` while it runs: one order a line.
 *
 *	add FUNC    remove FUNC    metric +NAME    metric -NAME    metric NAME    print    quit
 */
#pragma once
#include "path/session.h"

enum order_result { ORDER_DONE, ORDER_PRINT, ORDER_QUIT, ORDER_FAILED };

/* ORDER_FAILED has a sentence in *e. */
enum order_result path_order(struct path_session *s, const char *line, struct err *e);

/* A FIFO that scripts write orders to. */
struct order_pipe {
	int fd; /* -1: none */
	const char *path;
	bool made; /* by us: to be removed */
	char line[1024];
	size_t len;
	bool skipping; /* the rest of a line that is too long */
};

/* Makes the FIFO if there is none. */
int order_pipe_open(struct order_pipe *p, const char *path, struct err *e);
/* The next line, or NULL if none is complete. Good until the next call. */
const char *order_pipe_next(struct order_pipe *p);
void order_pipe_close(struct order_pipe *p);
