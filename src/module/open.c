/* Opens and closes a module. */
#include "module/module.h"

#include <stdlib.h>

#include "module/elf_reader.h"

/* Distinguishes programs from libraries. libc has an interpreter, because it can be run, but it is
 * a library: it also has a name for others to link. */
static enum module_kind kind_of(const struct reader *r)
{
	bool has_interpreter = false;
	for (uint32_t i = 0; i < r->program_count; i++)
		has_interpreter |= r->programs[i].p_type == PT_INTERP;
	if (r->header.e_type == ET_EXEC)
		return MODULE_EXECUTABLE;
	if (r->dynamic.is_pie || (has_interpreter && !r->dynamic.has_soname))
		return MODULE_PIE;
	return MODULE_SHARED;
}

static int read_parts(struct reader *r, struct err *e)
{
	struct module *m = r->module;
	int rc = elf_read_header(r, e);
	if (!rc)
		rc = elf_read_tables(r, e);
	if (rc)
		return rc;
	elf_read_identity(r);
	elf_read_dynamic(r);
	m->kind = kind_of(r);
	m->entry = module_is_code(m, r->header.e_entry) ? r->header.e_entry : 0;
	elf_read_frame_index(r);
	return 0;
}

static struct reader *reader_new(struct module *m)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	r->module = m;
	for (int i = 0; i < TABLE_KINDS; i++)
		pthread_mutex_init(&r->tables[i].lock, NULL);
	return r;
}

static void note_list_release(struct note_list *n)
{
	vec_free(&n->list);
	arena_release(&n->arena);
}

static void reader_free(struct reader *r)
{
	for (int i = 0; i < TABLE_KINDS; i++) {
		struct lazy_table *t = &r->tables[i];
		pthread_mutex_destroy(&t->lock);
		arena_release(&t->arena);
		arena_release(&t->tmp);
		note_list_release(&t->notes);
	}
	note_list_release(&r->notes);
	note_list_release(&r->all_notes);
	free(r);
}

/* Takes over `f`. */
static int open_file(struct module **out, const char *name, struct lazy_file *f, struct err *e)
{
	struct module *m = xcalloc(1, sizeof(*m));
	m->file = f;
	m->size = f->size;
	m->path = arena_strdup(&m->arena, name);
	m->reader = reader_new(m);
	int rc = read_parts(m->reader, e);
	if (module_problem(m))
		rc = err_set(e, ERR_SYSTEM, "%s", module_problem(m));
	if (rc) {
		module_close(m);
		return rc;
	}
	*out = m;
	return 0;
}

int module_open_as(struct module **out, const char *path, const char *name, struct err *e)
{
	struct lazy_file *f;
	int rc = lazy_file_open(&f, path, e);
	if (rc)
		return rc;
	lazy_file_settle(f);
	return open_file(out, name, f, e);
}

int module_open(struct module **out, const char *path, struct err *e)
{
	return module_open_as(out, path, path, e);
}

int module_open_memory(struct module **out, const char *name, const void *bytes, size_t size,
		       struct err *e)
{
	return open_file(out, name, lazy_file_of_memory(bytes, size), e);
}

int module_open_again(struct module **out, const struct module *m, struct err *e)
{
	return open_file(out, m->path, lazy_file_share(m->file), e);
}

void module_close(struct module *m)
{
	if (!m)
		return;
	reader_free(m->reader);
	lazy_file_close(m->file);
	arena_release(&m->arena);
	free(m);
}

static void add_notes(struct note_list *to, const struct note_list *from)
{
	vec_each (n, &from->list)
		vec_push(&to->list, *n);
}

const char *const *module_notes(const struct module *m, uint32_t *count)
{
	struct reader *r = m->reader;
	module_symbols(m, count);
	module_relocs(m, count);
	module_landings(m, count); /* and frames */
	pthread_mutex_lock(&r->tables[0].lock);
	if (!r->all_notes.list.len) {
		add_notes(&r->all_notes, &r->notes);
		for (int i = 0; i < TABLE_KINDS; i++)
			add_notes(&r->all_notes, &r->tables[i].notes);
	}
	pthread_mutex_unlock(&r->tables[0].lock);
	*count = r->all_notes.list.len;
	return r->all_notes.list.data;
}

/* Looks for the build id in the notes that one entry of a table points to. */
static bool build_id_at(const struct lazy_file *f, uint64_t offset, uint64_t size,
			struct build_id *id)
{
	enum { NOTES_MAX = 4096 };
	if (offset >= f->size)
		return false;
	uint64_t left = f->size - offset, n = size < left ? size : left;
	n = n < NOTES_MAX ? n : NOTES_MAX;
	return elf_find_build_id(lazy_file_at(f, offset, n), n, id);
}

static bool build_id_by_programs(const struct lazy_file *f, const Elf64_Ehdr *h,
				 struct build_id *id)
{
	Elf64_Phdr p;
	for (uint64_t i = 0; i < h->e_phnum; i++) {
		uint64_t at = h->e_phoff + i * sizeof(p);
		if (h->e_phoff > f->size || !bytes_inside(at, sizeof(p), f->size))
			return false;
		memcpy(&p, lazy_file_at(f, at, sizeof(p)), sizeof(p));
		if (p.p_type == PT_NOTE && build_id_at(f, p.p_offset, p.p_filesz, id))
			return true;
	}
	return false;
}

/* The program headers of a debug file still point to where the notes were before stripping, so
 * sections are looked at as well. */
static void build_id_by_sections(const struct lazy_file *f, struct build_id *id)
{
	struct section_table t;
	if (!section_table_open(&t, f))
		return;
	for (uint32_t i = 0; i < t.count; i++) {
		Elf64_Shdr s = section_table_header(&t, i);
		if (s.sh_type == SHT_NOTE && build_id_at(f, s.sh_offset, s.sh_size, id))
			return;
	}
}

int module_read_build_id(const char *path, struct build_id *id, struct err *e)
{
	enum { HEAD_SIZE = 4096 }; /* bytes that a file that is not ELF is recognised by */
	struct lazy_file *f;
	Elf64_Ehdr h;
	int rc = lazy_file_open(&f, path, e);
	if (rc)
		return rc;
	*id = (struct build_id){0};
	size_t n = f->size < HEAD_SIZE ? f->size : HEAD_SIZE;
	const uint8_t *head = lazy_file_at(f, 0, n);
	if (n < sizeof(h) || memcmp(head, ELFMAG, SELFMAG) != 0) {
		rc = elf_refuse(head, n, e);
	} else {
		memcpy(&h, head, sizeof(h));
		rc = elf_check_kind(&h, e);
	}
	if (!rc && !build_id_by_programs(f, &h, id))
		build_id_by_sections(f, id);
	if (lazy_file_problem(f))
		rc = err_set(e, ERR_SYSTEM, "%s", lazy_file_problem(f));
	lazy_file_close(f);
	return rc;
}

void build_id_hex(const struct build_id *id, char out[65])
{
	for (unsigned i = 0; i < id->size; i++) {
		out[2 * i] = "0123456789abcdef"[id->bytes[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[id->bytes[i] & 15];
	}
	out[2 * id->size] = '\0';
}
