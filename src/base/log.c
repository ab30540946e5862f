#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int log_level[LOG_DOMAINS];

const char *const log_domain_name[LOG_DOMAINS] = {
	[LOG_MODULE] = "module", [LOG_DWARF] = "dwarf",         [LOG_FLOW] = "flow",
	[LOG_JUMP] = "jump",     [LOG_STRUCTURE] = "structure", [LOG_CACHE] = "cache",
	[LOG_UNWIND] = "unwind", [LOG_SAMPLE] = "sample",       [LOG_STORE] = "store",
	[LOG_RECORD] = "record", [LOG_PROBE] = "probe",         [LOG_SEARCH] = "search",
};

static bool set_one(const char *word, size_t n, int level)
{
	bool all = n == 3 && !memcmp(word, "all", 3), found = all;
	for (int d = 0; d < LOG_DOMAINS; d++) {
		const char *name = log_domain_name[d];
		if (all || (strlen(name) == n && !memcmp(name, word, n))) {
			log_level[d] = level;
			found = true;
		}
	}
	return found;
}

bool log_configure(const char *spec, const char **bad)
{
	while (*spec) {
		size_t n = strcspn(spec, ":,");
		const char *rest = spec + n;
		int level = 1;
		if (*rest == ':') {
			if (rest[1] < '0' || rest[1] > '9' || (rest[2] && rest[2] != ',')) {
				*bad = spec;
				return false;
			}
			level = rest[1] - '0';
			rest += 2;
		}
		if (!set_one(spec, n, level)) {
			*bad = spec;
			return false;
		}
		spec = *rest == ',' ? rest + 1 : rest;
	}
	return true;
}

void log_write(enum log_domain d, const char *fmt, ...)
{
	char line[1000];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	fprintf(stderr, "[%s] %s\n", log_domain_name[d], line);
}
