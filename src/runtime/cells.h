/* Waits that have ended, by where and for what they were. */
#pragma once
#include "runtime/activation.h"

struct ended_wait {
	uint64_t since, now; /* ticks */
	uint64_t bytes;
	bool small;
};

/* The wait that the area tells of, at whose end the hit is. */
void count_wait(const struct hit *h, const struct ended_wait *w);
