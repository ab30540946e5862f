/* The overhead of one hit of each kind of probe on this machine. */
#pragma once
#include "probe/region/shared.h"

void calibrate(struct shared *s, struct probe_overheads *out);
