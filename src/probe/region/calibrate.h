/* What one hit of each kind of probe costs on this machine. */
#pragma once
#include "probe/region/shared.h"

void calibrate(struct shared *s, struct probe_costs *out);
