/* Debug output by domain and level: `--debug=flow:2,module`. It is off by default, and then costs
 * one load and a branch. Level 1 is a line per event a developer wants to see, 2 a line per item, 3
 * everything. */
#pragma once
#include <stdbool.h>

enum log_domain {
	LOG_MODULE,
	LOG_DWARF,
	LOG_FLOW,
	LOG_JUMP,
	LOG_STRUCTURE,
	LOG_CACHE,
	LOG_UNWIND,
	LOG_SAMPLE,
	LOG_STORE,
	LOG_RECORD,
	LOG_PROBE,
	LOG_SEARCH,
	LOG_DOMAINS,
};

extern int log_level[LOG_DOMAINS];
extern const char *const log_domain_name[LOG_DOMAINS];

/* Parses "DOMAIN[:LEVEL],..." ("all" is every domain). Returns false and points *bad at the word
 * that is not a domain or a level. */
bool log_configure(const char *spec, const char **bad);

void log_write(enum log_domain d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define debug(domain, level, ...)                                                                  \
	do {                                                                                       \
		if (log_level[domain] >= (level))                                                  \
			log_write(domain, __VA_ARGS__);                                            \
	} while (0)
