/* Tables of a module, as tests look at them. */
#pragma once
#include "module/elf_reader.h"

#define TABLE_OF(name, type, table)                                                                \
	static inline const struct type *name##s_of(const struct module *m)                        \
	{                                                                                          \
		uint32_t n;                                                                        \
		return table(m, &n);                                                               \
	}                                                                                          \
	static inline uint32_t name##_count(const struct module *m)                                \
	{                                                                                          \
		uint32_t n;                                                                        \
		table(m, &n);                                                                      \
		return n;                                                                          \
	}

TABLE_OF(symbol, symbol, module_symbols)
TABLE_OF(reloc, reloc, module_relocs)
TABLE_OF(frame, frame_range, module_frames)
TABLE_OF(landing, landing, module_landings)

static inline uint32_t note_count(const struct module *m)
{
	uint32_t n;
	module_notes(m, &n);
	return n;
}

/* Makes a module look as if it had none of these. */
static inline void hide_frames(struct module *m)
{
	frames_of(m);
	m->reader->frame_count = 0;
}

static inline void hide_tables(struct module *m)
{
	symbols_of(m);
	landings_of(m);
	m->reader->symbol_count = m->reader->landing_count = 0;
	hide_frames(m);
}
