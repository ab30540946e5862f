/* Waits that have ended, by place and object. */
#pragma once
#include "runtime/activation.h"

struct ended_wait {
	uint64_t since, now; /* ticks */
	uint64_t bytes;
	bool small;
};

/* Adds the wait that the area describes to its cells. The hit is at its end. */
void count_wait(const struct hit *h, const struct ended_wait *w);
