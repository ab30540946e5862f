/* Procedures that every path begins with and nobody asks about: _start and the like. */
#pragma once
#include "profile/profile.h"

bool is_startup(const struct profile *p, uint32_t scope);
bool is_startup_name(const char *procedure);
