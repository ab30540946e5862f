/* Puts the tables of profile files into sonde-profile(5), as the store describes them. Copies the
 * page from its input to its output; a line "@tables up to NAME@" is replaced by the tables that
 * come next, in the order of the file, NAME included. */
#include <stdio.h>
#include <string.h>

#include "profile/store_tables.h"

/* Sentences may have lines of their own, for lists. All are indented, but empty ones. */
static void print_indented(const char *text)
{
	printf("\t");
	for (; *text; text++) {
		putchar(*text);
		if (*text == '\n' && text[1])
			putchar('\t');
	}
	putchar('\n');
}

static void print_table(const struct store_table *t)
{
	printf("*%s* (", t->name);
	for (int i = 0; i < t->column_count; i++)
		printf("%s_%s_", i ? ", " : "", t->columns[i].name);
	printf("): %s\n", t->about);
	for (int i = 0; i < t->column_count; i++)
		if (t->columns[i].about)
			print_indented(t->columns[i].about);
}

/* Prints tables from `first` on; returns the one after `last`, or -1 if that does not come. */
static int print_tables(int first, const char *last)
{
	for (int i = first; i < STORE_TABLES; i++) {
		if (i > first)
			putchar('\n');
		print_table(&store_tables[i]);
		if (!strcmp(store_tables[i].name, last))
			return i + 1;
	}
	return -1;
}

int main(void)
{
	char line[1024], last[64];
	int next = 0;
	while (next >= 0 && fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "@tables up to %63[a-z_]@", last) == 1)
			next = print_tables(next, last);
		else
			fputs(line, stdout);
	}
	if (next == STORE_TABLES && !ferror(stdin) && !fflush(stdout))
		return 0;
	fprintf(stderr,
		"the lines '@tables up to NAME@' do not ask for each table once, in order\n");
	return 1;
}
