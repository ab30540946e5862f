/* Instructions as tests spell them: "0f 1f 00". */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

static inline size_t parse_hex(const char *hex, uint8_t *out)
{
	size_t n = 0;
	char *end;
	for (const char *s = hex; *s; s = end)
		out[n++] = (uint8_t)strtoul(s, &end, 16);
	return n;
}
