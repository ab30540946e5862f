/* What is fuzzed: each target takes any bytes, must not crash, hang or read outside them, and
 * checks what it gets back with FUZZ_CHECK. libfuzzer.c runs one of them under libFuzzer, replay.c
 * all of them over files. */
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef void (*fuzz_fn)(const uint8_t *data, size_t size);

void fuzz_module(const uint8_t *data, size_t size);
void fuzz_decode(const uint8_t *data, size_t size);
void fuzz_debug(const uint8_t *data, size_t size);
void fuzz_structure(const uint8_t *data, size_t size);
void fuzz_ring(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)
