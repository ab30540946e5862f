/* Options whose value is a duration. */
#pragma once

/* Returns seconds; 0 if `value` is NULL: the option was not given. Dies if it is not a positive
 * number. */
double parse_seconds(const char *option, const char *value);
