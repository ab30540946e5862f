/* Options that limit the measuring overhead. */
#pragma once

/* Parses percent of the run time and returns a share; 0 means no limit ("none"). Dies if the value
 * is neither a number nor "none". */
double parse_overhead(const char *value);
