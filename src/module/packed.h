/* Compressed sections. They have SHF_COMPRESSED and a header of their own (zlib, zstd); older ones
 * are named .zdebug_* and start with "ZLIB" and the size, big-endian. */
#pragma once
#include <elf.h>

#include "module/bytes.h"

enum packing { PACKING_NONE, PACKING_ZLIB, PACKING_ZSTD, PACKING_UNKNOWN };

struct packed {
	enum packing how; /* PACKING_UNKNOWN also if it would grow beyond all reason */
	struct slice in;  /* the bytes as they are */
	uint64_t size;    /* after unpacking */
};

struct packed packed_section(const Elf64_Shdr *h, const char *name, struct slice bytes);
/* Unpacks into p->size bytes; false if the section is damaged. */
bool packed_unpack(const struct packed *p, uint8_t *out);
