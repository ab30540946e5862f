/* The pointer encodings of exception tables (LSB, DW_EH_PE_*): a format in the low bits, what the
 * value is relative to in the high ones. */
#pragma once
#include "image/bytes.h"
#include "image/image.h"

enum {
	ENCODING_ABSOLUTE = 0x00, /* 8 bytes, an address */
	ENCODING_FORMAT = 0x0f,
	ENCODING_INDIRECT = 0x80,
	ENCODING_OMITTED = 0xff,
};

/* Where encoded pointers stand and what they may be relative to. */
struct encoding_base {
	const struct image *im;
	const uint8_t *bytes; /* of the table, which is loaded at va */
	uint64_t va;
	uint64_t text, data; /* bases of "textrel" and "datarel" */
	uint64_t function;   /* base of "funcrel" */
};

/* Reads one pointer; false if it is not there, its encoding unknown or it points to the pointer
 * meant. Stored zeros stand for "none" and are returned as 0 whatever the base. */
bool read_encoded(struct cursor *c, uint8_t encoding, const struct encoding_base *b, uint64_t *out);

/* Where .eh_frame is according to its index, which has a segment of its own: its bytes, with how
 * many follow in *n and its address in *va; NULL if the index makes no sense. */
const uint8_t *eh_frame_of_index(const struct image *im, uint64_t index, size_t *n, uint64_t *va);
