#include "cli/args/overhead.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/term/die.h"

double parse_overhead(const char *value)
{
	char *end;
	if (!strcmp(value, "none"))
		return 0;
	double percent = strtod(value, &end);
	end += *end == '%';
	if (end == value || *end || !isfinite(percent) || percent <= 0)
		die("--max-overhead takes a percentage of run time such as 5 or 0.5, or 'none', "
		    "not '%s'",
		    value);
	return percent / 100;
}
