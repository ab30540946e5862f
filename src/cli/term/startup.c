#include "cli/term/startup.h"

#include "base/pattern.h"

bool is_startup_name(const char *function)
{
	static const char *const names[] = {
		"_start",
		"__libc_start_main*",
		"__libc_start_call_main",
		"libc_start_main*",
		"start_thread",
		"thread_start",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
	};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (pattern_match(names[i], function))
			return true;
	return false;
}

bool is_startup(const struct profile *p, uint32_t scope)
{
	return scope != PROFILE_NONE && p->scopes.data[scope].kind == PROFILE_FUNCTION &&
	       is_startup_name(p->scopes.data[scope].name);
}
