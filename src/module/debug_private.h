/* What the parts of the DWARF reader share. Nothing outside module/ sees it.
 *
 * libdw opens the sections, finds units, and reads addresses, strings, range lists and references
 * across units and files. Scanning the entries of a unit and running line programs is done here, on
 * the bytes, because libdw
 * - keeps whatever it reads until the handle is closed,
 * - walks a subtree once for each level above it, if the compiler wrote no sibling attributes,
 * - sorts line rows without saying which belong to functions that the linker discarded.
 * On the same work, libdw alone takes twice as long and half as much memory again (measured by
 * `bench/run --only speed`).
 *
 *	debug_find.c      where the information is: module, separate file, alternate file, server
 *	debug_sections.c  a copy of the debugging sections, decompressed
 *	debug_scan.c      entries (DIEs) of one unit, in the order of their bytes
 *	debug_names.c     names as people write them
 *	debug_lines.c     file tables and line rows
 *	debug_unit.c      the scopes of one unit, put together
 *	debug.c           handles, and which unit has an address
 *
 * All pointers into sections stay valid until the last handle is closed. */
#pragma once
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/hashmap.h"
#include "base/vec.h"
#include "module/bytes.h"
#include "module/debug.h"
#include "module/section_table.h"

/* Where the information comes from. */
struct debug_source {
	struct module *file;          /* the separate debug file, or NULL */
	struct lazy_file *main, *alt; /* main is NULL if there is none; alt: dwz's file */
	struct build_id alt_id;       /* of alt */
};

/* Afterwards s->main is NULL if nothing was found. `o` may be NULL. */
void debug_find(struct debug_source *s, const struct module *m, const struct debug_options *o);
void debug_source_release(struct debug_source *s);

/* True if there is DWARF in the file. */
bool elf_has_dwarf(const struct lazy_file *f);
/* Has the debugging sections of *f read. If some are compressed, replaces *f by a smaller file with
 * all of them decompressed. libelf would decompress them for each handle, and write into headers
 * that all handles share. `id` is that of the module they belong to, by which
 * the smaller file is kept in the cache; of size 0: it is not. */
void elf_load_dwarf(struct lazy_file **f, const struct build_id *id);

/* One DWARF file, opened. */
struct dwarf_file {
	Elf *elf;
	Dwarf *dw;
	struct slice info, abbrev, line, line_str, str;
};

struct unit_place {
	uint64_t offset; /* of its first DIE */
};

/* What all handles on the same information share. It does not change after debug_open() has
 * returned. */
struct debug_shared {
	_Atomic uint32_t users;
	const struct module *module;
	struct debug_source source;
	VEC(struct unit_place) units;
	struct debug_entry *index; /* disjoint, sorted; .scope is the unit's number */
	uint32_t index_count;
	bool no_lines; /* the line table would take too long: MAX_SHARING */
};

/* A unit to be scanned. */
struct dwarf_unit {
	struct dwarf_file file;
	Dwarf_Die die;
	const uint8_t *start, *end; /* header included */
	uint8_t version, address_size, offset_size;
	uint64_t abbrev_offset;
};

struct abbrev_attr {
	uint32_t name, form;
	int64_t value; /* of DW_FORM_implicit_const */
};

struct abbrev {
	uint64_t code;
	uint32_t tag;
	uint32_t first, count; /* attributes */
	uint32_t size;         /* bytes of all attributes, or ABBREV_VARIES */
	bool children;
};

enum { ABBREV_VARIES = UINT32_MAX };

struct abbrev_table {
	const uint8_t *at; /* where it was read from; NULL if the table is empty */
	uint8_t version, address_size, offset_size;
	VEC(struct abbrev) entries;
	VEC(struct abbrev_attr) attrs;
};

/* A namespace, type or function with named entries in it: the addresses of its DIEs. */
struct name_context {
	const uint8_t *start, *end;
	uint32_t parent; /* DEBUG_NONE at the top */
	bool function;
};

struct unit_contexts {
	VEC(struct name_context) list; /* sorted by start, outer before inner */
};

struct debug {
	struct debug_shared *shared;
	struct dwarf_file main, alt;
	struct dwarf_file split;     /* the file of the split unit that was used last */
	struct abbrev_table abbrevs; /* of the unit that was scanned last */
	/* Contexts of the units that names were needed from, by Dwarf_CU. */
	struct hashmap context_of;
	VEC(struct unit_contexts) contexts;
	uint64_t context_total;
};

/* Fills in the sections of the file that f->elf has open. */
void dwarf_file_sections(struct dwarf_file *f);
/* The file that a libdw handle belongs to; valid until the next call. */
const struct dwarf_file *dwarf_file_of(struct debug *d, Dwarf *dw);
/* False if the unit cannot be scanned. */
bool dwarf_unit_init(struct dwarf_unit *u, struct debug *d, Dwarf_CU *cu);

struct die {
	const uint8_t *at, *attrs;
	const struct abbrev *abbrev;
	unsigned depth; /* 0 for the unit's own */
};

/* A scan of a unit from its first byte to its last: each DIE once, whatever the unit holds. */
struct scan {
	const struct dwarf_unit *unit;
	const struct abbrev_table *table;
	const uint8_t *at;
	unsigned depth;
	unsigned deepest; /* deeper DIEs are skipped */
};

/* Uses d->abbrevs, so only one scan can be in progress. */
void scan_init(struct scan *s, struct debug *d, const struct dwarf_unit *u);
bool scan_next(struct scan *s, struct die *out);
/* Skips the children of `d`, the DIE that scan_next() returned last. */
void scan_skip(struct scan *s, const struct die *d);

struct attr {
	uint32_t name, form;
	const uint8_t *at;
	int64_t value;
};

/* Iterates over the attributes of a DIE: start with i = 0 and *at = d->attrs. */
bool scan_attr(const struct scan *s, const struct die *d, uint32_t *i, const uint8_t **at,
	       struct attr *out);
/* The value of an attribute; false if its form is a wrong one. */
bool attr_uint(const struct dwarf_unit *u, const struct attr *a, uint64_t *out);
bool attr_address(const struct dwarf_unit *u, const struct attr *a, uint64_t *out);
bool attr_die(const struct dwarf_unit *u, const struct attr *a, Dwarf_Die *out);
Dwarf_Die unit_die(const struct dwarf_unit *u, const uint8_t *at);

/* A unit's table of source files, from the header of its line program. */
struct file_table {
	const char *comp_dir;
	uint32_t first; /* number of the first file: 1 up to DWARF 4, 0 from 5 on */
	VEC(const char *) dirs;
	VEC(struct file_name {
		const char *name;
		uint32_t dir;
		uint32_t number; /* in the debug_unit's files; DEBUG_NONE: not added yet */
	})
	files;
};

/* The files of a debug_unit that is being loaded. */
struct file_set {
	struct arena *arena;
	struct hashmap by_hash;
	VEC(const char *) paths;
};

struct line_program {
	struct cursor code;
	uint8_t address_size, min_length, max_ops, line_range, opcode_base;
	int8_t line_base;
	bool is_stmt;
	const uint8_t *operand_counts; /* of standard opcodes, from 1 on */
};

typedef VEC(struct debug_line) debug_lines;

/* Reads the header at `offset` of .debug_line; false if there is none. */
bool lines_open(struct line_program *p, struct file_table *t, const struct dwarf_file *f,
		uint64_t offset, uint8_t address_size, const char *comp_dir);
/* Runs the program. The rows are sorted; sequences that do not start in m's code are left out. */
void lines_run(struct line_program *p, struct file_table *t, struct file_set *set,
	       const struct module *m, debug_lines *out);
void file_table_release(struct file_table *t);
/* The number in `set` of file n of the table; DEBUG_NONE if there is none. */
uint32_t file_number(struct file_table *t, struct file_set *set, uint64_t n);

/* The length of a string that libdw returned for a unit; -1 if it does not end within a string
 * section, which libdw does not check for all forms. */
int64_t dwarf_string_length(struct debug *d, Dwarf_CU *cu, const char *s);

/* What a DIE, and those it refers to (specification, abstract origin), say about a function. */
struct origin {
	const char *name, *linkage;
	Dwarf_CU *file_cu; /* the unit that has the file table for `file` */
	uint64_t file, line;
};

struct names {
	struct debug *d;
	struct arena *arena;
	const char *separator; /* NULL: names are not qualified */
	uint64_t budget;       /* bytes that names may still take */
	struct hashmap by_die;
	VEC(struct origin) origins;
};

void names_init(struct names *n, struct debug *d, struct arena *a, uint32_t language,
		uint64_t budget);
void names_release(struct names *n);
struct origin names_of(struct names *n, const Dwarf_Die *die);
void contexts_clear(struct debug *d);
/* Clears them only if there are very many. */
void contexts_trim(struct debug *d);

/* True for languages whose functions may be members of types. */
bool language_has_members(uint32_t language);

/* Turns ranges that may lie within each other into disjoint ones, each with its innermost scope. If
 * several ranges contain an address, the innermost one is the one that starts last; among equal
 * starts, the last one in `in`. Returns the number of results; the caller frees *out. */
uint32_t debug_flatten(struct debug_entry **out, struct debug_entry *in, uint32_t count);
