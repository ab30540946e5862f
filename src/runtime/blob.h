/* The runtime's text, as it is embedded in the executable: see abi.h. */
#pragma once
#include <stddef.h>
#include <stdint.h>

extern const uint8_t runtime_blob[];
extern const size_t runtime_blob_size;
