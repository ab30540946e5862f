/* A program that is run one instruction at a time. */
#pragma once
#include "base/err.h"
#include "isa/arch.h"

enum tracee_event {
	TRACEE_STOPPED, /* one instruction further, or at the first of a signal handler */
	TRACEE_SIGNAL,  /* a signal is about to be delivered, by the next step */
	TRACEE_ENDED,
};

struct tracee {
	const struct arch *arch;
	int pid;
	int signal; /* to be delivered by the next step, or 0 */
	int status; /* as waitpid() says, once it has ended */
	struct registers regs;
};

/* Starts a program and stops it before its first instruction. */
int tracee_start(struct tracee *t, char **argv, struct err *e);
/* Kills and reaps it. */
void tracee_end(struct tracee *t);

/* Runs at full speed until pc is reached. */
int tracee_run_to(struct tracee *t, uint64_t pc, struct err *e);
/* Runs at full speed until it ends. */
void tracee_run_to_end(struct tracee *t);
enum tracee_event tracee_step(struct tracee *t);
/* Runs over `in`, the exclusive load that it stands at, and all up to behind the matching store:
 * stepping would clear the monitor each time, so that the store never succeeds. False if there is
 * none to be run over. */
bool tracee_run_over_exclusives(struct tracee *t, const struct insn *in, enum tracee_event *event);

/* Returns how many bytes were read. */
size_t tracee_read(const struct tracee *t, uint64_t address, void *to, size_t n);
