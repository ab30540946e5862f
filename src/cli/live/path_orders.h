/* Commands that the user gives `sonde path` while it runs, one per line:
 *
 *	add FUNC    remove FUNC    metric +NAME    metric -NAME    metric NAME    print    quit
 */
#pragma once
#include "path/session.h"

enum order_result { ORDER_DONE, ORDER_PRINT, ORDER_QUIT, ORDER_FAILED };

/* Executes one command. With ORDER_FAILED, *e has the reason. */
enum order_result path_order(struct path_session *s, const char *line, struct err *e);

/* A FIFO through which scripts send commands. */
struct order_pipe {
	int fd; /* -1: none */
	const char *path;
	bool made; /* created by us, so it must be removed */
	char line[1024];
	size_t len;
	bool skipping; /* skipping the rest of a line that is too long */
};

/* Creates the FIFO if it does not exist. A NULL `path` means that there is none. */
int order_pipe_open(struct order_pipe *p, const char *path, struct err *e);
/* Returns the next line, or NULL if none is complete; valid until the next call. */
const char *order_pipe_next(struct order_pipe *p);
void order_pipe_close(struct order_pipe *p);
