/* Source files and line rows from .debug_line: headers of DWARF 2 to 5, and the program that makes
 * the rows (DWARF 5, section 6.2).
 *
 * If several rows have the same address, only the last one covers code. Rows before it are kept if
 * they begin a statement of another line. Rows that repeat the one before are dropped. A sequence
 * is kept or dropped as a whole: the linker sets the address of a discarded function to 0, -1 or
 * the like, and its rows would be wrong for whatever code is there. */
#include <stdlib.h>

#include "base/order.h"
#include "module/debug_private.h"

enum { MAX_PATH = 4096 };

/* The text at `offset`, if it ends within the slice. */
static const char *text_in(const struct slice *s, uint64_t offset)
{
	if (offset >= s->size || !memchr(s->at + offset, 0, s->size - offset))
		return NULL;
	return (const char *)s->at + offset;
}

static const char *take_string(struct cursor *c)
{
	const char *text = (const char *)c->at;
	const uint8_t *nul = memchr(c->at, 0, cursor_left(c));
	return cursor_take(c, nul ? (uint64_t)(nul - c->at) + 1 : UINT64_MAX) ? text : NULL;
}

/* The columns of a DWARF 5 table, and the file that has the text. */
struct entry_format {
	const struct dwarf_file *file;
	uint8_t offset_size;
	uint8_t count;
	struct {
		uint64_t content, form;
	} columns[255];
};

static void read_format(struct cursor *c, struct entry_format *f)
{
	f->count = cursor_u8(c);
	for (unsigned i = 0; i < f->count; i++) {
		f->columns[i].content = cursor_uleb(c);
		f->columns[i].form = cursor_uleb(c);
	}
}

/* Reads one value: text into *text, or a number into *number. */
static void read_value(struct cursor *c, const struct entry_format *f, uint64_t form,
		       const char **text, uint64_t *number)
{
	switch (form) {
	case DW_FORM_string: *text = take_string(c); break;
	case DW_FORM_line_strp:
		*text = text_in(&f->file->line_str, cursor_uint(c, f->offset_size));
		break;
	case DW_FORM_strp: *text = text_in(&f->file->str, cursor_uint(c, f->offset_size)); break;
	case DW_FORM_data1: *number = cursor_u8(c); break;
	case DW_FORM_data2: *number = cursor_uint(c, 2); break;
	case DW_FORM_data4: *number = cursor_u32(c); break;
	case DW_FORM_data8: *number = cursor_u64(c); break;
	case DW_FORM_udata: *number = cursor_uleb(c); break;
	case DW_FORM_data16: cursor_take(c, 16); break;
	case DW_FORM_strp_sup: cursor_take(c, f->offset_size); break;
	case DW_FORM_strx: cursor_uleb(c); break;
	case DW_FORM_block: cursor_take(c, cursor_uleb(c)); break;
	default: c->bad = true;
	}
}

static struct file_name read_entry(struct cursor *c, const struct entry_format *f)
{
	struct file_name e = {.number = DEBUG_NONE};
	for (unsigned i = 0; i < f->count && !c->bad; i++) {
		const char *text = NULL;
		uint64_t number = 0;
		read_value(c, f, f->columns[i].form, &text, &number);
		if (f->columns[i].content == DW_LNCT_path)
			e.name = text;
		else if (f->columns[i].content == DW_LNCT_directory_index)
			e.dir = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
	}
	return e;
}

/* The number of entries; 0 if it is impossible. Every entry takes a byte at least, unless there are
 * no columns. */
static uint64_t read_count(struct cursor *c, const struct entry_format *f)
{
	uint64_t count = cursor_uleb(c);
	return f->count && count <= cursor_left(c) ? count : 0;
}

static void read_tables_5(struct cursor *c, struct file_table *t, struct entry_format *f)
{
	read_format(c, f);
	for (uint64_t n = read_count(c, f); n && !c->bad; n--)
		vec_push(&t->dirs, read_entry(c, f).name);
	read_format(c, f);
	for (uint64_t n = read_count(c, f); n && !c->bad; n--)
		vec_push(&t->files, read_entry(c, f));
}

/* Reads the tables of DWARF 2 to 4: directories, then files with directory, time and size. An empty
 * name ends each list. */
static void read_tables_2(struct cursor *c, struct file_table *t)
{
	const char *name;
	t->first = 1;
	vec_push(&t->dirs, NULL);
	while ((name = take_string(c)) && *name)
		vec_push(&t->dirs, name);
	while ((name = take_string(c)) && *name) {
		uint64_t dir = cursor_uleb(c);
		cursor_uleb(c);
		cursor_uleb(c);
		uint32_t small = dir > UINT32_MAX ? UINT32_MAX : (uint32_t)dir;
		vec_push(&t->files, (struct file_name){name, small, DEBUG_NONE});
	}
}

static void read_settings(struct line_program *p, struct cursor *c, uint64_t version)
{
	p->min_length = cursor_u8(c);
	p->max_ops = version >= 4 ? cursor_u8(c) : 1;
	p->is_stmt = cursor_u8(c);
	p->line_base = (int8_t)cursor_u8(c);
	p->line_range = cursor_u8(c);
	p->opcode_base = cursor_u8(c);
	if (p->opcode_base)
		p->operand_counts = cursor_take(c, p->opcode_base - 1u);
}

bool lines_open(struct line_program *p, struct file_table *t, const struct dwarf_file *f,
		uint64_t offset, uint8_t address_size, const char *comp_dir)
{
	*p = (struct line_program){.address_size = address_size};
	*t = (struct file_table){.comp_dir = comp_dir};
	if (offset >= f->line.size)
		return false;
	struct entry_format format = {.file = f, .offset_size = 4};
	struct cursor c = cursor_over(f->line.at + offset, f->line.size - offset);
	uint64_t length = cursor_u32(&c);
	if (length == UINT32_MAX) {
		length = cursor_u64(&c);
		format.offset_size = 8;
	}
	if (length < cursor_left(&c))
		c.end = c.at + length;
	uint64_t version = cursor_uint(&c, 2);
	/* The second byte, the size of segment selectors, is ignored. */
	if (version >= 5)
		p->address_size = (uint8_t)cursor_uint(&c, 2);
	uint64_t header = cursor_uint(&c, format.offset_size);
	if (c.bad || version < 2 || version > 5 || header > cursor_left(&c))
		return false;
	p->code = (struct cursor){.at = c.at + header, .end = c.end};
	c.end = p->code.at;
	read_settings(p, &c, version);
	if (version >= 5)
		read_tables_5(&c, t, &format);
	else
		read_tables_2(&c, t);
	return p->operand_counts && (p->address_size == 4 || p->address_size == 8);
}

void file_table_release(struct file_table *t)
{
	vec_free(&t->dirs);
	vec_free(&t->files);
}

/* Appends a part to a path; false if it becomes too long. */
static bool add_part(char *path, size_t *len, const char *part)
{
	size_t n = strlen(part);
	if (*len + n + 2 > MAX_PATH)
		return false;
	if (*len && path[*len - 1] != '/')
		path[(*len)++] = '/';
	memcpy(path + *len, part, n + 1);
	*len += n;
	return true;
}

/* Removes "//" and "/./", so that a file has only one path. */
static void tidy(char *path)
{
	char *out = path;
	for (const char *in = path; *in;) {
		if (in[0] == '/' && in[1] == '/')
			in++;
		else if (in[0] == '/' && in[1] == '.' && in[2] == '/')
			in += 2;
		else
			*out++ = *in++;
	}
	*out = '\0';
}

/* Joins three parts of a path. Any of them may be absolute; those before it are then ignored. */
static bool join(char path[MAX_PATH], const char *comp_dir, const char *dir, const char *name)
{
	const char *parts[] = {comp_dir, dir, name};
	size_t len = 0, first = 2;
	while (first > 0 && (!parts[first] || parts[first][0] != '/'))
		first--;
	path[0] = '\0';
	for (size_t i = first; i < 3; i++)
		if (parts[i] && *parts[i] && !add_part(path, &len, parts[i]))
			return false;
	tidy(path);
	return true;
}

static uint32_t set_add(struct file_set *set, const char *path)
{
	uint64_t hash = hash_bytes(path, strlen(path), 0);
	for (;; hash++) {
		uint32_t found = hashmap_add(&set->by_hash, hash, set->paths.len);
		if (found == set->paths.len) {
			vec_push(&set->paths, arena_strdup(set->arena, path));
			return found;
		}
		if (!strcmp(set->paths.data[found], path))
			return found;
	}
}

uint32_t file_number(struct file_table *t, struct file_set *set, uint64_t n)
{
	if (n < t->first || n - t->first >= t->files.len)
		return DEBUG_NONE;
	struct file_name *f = &t->files.data[n - t->first];
	const char *dir = f->dir < t->dirs.len ? t->dirs.data[f->dir] : NULL;
	char path[MAX_PATH];
	if (f->number == DEBUG_NONE && f->name && join(path, t->comp_dir, dir, f->name))
		f->number = set_add(set, path);
	return f->number;
}

struct sequence {
	uint64_t start, end;
	uint32_t first, count; /* rows */
};

/* The registers of the line program's virtual machine, and its output. */
struct line_machine {
	struct line_program *program;
	struct file_table *files;
	struct file_set *set;
	const struct module *module;
	uint64_t va, file, line, column, op;
	bool is_stmt;
	uint32_t first; /* first row of the current sequence */
	debug_lines rows;
	VEC(struct sequence) sequences;
};

static void machine_reset(struct line_machine *m)
{
	m->va = m->column = m->op = 0;
	m->file = m->line = 1;
	m->is_stmt = m->program->is_stmt;
	m->first = m->rows.len;
}

static bool same_place(const struct debug_line *a, const struct debug_line *b)
{
	return a->file == b->file && a->line == b->line && a->column == b->column &&
	       a->is_stmt == b->is_stmt;
}

/* True if `last` begins a statement of another line than `row`, which follows it at the same
 * address. */
static bool begins_statement(const struct debug_line *last, const struct debug_line *row)
{
	return last->is_stmt && (last->file != row->file || last->line != row->line);
}

/* Replaces a row by a later one at the same address. If that continues a statement, the statement's
 * begin is kept. */
static void replace_row(struct debug_line *last, const struct debug_line *row)
{
	bool continues = last->is_stmt && !row->end;
	uint16_t column = last->column;
	*last = *row;
	if (continues) {
		last->is_stmt = true;
		last->column = column;
	}
}

static void emit(struct line_machine *m, bool end)
{
	struct debug_line row = {
		.va = m->va,
		.file = end ? DEBUG_NONE : file_number(m->files, m->set, m->file),
		.line = end || m->line > UINT32_MAX ? 0 : (uint32_t)m->line,
		.column = end || m->column > UINT16_MAX ? 0 : (uint16_t)m->column,
		.is_stmt = m->is_stmt,
		.end = end,
	};
	struct debug_line *last = m->rows.len > m->first ? &vec_last(&m->rows) : NULL;
	if (last && row.va < last->va) {
		if (!end)
			return;
		row.va = last->va;
	}
	if (last && row.va == last->va && (end || !begins_statement(last, &row)))
		replace_row(last, &row);
	else if (!last || end || row.is_stmt || !same_place(last, &row))
		vec_push(&m->rows, row);
}

static void end_sequence(struct line_machine *m)
{
	emit(m, true);
	struct sequence s = {m->rows.data[m->first].va, vec_last(&m->rows).va, m->first,
			     m->rows.len - m->first};
	if (s.start < s.end && module_is_code(m->module, s.start))
		vec_push(&m->sequences, s);
	else
		m->rows.len = m->first;
	machine_reset(m);
}

static void advance(struct line_machine *m, uint64_t by)
{
	const struct line_program *p = m->program;
	if (p->max_ops <= 1) {
		m->va += by * p->min_length;
		return;
	}
	m->va += (m->op + by) / p->max_ops * p->min_length;
	m->op = (m->op + by) % p->max_ops;
}

static void run_special(struct line_machine *m, unsigned opcode, bool row)
{
	const struct line_program *p = m->program;
	unsigned n = opcode - p->opcode_base;
	if (!p->line_range)
		return;
	advance(m, n / p->line_range);
	if (row) {
		m->line += (uint64_t)(int64_t)(p->line_base + (int)(n % p->line_range));
		emit(m, false);
	}
}

static void define_file(struct line_machine *m, struct cursor *c)
{
	const char *name = take_string(c);
	uint64_t dir = cursor_uleb(c);
	if (name && !c->bad)
		vec_push(&m->files->files,
			 (struct file_name){name, dir > UINT32_MAX ? UINT32_MAX : (uint32_t)dir,
					    DEBUG_NONE});
}

static void run_extended(struct line_machine *m)
{
	struct cursor *code = &m->program->code;
	uint64_t length = cursor_uleb(code);
	const uint8_t *at = cursor_take(code, length);
	if (!at || !length)
		return;
	struct cursor c = cursor_over(at, length);
	switch (cursor_u8(&c)) {
	case DW_LNE_end_sequence: end_sequence(m); break;
	case DW_LNE_set_address:
		m->va = cursor_uint(&c, m->program->address_size);
		m->op = 0;
		break;
	case DW_LNE_define_file: define_file(m, &c); break;
	}
}

static void run_standard(struct line_machine *m, unsigned opcode)
{
	struct cursor *c = &m->program->code;
	switch (opcode) {
	case DW_LNS_copy: emit(m, false); break;
	case DW_LNS_advance_pc: advance(m, cursor_uleb(c)); break;
	case DW_LNS_advance_line: m->line += cursor_sleb(c); break;
	case DW_LNS_set_file: m->file = cursor_uleb(c); break;
	case DW_LNS_set_column: m->column = cursor_uleb(c); break;
	case DW_LNS_negate_stmt: m->is_stmt = !m->is_stmt; break;
	case DW_LNS_const_add_pc: run_special(m, 255, false); break;
	case DW_LNS_fixed_advance_pc:
		m->va += cursor_uint(c, 2);
		m->op = 0;
		break;
	default:
		for (unsigned n = m->program->operand_counts[opcode - 1]; n; n--)
			cursor_uleb(c);
	}
}

/* Sorts the sequences by address. If two have the same code (folded functions), they cannot both be
 * right for it: the first one is kept. */
static void merge(struct line_machine *m, debug_lines *out)
{
	uint64_t end = 0;
	order_by_address(m->sequences.data, m->sequences.len, sizeof(struct sequence),
			 offsetof(struct sequence, start));
	vec_reserve(out, m->rows.len);
	vec_each (s, &m->sequences) {
		if (s->start < end)
			continue;
		end = s->end;
		memcpy(out->data + out->len, m->rows.data + s->first,
		       s->count * sizeof(*out->data));
		out->len += s->count;
	}
}

void lines_run(struct line_program *p, struct file_table *t, struct file_set *set,
	       const struct module *module, debug_lines *out)
{
	struct line_machine m = {.program = p, .files = t, .set = set, .module = module};
	machine_reset(&m);
	while (p->code.at < p->code.end) {
		unsigned opcode = cursor_u8(&p->code);
		if (opcode >= p->opcode_base)
			run_special(&m, opcode, true);
		else if (!opcode)
			run_extended(&m);
		else
			run_standard(&m, opcode);
	}
	merge(&m, out);
	vec_free(&m.rows);
	vec_free(&m.sequences);
}
