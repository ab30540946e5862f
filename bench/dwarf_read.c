/* Reads all functions, inlined calls and line rows of a file: with Sonde's reader, or with libdw
 * alone. Prints how many there were, so that both are seen to do the same work.
 *
 *	dwarf_read sonde|libdw FILE
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "module/debug.h"

/* `sum` keeps the compiler from leaving out what is read. */
struct found {
	uint64_t functions, inlined, ranges, rows, sum;
};

static int with_sonde(const char *path, struct found *out)
{
	struct module *m;
	struct debug *d;
	struct err e;
	if (module_open(&m, path, &e) || debug_open(&d, m, NULL, &e) || !d) {
		fprintf(stderr, "%s: %s\n", path, e.text);
		return 1;
	}
	for (uint32_t i = 0; i < debug_unit_count(d); i++) {
		struct debug_unit *u = debug_unit_load(d, i);
		for (uint32_t k = 0; k < u->scope_count; k++) {
			const struct debug_scope *s = &u->scopes[k];
			*(s->inlined ? &out->inlined : &out->functions) += 1;
			out->sum += strlen(s->name) + s->call_line + s->decl_line;
		}
		out->ranges += u->range_count;
		for (uint32_t k = 0; k < u->line_count; k++)
			out->sum += u->lines[k].va + u->lines[k].line;
		out->rows += u->line_count;
		debug_unit_free(u);
	}
	debug_close(d);
	module_close(m);
	return 0;
}

static Dwarf_Word number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;
	Dwarf_Word value = 0;
	if (dwarf_attr_integrate(die, name, &a))
		dwarf_formudata(&a, &value);
	return value;
}

static void read_scope(Dwarf_Die *die, struct found *out)
{
	Dwarf_Addr base, start, end;
	Dwarf_Attribute linkage;
	ptrdiff_t at = 0;
	const char *name = dwarf_diename(die);
	uint64_t ranges = 0;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0)
		ranges++;
	if (!ranges)
		return;
	bool inlined = dwarf_tag(die) == DW_TAG_inlined_subroutine;
	*(inlined ? &out->inlined : &out->functions) += 1;
	out->ranges += ranges;
	out->sum += name ? strlen(name) : 0;
	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &linkage))
		out->sum += strlen(dwarf_formstring(&linkage));
	out->sum += number(die, DW_AT_decl_file) + number(die, DW_AT_decl_line);
	if (inlined)
		out->sum += number(die, DW_AT_call_file) + number(die, DW_AT_call_line);
}

static void read_tree(Dwarf_Die *die, struct found *out)
{
	Dwarf_Die child;
	int tag = dwarf_tag(die);
	if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine)
		read_scope(die, out);
	if (dwarf_child(die, &child))
		return;
	do
		read_tree(&child, out);
	while (!dwarf_siblingof(&child, &child));
}

static void read_lines(Dwarf_Die *unit, struct found *out)
{
	Dwarf_Lines *lines;
	size_t count = 0;
	if (dwarf_getsrclines(unit, &lines, &count))
		return;
	for (size_t i = 0; i < count; i++) {
		Dwarf_Line *l = dwarf_onesrcline(lines, i);
		Dwarf_Addr va = 0;
		int line = 0, column = 0;
		bool end, statement;
		dwarf_lineaddr(l, &va);
		dwarf_lineno(l, &line);
		dwarf_linecol(l, &column);
		dwarf_lineendsequence(l, &end);
		dwarf_linebeginstatement(l, &statement);
		dwarf_linesrc(l, NULL, NULL);
		out->sum += va + (uint64_t)line;
	}
	out->rows += count;
}

static int with_libdw(const char *path, struct found *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *d = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die unit;
	uint8_t type;
	if (!d) {
		fprintf(stderr, "%s: %s\n", path, dwarf_errmsg(-1));
		return 1;
	}
	while (!dwarf_get_units(d, cu, &cu, NULL, &type, &unit, NULL)) {
		if (type != DW_UT_compile && type != DW_UT_partial)
			continue;
		read_tree(&unit, out);
		read_lines(&unit, out);
	}
	dwarf_end(d);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	struct found found = {0};
	if (argc != 3)
		return 2;
	int rc = strcmp(argv[1], "libdw") ? with_sonde(argv[2], &found)
					  : with_libdw(argv[2], &found);
	printf("{\"functions\": %llu, \"inlined\": %llu, \"ranges\": %llu, \"rows\": %llu, "
	       "\"sum\": %llu}\n",
	       (unsigned long long)found.functions, (unsigned long long)found.inlined,
	       (unsigned long long)found.ranges, (unsigned long long)found.rows,
	       (unsigned long long)found.sum);
	return rc;
}
