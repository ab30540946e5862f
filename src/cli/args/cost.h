/* Options that limit what measuring may cost. */
#pragma once

/* A share of the run time, from per cent; 0 means that there is no limit. Dies if it is neither a
 * number nor "none". */
double parse_cost(const char *value);
