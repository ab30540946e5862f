/* Saves the profile while it grows, at least once per second: whatever ends Sonde, no more than
 * that is lost. While saving fails (the disk is full), the profile stays in memory, and saving is
 * tried again from time to time. */
#pragma once
#include "profile/store.h"

struct saver {
	struct store *store;
	struct profile *profile;
	char *path;
	uint64_t next;      /* ns, CLOCK_MONOTONIC: when to save again */
	uint64_t pause;     /* ns between saves; longer after failures */
	bool kept;          /* a previous file was moved out of the way */
	bool failed;        /* the last attempt to save has failed */
	struct err problem; /* why */
};

int saver_open(struct saver *s, struct profile *p, const char *path, struct err *e);
/* Saves if it is time to. */
void saver_tick(struct saver *s);
/* Saves now. False if that failed. */
bool saver_save(struct saver *s);
void saver_close(struct saver *s);
/* Closes it as if it had never been opened: puts the previous file back in its place. */
void saver_undo(struct saver *s);
