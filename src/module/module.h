/* An ELF module. Opening it checks the headers. Bytes are read, and tables made of them, when they
 * are first needed (lazy_file.h): a large library costs as much as is used of it. Nothing that the
 * accessors return points outside of the file, whatever the file says. If the file changes
 * meanwhile, what was not read yet is zeros, and module_problem() says so.
 *
 * Addresses are link-time virtual addresses ("va"), as in the file's own tables; process/ converts
 * to run-time addresses. What a stripped file lacks comes from its separate debug file, if there is
 * one (debug.h). An opened module may be read by many threads. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "isa/arch.h"
#include "module/bytes.h"

enum module_kind { MODULE_EXECUTABLE, MODULE_PIE, MODULE_SHARED, MODULE_OBJECT_KINDS };

/* A PT_LOAD segment. */
struct segment {
	uint64_t va, memory_size, file_offset, file_size;
	bool read, write, execute;
};

/* An allocated section. If a file has no section headers, its segments are used as sections. */
struct section {
	const char *name;
	uint64_t va, size;
	uint64_t offset; /* in the file */
	bool in_file;    /* false for .bss */
	bool write, execute;
};

enum symbol_flag {
	SYMBOL_GLOBAL = 1 << 0,  /* global or weak */
	SYMBOL_DYNAMIC = 1 << 1, /* from .dynsym */
	SYMBOL_IFUNC = 1 << 2,
	SYMBOL_OBJECT = 1 << 3,    /* data; otherwise it is a function */
	SYMBOL_DATA_MARK = 1 << 4, /* aarch64 mapping symbol $d: data in code from here */
	SYMBOL_CODE_MARK = 1 << 5, /* $x: code again */
	SYMBOL_UNTYPED = 1 << 6,   /* global label in code without a type: perhaps a function */
};

struct symbol {
	const char *name;  /* as in the file, mangled, without a version (@@GLIBC_2.17) */
	uint64_t va, size; /* size may be 0; va + size does not leave the section */
	uint8_t flags;     /* enum symbol_flag */
};

/* A relocated word. */
struct reloc {
	uint64_t va;
	uint64_t value;
	const char *symbol; /* mangled; NULL if none. If `defined`, value is its va */
	uint8_t kind;       /* enum reloc_kind */
	bool defined;       /* the symbol is defined in this module */
};

/* What .eh_frame says about one address range; .debug_frame if .eh_frame says nothing. */
struct frame_range {
	uint64_t start, end;
	uint64_t lsda;  /* address of its exception table, or 0 */
	bool is_signal; /* a signal frame's return trampoline */
	/* At `start` the call frame is not as at the entry of a function: this part was split off
	 * one. */
	bool mid_frame;
};

/* A landing pad: control arrives at `pad` from calls in [start, end). */
struct landing {
	uint64_t start, end, pad;
};

struct build_id {
	uint8_t bytes[32];
	uint8_t size; /* 0: none */
};

struct module {
	const char *path; /* as opened; "[vdso]" for the vdso */
	enum module_kind kind;
	bool changes_text; /* the dynamic linker relocates its code */
	bool debug_only;   /* a separate debug file: it has no code or data, but their addresses */
	bool supplemented; /* module_add_*() has added to its tables */
	uint16_t machine;  /* EM_* */
	const struct arch *arch;
	uint64_t entry; /* 0 if none */
	struct build_id build_id;
	const char *debuglink; /* file name in .gnu_debuglink, or NULL */
	uint32_t debuglink_crc;

	const struct segment *segments;
	const struct section *sections; /* sorted by va, without overlap; so are segments */
	uint32_t segment_count, section_count;

	size_t size; /* of the file */
	struct lazy_file *file;
	struct reader *reader; /* the tables, and what is needed to make them: elf_reader.h */
	struct arena arena;
};

/* Opens and checks a file. The error gives the reason and, if there is one, the remedy, without the
 * path (the caller puts it in front). */
int module_open(struct module **out, const char *path, struct err *e);
/* The same for a file that is reached by another path (/proc/PID/map_files/...) than the one it is
 * known by. */
int module_open_as(struct module **out, const char *path, const char *name, struct err *e);
/* The same from memory, such as the vdso's; makes a copy. `name` becomes the path. */
int module_open_memory(struct module **out, const char *name, const void *bytes, size_t size,
		       struct err *e);
/* Another module of the same bytes, which can be changed by module_add_*(). */
int module_open_again(struct module **out, const struct module *m, struct err *e);
void module_close(struct module *m);

/* Gives the memory of code, data and of what tables were made of back. It is read again where it is
 * needed. Only for who has the module alone, between two steps that use it. */
void module_forget_bytes(struct module *m);

/* A sentence if the file changed or became unreadable after it was opened, otherwise NULL. */
const char *module_problem(const struct module *m);
/* Sentences about damage that was worked around. Makes all tables. */
const char *const *module_notes(const struct module *m, uint32_t *count);

/* The build id alone, by reading a few kilobytes; *id has size 0 if the file has none. */
int module_read_build_id(const char *path, struct build_id *id, struct err *e);
void build_id_hex(const struct build_id *id, char out[65]);

/* Adds to `m` the symbols of `debug`, its separate debug file, or the frame ranges that m itself
 * lacks. Call it before sharing m; `debug` may be closed afterwards. */
void module_add_symbols(struct module *m, const struct module *debug);
void module_add_frames(struct module *m, const struct module *debug);

/* The section holding va, or NULL. */
const struct section *module_section_at(const struct module *m, uint64_t va);
const struct section *module_section(const struct module *m, const char *name);
/* All bytes of a section that is in the file. */
const uint8_t *module_section_bytes(const struct module *m, const struct section *s);
/* The bytes at va in the file, and in *n how many can be read there, at most `want`; NULL if va is
 * not mapped from the file. */
const uint8_t *module_at(const struct module *m, uint64_t va, uint64_t want, size_t *n);
/* True if va lies in an executable section. */
bool module_is_code(const struct module *m, uint64_t va);

/* Functions and objects with an address, sorted by it. */
const struct symbol *module_symbols(const struct module *m, uint32_t *count);
/* The number of the first symbol with address >= va, or that of all symbols. */
uint32_t module_symbol_from(const struct module *m, uint64_t va);

/* For caches: where in the file a name from module_symbols() is; false if it is not in the file.
 * And the string table around such a place, with its offset: names in it are terminated. */
bool module_name_place(const struct module *m, const char *name, uint64_t *offset);
bool module_name_table(const struct module *m, uint64_t place, struct slice *out, uint64_t *offset);

/* Sorted by va. */
const struct reloc *module_relocs(const struct module *m, uint32_t *count);
/* The relocation of the word at va, or NULL. */
const struct reloc *module_reloc_at(const struct module *m, uint64_t va);
/* The same for words that depend on other modules, or on functions chosen at load time: all
 * relocations but RELOC_RELATIVE. In a large module these are few. */
const struct reloc *module_slots(const struct module *m, uint32_t *count);
const struct reloc *module_slot_at(const struct module *m, uint64_t va);

/* Sorted by start. */
const struct frame_range *module_frames(const struct module *m, uint32_t *count);
/* Look-ups that do not make the table if the file has an index (.eh_frame_hdr): the range holding
 * va, the start of the first range after va (UINT64_MAX if none), the number of ranges, and one of
 * them by its number. */
bool module_frame_at(const struct module *m, uint64_t va, struct frame_range *out);
uint64_t module_frame_after(const struct module *m, uint64_t va);
uint32_t module_frame_count(const struct module *m);
bool module_frame(const struct module *m, uint32_t number, struct frame_range *out);

/* Sorted by start. */
const struct landing *module_landings(const struct module *m, uint32_t *count);
/* Those that start in [start, end), in `a`; the table is not made for it. */
const struct landing *module_landings_in(const struct module *m, uint64_t start, uint64_t end,
					 struct arena *a, uint32_t *count);

/* The address that the 8-byte word at va will hold once the module is relocated (base 0). False if
 * that is not known before run time. Also false if the module is position-independent and nothing
 * relocates the word: then it is not an address. */
bool module_word(const struct module *m, uint64_t va, uint64_t *out);
