/* Commands that the user gives `sonde path` while it runs, one per line:
 *
 *	add FUNC    remove FUNC    metric +NAME    metric -NAME    metric NAME    print    quit
 */
#pragma once
#include "path/session.h"

enum command_result { COMMAND_DONE, COMMAND_PRINT, COMMAND_QUIT, COMMAND_FAILED };

/* Executes one command. With COMMAND_FAILED, *e has the reason. */
enum command_result path_command(struct path_session *s, const char *line, struct err *e);

/* A FIFO through which scripts send commands. */
struct command_pipe {
	int fd; /* -1: none */
	const char *path;
	bool made; /* created by us, so it must be removed */
	char line[1024];
	size_t len;
	bool skipping; /* skipping the rest of a line that is too long */
};

/* Creates the FIFO if it does not exist. A NULL `path` means that there is none. */
int command_pipe_open(struct command_pipe *p, const char *path, struct err *e);
/* Returns the next line, or NULL if none is complete; valid until the next call. */
const char *command_pipe_next(struct command_pipe *p);
void command_pipe_close(struct command_pipe *p);
