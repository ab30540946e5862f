/* Functions at the start of every call path that nobody is interested in: _start and the like. */
#pragma once
#include "profile/profile.h"

bool is_startup(const struct profile *p, uint32_t scope);
bool is_startup_name(const char *function);
