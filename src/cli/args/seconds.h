/* Options that are a time. */
#pragma once

/* Seconds; 0 if the option was not given. Dies if the value is no such number. */
double parse_seconds(const char *option, const char *value);
