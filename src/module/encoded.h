/* The pointer encodings of exception tables (LSB, DW_EH_PE_*): the low bits are the format, the
 * high bits what the value is relative to. */
#pragma once
#include "module/bytes.h"
#include "module/module.h"

enum {
	ENCODING_ABSOLUTE = 0x00, /* 8 bytes, an address */
	ENCODING_FORMAT = 0x0f,
	ENCODING_INDIRECT = 0x80,
	ENCODING_OMITTED = 0xff,
};

/* Where encoded pointers are, and what they may be relative to. */
struct encoding_base {
	const struct module *module;
	const uint8_t *bytes; /* of the table, whose address is va */
	uint64_t va;
	uint64_t text, data; /* bases of "textrel" and "datarel" */
	uint64_t function;   /* base of "funcrel" */
};

/* Reads one pointer; false if it is missing, if its encoding is unknown, or if it is indirect. A
 * stored zero means "none" and is returned as 0, whatever the base. */
bool read_encoded(struct cursor *c, uint8_t encoding, const struct encoding_base *b, uint64_t *out);

/* Finds .eh_frame by its index (.eh_frame_hdr), which has a segment of its own. Returns its bytes,
 * how many follow in *n, and its address in *va; NULL if the index is invalid. */
const uint8_t *eh_frame_of_index(const struct module *m, uint64_t index, size_t *n, uint64_t *va);
