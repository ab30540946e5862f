/* Sections that are compressed: SHF_COMPRESSED with a header of their own (zlib, zstd), or of the
 * older kind, named .zdebug_* and starting with "ZLIB" and the size, big-endian. */
#pragma once
#include <elf.h>

#include "image/bytes.h"

enum packing { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD, PACKING_UNKNOWN };

struct packed {
	enum packing how; /* PACKING_UNKNOWN also if it would grow beyond all reason */
	struct slice in;  /* what there is */
	uint64_t size;    /* once it is unpacked */
};

struct packed packed_section(const Elf64_Shdr *h, const char *name, struct slice bytes);
/* Into p->size bytes; false if it is damaged. */
bool packed_unpack(const struct packed *p, uint8_t *out);
