#include "cli/args/seconds.h"

#include <math.h>
#include <stdlib.h>

#include "cli/term/die.h"

enum { SECONDS_MAX = 1000000000 }; /* 30 years; as nanoseconds, it still fits into 64 bits */

double parse_seconds(const char *option, const char *value)
{
	char *end;
	if (!value)
		return 0;
	double seconds = strtod(value, &end);
	if (end == value || *end || !isfinite(seconds) || seconds <= 0 || seconds > SECONDS_MAX)
		die("%s takes a number of seconds such as 10 or 2.5, not '%s'", option, value);
	return seconds;
}
