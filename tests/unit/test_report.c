/* Reports of profiles that are made here, in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report/source.h"
#include "cli/report/view.h"
#include "cli/term/text.h"
#include "profile/short_name.h"

static uint32_t add_scope(struct profile *p, uint32_t parent, enum profile_scope_kind kind,
			  const char *name, const char *file, uint32_t first, uint32_t last)
{
	struct profile_scope s = {.parent = parent,
				  .kind = (uint8_t)kind,
				  .name = name,
				  .file = file,
				  .first_line = first,
				  .last_line = last,
				  .call_file = "",
				  .address = 0x1000 + 16 * p->scopes.len};
	if (kind == PROFILE_INLINE) {
		s.call_file = file;
		s.call_line = first;
	}
	vec_push(&p->scopes, s);
	return p->scopes.len - 1;
}

static uint32_t add_node(struct profile *p, uint32_t parent, enum node_kind kind, uint32_t scope)
{
	uint32_t n = profile_child(p, parent, kind, 0, 0x1000 + 16 * scope);
	p->nodes.data[n].scope = kind == NODE_KERNEL || kind == NODE_WAIT ? PROFILE_NONE : scope;
	return n;
}

/*  main heat.c:10
 *    loop heat.c:12-20
 *      inlined relax at heat.c:14 > loop heat.c:30-35 > line 31: 60 ms in thread 11
 *      line 13: calls work (work.c:3) 20 ms in thread 11, 15 ms in thread 12, 1 ms in the kernel
 *    line 22: 4 ms in thread 12 */
static void make_heat(struct profile *p)
{
	profile_init(p);
	vec_push(&p->metrics, (struct profile_metric){"cpu-clock", "ns", 1000000});
	vec_push(&p->modules, (struct profile_module){.path = "/opt/heat"});
	vec_push(&p->processes, (struct profile_process){10, PROFILE_NONE, "heat"});
	vec_push(&p->threads, (struct profile_thread){0, 11, "first"});
	vec_push(&p->threads, (struct profile_thread){0, 12, "second"});
	uint32_t main_ =
		add_scope(p, PROFILE_NONE, PROFILE_FUNCTION, "main", "/src/heat.c", 10, 25);
	uint32_t outer = add_scope(p, main_, PROFILE_LOOP, "", "/src/heat.c", 12, 20);
	uint32_t relax = add_scope(p, outer, PROFILE_INLINE, "relax", "/src/heat.c", 14, 40);
	uint32_t inner = add_scope(p, relax, PROFILE_LOOP, "", "/src/heat.c", 30, 35);
	uint32_t line31 = add_scope(p, inner, PROFILE_LINE, "", "/src/heat.c", 31, 31);
	uint32_t line13 = add_scope(p, outer, PROFILE_LINE, "", "/src/heat.c", 13, 13);
	uint32_t line22 = add_scope(p, main_, PROFILE_LINE, "", "/src/heat.c", 22, 22);
	uint32_t work = add_scope(p, PROFILE_NONE, PROFILE_FUNCTION, "work", "/src/work.c", 1, 5);
	uint32_t line3 = add_scope(p, work, PROFILE_LINE, "", "/src/work.c", 3, 3);
	uint32_t call = add_node(p, 0, NODE_FRAME, line13);
	uint32_t leaf = add_node(p, call, NODE_LEAF, line3);
	profile_add(p, add_node(p, 0, NODE_LEAF, line31), 0, 0, 60, 60000000);
	profile_add(p, leaf, 0, 0, 20, 20000000);
	profile_add(p, leaf, 1, 0, 15, 15000000);
	profile_add(p, add_node(p, leaf, NODE_KERNEL, 0), 1, 0, 1, 1000000);
	profile_add(p, add_node(p, 0, NODE_LEAF, line22), 1, 0, 4, 4000000);
	profile_count(p, "complete", 100);
	profile_fact(p, "command", "heat 2000");
	profile_fact(p, "seconds", "0.125");
	p->fused = p->finished = true;
}

/* main calls itself `depth` times, then work(). Of 100 samples, 90 are in work. */
static void make_recursion(struct profile *p, uint32_t depth)
{
	make_heat(p);
	vec_clear(&p->values);
	uint32_t at = 0, step = depth / 10;
	for (uint32_t i = 0; i < depth; i++) {
		at = add_node(p, at, NODE_FRAME, 6);
		if (i % step == 0)
			profile_add(p, at, 0, 0, 1, 1000000);
	}
	profile_add(p, add_node(p, at, NODE_LEAF, 8), 0, 0, 90, 90000000);
}

static const struct report_args plain = {.sort = SORT_BEST, .fold = true};

static unsigned view_named(const char *name)
{
	unsigned i = 0;
	while (report_views[i].name && strcmp(report_views[i].name, name) != 0)
		i++;
	assert_non_null(report_views[i].name);
	return i;
}

/* The report as text; the caller frees. */
static char *show(const struct profile *p, struct report_args a)
{
	struct report r;
	struct err e;
	struct text out = TEXT_INIT;
	assert_int_equal(report_init(&r, &a, p, &e), 0);
	r.width = 100;
	report_write(&r, "sonde.data", &out);
	report_release(&r);
	return out.data;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void test_values(void **state)
{
	(void)state;
	const struct profile_metric ns = {"cpu-clock", "ns", 0}, faults = {"page-faults", "", 0};
	struct text t = TEXT_INIT;
	add_amount(&t, &ns, 1234567890);
	text_char(&t, '|');
	add_amount(&t, &ns, 45600000);
	text_char(&t, '|');
	add_amount(&t, &ns, 999);
	text_char(&t, '|');
	add_amount(&t, &faults, 1234567);
	text_char(&t, '|');
	add_share(&t, 1, 3);
	add_share(&t, 0, 3);
	assert_string_equal(t.data, "1.23 s|45.6 ms|999 ns|1,234,567|  33.3%       ");
	text_release(&t);
}

static void test_brief_counts(void **state)
{
	(void)state;
	static const struct {
		uint64_t n;
		const char *brief;
	} cases[] = {
		{0, "0"},
		{99999, "99,999"},
		{100000, "100 k"},
		{999499, "999 k"},
		{999500, "1.00 M"},
		{1234567, "1.23 M"},
		{9994999, "9.99 M"},
		{9996000, "10.0 M"},
		{45678901234, "45.7 G"},
		{999999999999999, "1.00 P"},
		{UINT64_MAX, "18.4 E"},
	};
	struct text t = TEXT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text_clear(&t);
		add_brief_count(&t, cases[i].n);
		assert_string_equal(t.data, cases[i].brief);
	}
	text_clear(&t);
	add_mean(&t, 3);
	text_char(&t, '|');
	add_mean(&t, 3.14159);
	text_char(&t, '|');
	add_mean(&t, 99.94);
	text_char(&t, '|');
	add_mean(&t, 99.96);
	text_char(&t, '|');
	add_mean(&t, 1e25);
	assert_string_equal(t.data, "3|3.14|99.9|100|18.4 E");
	text_release(&t);
}

static void test_names_are_shortened_and_escaped(void **state)
{
	(void)state;
	struct text t = TEXT_INIT;
	add_short(&t, "abcdefghijklmnopqrstuvwxyz", 11);
	assert_string_equal(t.data, "abcd...wxyz");
	text_clear(&t);
	add_short(&t, "a\033[31mb", 40);
	assert_string_equal(t.data, "a\\x1b[31mb");
	text_clear(&t);
	add_short(
		&t,
		"\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9",
		9);
	assert_string_equal(t.data, "\xc3\xa9\xc3\xa9\xc3\xa9...\xc3\xa9\xc3\xa9\xc3\xa9");
	text_clear(&t);
	csv_text(&t, "a \"b\",\nc");
	assert_string_equal(t.data, "\"a \"\"b\"\",\\x0ac\",");
	text_release(&t);
}

static void test_bare_names(void **state)
{
	(void)state;
	static const struct {
		const char *name, *bare;
	} cases[] = {
		{"main", "main"},
		{"sorts.constprop.0", "sorts.constprop.0"},
		{"function at 0x1234", "function at 0x1234"},
		{"words(int)", "words"},
		{"std::map<std::string, std::vector<int> >::at(int) const", "std::map::at"},
		{"std::pair<a, b>* std::copy<std::pair<a, b>*>(x, y)", "std::copy"},
		{"std::operator< <char>", "std::operator<"},
		{"a<int>::operator()(int)", "a::operator()"},
		{"operator new(unsigned long)", "operator new"},
		{"a::operator->() const", "a::operator->"},
		{"(anonymous namespace)::f(int)", "(anonymous)::f"},
		{"main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()"},
		{"<T as core::Foo>::bar", "<T as core::Foo>::bar"},
		{"foo(", "foo"},
		{"(", "("},
		{"a<", "a"},
	};
	struct text t = TEXT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text_clear(&t);
		add_bare(&t, cases[i].name);
		assert_string_equal(t.data, cases[i].bare);
	}
	text_release(&t);
}

static void test_steps_of_chains(void **state)
{
	static const struct {
		const char *chain, *first;
	} cases[] = {
		{"main > relax", "main"},
		{"main", "main"},
		{"", ""},
		{"f(std::vector<std::vector<int> > const&) > g",
		 "f(std::vector<std::vector<int> > const&)"},
		{"a::operator>(a const&) const > b", "a::operator>(a const&) const"},
		{"a<&(b::operator> )>::c > d", "a<&(b::operator> )>::c"},
		{"cooperator > relax", "cooperator"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t n = chain_step(cases[i].chain);
		if (n != strlen(cases[i].first) || strncmp(cases[i].chain, cases[i].first, n) != 0)
			fail_msg("%s: %zu", cases[i].chain, n);
	}
}

static void test_paths_are_tidied(void **state)
{
	(void)state;
	static const struct {
		const char *path, *tidy;
	} cases[] = {
		{"./stdlib/stdlib/msort.c", "stdlib/stdlib/msort.c"},
		{"./string/../sysdeps/a/multiarch/../memcpy.S", "sysdeps/a/memcpy.S"},
		{"/a//b/./../c.c", "/a/c.c"},
		{"../../x/../y.c", "../../y.c"},
		{"/../a.c", "/../a.c"},
		{"a.c", "a.c"},
		{"/", "/"},
		{"", ""},
	};
	struct text t = TEXT_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text_clear(&t);
		add_path(&t, cases[i].path, 100);
		assert_string_equal(t.len ? t.data : "", cases[i].tidy);
	}
	text_release(&t);
}

static void test_summary(void **state)
{
	(void)state;
	struct profile p;
	make_heat(&p);
	char *text = show(&p, plain);
	assert_has(text, "heat 2000");
	assert_has(text, "ran         125 ms");
	assert_has(text, "100 ms in 100 samples of 2 threads");
	assert_has(text, "100 % complete");
	assert_has(text, " 100.0%   4.0%  main  heat.c:10\n");
	assert_has(text, "  60.0%  60.0%  heat.c:30-35 ");
	assert_has(text, "main > relax");
	assert_has(text, "  64.0% 100.0%  main  heat.c:10\n");
	assert_has(text, "  36.0%  36.0%  work  work.c:1\n");
	assert_has(text, "loop heat.c:30-35 in main");
	free(text);
	profile_count(&p, "bad-link", 1);
	profile_count(&p, "lost", 50);
	profile_fact(&p, "note", "perf is not permitted");
	text = show(&p, plain);
	assert_has(text, "99.01 % complete; 1: ");
	assert_has(text, "lost        50 samples, 33.1 % of all");
	assert_has(text, "note        perf is not permitted");
	free(text);
	profile_release(&p);
}

static void test_tree(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.view = view_named("tree");
	char *text = show(&p, a);
	assert_has(text, " 100.0%   4.0%  main  heat.c:10\n"
			 "  96.0%         | loop heat.c:12-20\n"
			 "  60.0%         | | inlined relax  heat.c:14\n"
			 "  60.0%  60.0%  | | | loop heat.c:30-35\n"
			 "  36.0%  35.0%  | | work  work.c:1\n"
			 "   1.0%   1.0%  | | | [in the kernel]\n");
	free(text);
	a.by_line = true;
	text = show(&p, a);
	assert_has(text, "  36.0%         | | line heat.c:13\n"
			 "  36.0%         | | | work  work.c:1\n"
			 "  36.0%  35.0%  | | | | line work.c:3\n");
	free(text);
	profile_release(&p);
}

static void test_small_ones_are_summed_up(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.view = view_named("tree");
	a.min_percent = "50";
	char *text = show(&p, a);
	assert_has(text, "  36.0%         | | ... 1 more\n");
	assert_lacks(text, "work");
	free(text);
	a.min_percent = NULL;
	a.depth = (struct option_number){2, true};
	text = show(&p, a);
	assert_has(text, "loop heat.c:12-20");
	assert_lacks(text, "relax");
	free(text);
	profile_release(&p);
}

static void test_deep_recursion_is_folded(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_recursion(&p, 100000);
	a.view = view_named("tree");
	char *text = show(&p, a);
	assert_has(text, " 100.0%  10.0%  main  heat.c:10 (recursive, 99,999 more levels)\n"
			 "  90.0%  90.0%  | work  work.c:1\n");
	free(text);
	a.view = view_named("callers");
	text = show(&p, a);
	assert_has(text, "  90.0%  work  work.c:1\n"
			 "  90.0%  | main  heat.c:10\n");
	free(text);
	free(show(&p, plain));
	profile_release(&p);
	make_recursion(&p, 1000);
	a.view = view_named("tree");
	a.fold = false;
	text = show(&p, a);
	assert_has(text, "+900 main");
	free(text);
	profile_release(&p);
}

/* Two paths to the same recursion, which is first seen far below another one. */
static void test_recursions_are_counted_by_path(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	vec_clear(&p.values);
	uint32_t deep = 0, flat;
	for (int i = 0; i < 5; i++)
		deep = add_node(&p, deep, NODE_FRAME, 6);
	flat = add_node(&p, 0, NODE_FRAME, 6);
	profile_add(&p, add_node(&p, deep, NODE_LEAF, 8), 0, 0, 1, 1000000);
	flat = add_node(&p, add_node(&p, flat, NODE_FRAME, 8), NODE_FRAME, 8);
	profile_add(&p, add_node(&p, flat, NODE_LEAF, 8), 0, 0, 1, 1000000);
	a.view = view_named("tree");
	char *text = show(&p, a);
	assert_has(text, "main  heat.c:10 (recursive, 4 more levels)\n");
	assert_has(text, "work  work.c:1 (recursive, 2 more levels)\n");
	free(text);
	profile_release(&p);
}

static void test_threads(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.view = view_named("threads");
	char *text = show(&p, a);
	assert_has(text, "  80.0%  80.0 ms");
	assert_has(text, "75.0% loop heat.c:30-35 in main");
	assert_has(text, "second");
	assert_has(text, "80.0% work  work.c:1");
	free(text);
	a.view = view_named("tree");
	a.thread = "12";
	text = show(&p, a);
	assert_has(text, "100 % is 20.0 ms in 20 samples of threads 12, 20.0 % of the profile");
	assert_has(text, "  80.0%  75.0%  | | work  work.c:1");
	assert_lacks(text, "relax");
	free(text);
	a.thread = NULL;
	a.per_thread = true;
	text = show(&p, a);
	assert_has(text, "  total   self     11     12\n"
			 " 100.0%   4.0%  80.0%  20.0%  main");
	assert_has(text, "  36.0%  35.0%  20.0%  16.0%  | | work");
	free(text);
	profile_release(&p);
}

static void test_focus(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	static const char *const same[] = {"work", "wor?", "work.c:3", "/src/work.c:1-5"};
	make_heat(&p);
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		a.view = view_named("tree");
		a.focus = same[i];
		char *text = show(&p, a);
		assert_has(text, "36.0 % of the profile");
		assert_has(text, " 100.0%  97.2%  | | work  work.c:1\n");
		assert_lacks(text, "relax");
		free(text);
	}
	a.focus = "loop heat.c:12-20";
	a.view = view_named("callers");
	char *text = show(&p, a);
	assert_has(text, " 100.0%  main  heat.c:10\n");
	assert_lacks(text, "work");
	free(text);
	profile_release(&p);
}

static void test_flat_and_flattened(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.view = view_named("flat");
	char *text = show(&p, a);
	assert_has(text, " 100.0% 100.0%  /opt/heat\n 100.0%  64.0%  | /src/heat.c\n"
			 " 100.0%  64.0%  | | main  heat.c:10\n");
	free(text);
	a.flatten = "2";
	text = show(&p, a);
	assert_has(text, " 100.0%  64.0%  main  heat.c:10\n");
	assert_has(text, "  36.0%  36.0%  work  work.c:1\n");
	assert_lacks(text, "/opt/heat");
	free(text);
	a.flatten = "loops";
	text = show(&p, a);
	assert_has(text, "  96.0%         loop heat.c:12-20\n");
	assert_has(text, "  40.0%  40.0%  [outside of loops]\n");
	assert_lacks(text, "main");
	free(text);
	profile_release(&p);
}

static void test_loops_and_graph(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.view = view_named("loops");
	char *text = show(&p, a);
	assert_has(text, "  60.0%  60.0%  heat.c:30-35");
	assert_has(text, "main > relax");
	free(text);
	a.view = view_named("graph");
	text = show(&p, a);
	assert_has(text, "  60.0%  -> loop heat.c:30-35\n");
	assert_has(text, "  36.0%  -> work  work.c:1\n");
	free(text);
	profile_release(&p);
}

static void test_metrics(void **state)
{
	(void)state;
	struct profile p;
	struct report r;
	struct report_args a = plain;
	struct err e;
	make_heat(&p);
	vec_push(&p.metrics, (struct profile_metric){"page-faults", "", 1});
	profile_add(&p, 2, 0, 1, 7, 4321);
	char *text = show(&p, a);
	assert_has(text, "page-faults 4,321 in 7 samples\n");
	assert_has(text, "(shown below;");
	free(text);
	a.metric = "page-faults";
	a.view = view_named("tree");
	text = show(&p, a);
	assert_has(text, "page-faults: 100 % is 4,321 in 7 samples\n");
	free(text);
	a.metric = "cycles";
	assert_int_equal(report_init(&r, &a, &p, &e), ERR_INPUT);
	assert_has(e.text, "cpu-clock, page-faults");
	profile_release(&p);
}

static void test_bad_choices(void **state)
{
	(void)state;
	struct profile p;
	struct report r;
	struct err e;
	const struct {
		struct report_args args;
		const char *says;
	} cases[] = {
		{{.thread = "99"}, "--view=threads"},
		{{.focus = "nothing"}, "'*nothing*'"},
		{{.min_percent = "x"}, "from 0 to 100"},
		{{.min_percent = "101"}, "from 0 to 100"},
		{{.min_percent = "nan"}, "from 0 to 100"},
	};
	make_heat(&p);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(report_init(&r, &cases[i].args, &p, &e), ERR_INPUT);
		assert_has(e.text, cases[i].says);
	}
	uint32_t levels;
	assert_int_equal(flatten_parse("many", &levels, &e), ERR_INPUT);
	assert_int_equal(flatten_parse("-1", &levels, &e), ERR_INPUT);
	profile_release(&p);
}

static void test_empty(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	profile_init(&p);
	for (a.view = 0; report_views[a.view].name; a.view++) {
		if (report_views[a.view].counts || report_views[a.view].search)
			continue;
		p.finished = false;
		char *text = show(&p, a);
		assert_has(text, "This profile is empty");
		free(text);
		p.finished = true;
		text = show(&p, a);
		assert_has(text, "This profile has no samples");
		free(text);
		a.json = true;
		text = show(&p, a);
		assert_has(text, "\"total\":0");
		free(text);
		a.json = false;
	}
	profile_release(&p);
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

static void test_source(void **state)
{
	(void)state;
	char folder[] = "/tmp/sonde-source-XXXXXX", path[100];
	struct source_file s;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/src", folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/src/a.c", folder);
	write_file(path, "one\n\nthree");
	assert_true(source_open(&s, path, NULL));
	assert_string_equal(source_line(&s, 1), "one");
	assert_string_equal(source_line(&s, 2), "");
	assert_string_equal(source_line(&s, 3), "three");
	assert_null(source_line(&s, 4));
	assert_null(source_line(&s, 0));
	source_close(&s);
	assert_true(source_open(&s, "/somewhere/else/src/a.c", folder));
	assert_string_equal(s.path.data, path);
	source_close(&s);
	assert_false(source_open(&s, "/somewhere/else/src/b.c", folder));
	source_close(&s);
	assert_false(source_open(&s, "/dev/zero", NULL));
	source_close(&s);
	assert_false(source_open(&s, "", NULL));
	source_close(&s);
	unlink(path);
	snprintf(path, sizeof(path), "%s/src", folder);
	rmdir(path);
	rmdir(folder);
}

static void test_lines(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_heat(&p);
	a.lines = true;
	char *text = show(&p, a);
	assert_has(text, "source not found");
	assert_has(text, "  36.0%            13\n"
			 "  60.0%            14\n");
	assert_has(text, "  60.0%  60.0%     31\n");
	assert_has(text, "  36.0%  36.0%      3\n");
	free(text);
	profile_release(&p);
}

static struct profile_counters *add_counters(struct profile *p, uint32_t scope, uint32_t thread,
					     uint64_t entries, uint64_t iterations)
{
	bool loop = p->scopes.data[scope].kind == PROFILE_LOOP;
	uint32_t i = profile_counters(p, 0, p->scopes.data[scope].address, loop, thread);
	struct profile_counters *t = &p->counters.data[i];
	t->scope = scope;
	t->entries = entries;
	t->iterations = iterations;
	return t;
}

static void add_trips(struct profile *p, struct profile_counters *t, uint64_t low, uint64_t high,
		      uint64_t entries)
{
	t->trip_min = t->trip_max ? t->trip_min : low;
	t->trip_max = high;
	profile_add_trips(p, (uint32_t)(t - p->counters.data), low, high, entries);
}

/* make_heat() as if it had been counted: each sample is a million instructions. Thread 11 enters
 * loop 12-20 once, for 100 iterations, and loop 30-35 100 times; work is called 60 and 40 times. */
static void make_counted(struct profile *p)
{
	make_heat(p);
	p->metrics.data[0] = (struct profile_metric){PROFILE_INSTRUCTIONS, "", 0};
	vec_push(&p->metrics, (struct profile_metric){PROFILE_CALLS, "", 0});
	uint32_t call = add_node(p, 0, NODE_FRAME, 5), work = add_node(p, call, NODE_LEAF, 8);
	profile_add(p, work, 0, 1, 60, 60);
	profile_add(p, work, 1, 1, 40, 40);
	struct profile_counters *t = add_counters(p, 0, 0, 1, 0);
	t->mix[CLASS_FLOAT] = 60000000;
	add_counters(p, 0, 1, 0, 0)->mix[CLASS_INTEGER] = 4000000;
	t = add_counters(p, 1, 0, 1, 100);
	add_trips(p, t, 64, 127, 1);
	t->trip_min = t->trip_max = 100;
	t = add_counters(p, 3, 0, 100, 1500);
	t->mix[CLASS_FLOAT] = 45000000;
	t->mix[CLASS_BRANCH] = 15000000;
	for (uint64_t i = 0; i < 10; i++)
		add_trips(p, t, 10 + i, 10 + i, i == 9 ? 10 : 1);
	add_trips(p, t, 20, 40, 81);
	add_counters(p, 7, 0, 60, 0)->mix[CLASS_LOAD] = 20000000;
	add_counters(p, 7, 1, 40, 0)->mix[CLASS_LOAD] = 16000000;
	vec_push(&p->uncovered, (struct profile_uncovered){0, 15000, 0x9000, "odd", "it is odd"});
	vec_push(&p->uncovered, (struct profile_uncovered){0, 5000, 0, "", "not asked for"});
	vec_push(&p->uncovered, (struct profile_uncovered){0, 4000, 0, "stubs", "never counted"});
}

static void test_counted_summary(void **state)
{
	(void)state;
	struct profile p;
	make_counted(&p);
	char *text = show(&p, plain);
	assert_has(text, "instructions 100,000,000 counted in 2 threads (shown below");
	assert_has(text, "calls       100 counted\n");
	assert_has(text, "not counted 1 function, 1 module and other code that ran uninstrumented, "
			 "about 2.4 % of run time (by samples)\n"
			 "               1.5%  odd [heat]: it is odd\n"
			 "               0.5%  all of heat: not asked for\n"
			 "               0.4%  stubs [heat]: never counted\n");
	assert_has(text, "--view=trips (");
	assert_has(text, "  60.0%  60.0%  heat.c:30-35 ");
	assert_lacks(text, " sample ");
	assert_lacks(text, "in 100 samples");
	free(text);
	profile_release(&p);
}

static void test_trips(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_counted(&p);
	a.view = view_named("trips");
	setenv("LC_ALL", "C", 1);
	char *text = show(&p, a);
	assert_has(text, "instructions: 100 % is 100,000,000\n");
	assert_has(text, "         96.0%       1        100    100    100    100  always 100    "
			 "heat.c:12-20 in main\n"
			 "  60.0%  60.0%     100      1,500     10     15     40  .#            "
			 "heat.c:30-35 in main > relax\n");
	free(text);
	setenv("LC_ALL", "en_US.UTF-8", 1);
	p.counters.data[3].flags = COUNTS_MACHINE_ITERATIONS;
	add_counters(&p, 3, 1, 5, 50);
	text = show(&p, a);
	assert_has(text, "     105      1,550     10   14.8     40  \u2581\u2588            "
			 "heat.c:30-35^ in main > relax\n");
	assert_has(text, "^  unrolled or vectorised");
	free(text);
	a.per_thread = true;
	text = show(&p, a);
	assert_has(text, "         80.0%       1        100    100    100    100  always 100    "
			 "| thread 11 first\n");
	assert_has(text,
		   "       5         50      -     10      -  not ended     | thread 12 second");
	free(text);
	a.per_thread = false;
	p.counters.data[3].flags = COUNTS_ITERATIONS_UNKNOWN | COUNTS_TRIPS_UNKNOWN;
	text = show(&p, a);
	assert_has(text, "     105          ?      ?      ?      ?  not known ");
	free(text);
	profile_release(&p);
}

static void test_mix(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_counted(&p);
	a.view = view_named("mix");
	char *text = show(&p, a);
	assert_has(text, " 100.0%    100 M  36.0         4.0  60.0                            "
			 "the whole program\n"
			 "  64.0%   64.0 M               6.2  93.8                            "
			 "main  heat.c:10\n"
			 "  60.0%   60.0 M                    75.0         25.0               "
			 "heat.c:30-35 in main > relax\n"
			 "  36.0%   36.0 M 100.0                                              "
			 "work  work.c:1\n");
	assert_lacks(text, "heat.c:12-20");
	free(text);
	a.thread = "12";
	text = show(&p, a);
	assert_has(text, " 100.0%   20.0 M  80.0        20.0 ");
	assert_has(text, "all these threads\n");
	free(text);
	profile_release(&p);
}

static void test_parallel(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_counted(&p);
	a.view = view_named("parallel");
	char *text = show(&p, a);
	assert_has(text,
		   "  96.0%       1      100     960 k 1.92 3.57 6.07 9.33 12.8 16.9  1. "
		   "heat.c:12-20 in main\n"
		   "    Has 96.0 % of all instructions in 1 entry, with 100 iterations of 960 k "
		   "instructions.\n"
		   "    If its iterations depend on each other, these inner loops remain:\n");
	assert_has(text, "2 threads ran;");
	free(text);
	a.thread = "12";
	text = show(&p, a);
	assert_has(text, "No loop was executed");
	free(text);
	profile_release(&p);
}

static void test_counted_graph(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_counted(&p);
	a.view = view_named("graph");
	char *text = show(&p, a);
	assert_has(text, "  96.0%                1  loop heat.c:12-20\n"
			 "            60.0%       100  -> loop heat.c:30-35\n"
			 "            36.0%       100  -> work  work.c:1\n");
	free(text);
	a.focus = "work";
	text = show(&p, a);
	assert_has(text, "           100.0%            -> loop heat.c:12-20\n");
	assert_has(text, "           100.0%       100  -> work  work.c:1\n");
	free(text);
	profile_release(&p);
}

/* Whatever view: nothing chosen, or only functions without a call counted, does no harm. */
static void test_empty_counts(void **state)
{
	(void)state;
	struct profile p;
	struct report_args a = plain;
	make_counted(&p);
	vec_clear(&p.values);
	vec_clear(&p.trips);
	for (a.view = 0; report_views[a.view].name; a.view++) {
		if (report_views[a.view].search)
			continue;
		char *text = show(&p, a);
		assert_has(text, "Nothing was counted.");
		free(text);
		a.json = true;
		text = show(&p, a);
		assert_has(text, "\"total\":0");
		free(text);
		a.json = false;
	}
	profile_release(&p);
}

static void test_views_of_counts_need_counts(void **state)
{
	(void)state;
	struct profile p;
	struct report r;
	struct err e;
	struct report_args a = plain;
	a.view = view_named("trips");
	make_heat(&p);
	assert_int_equal(report_init(&r, &a, &p, &e), ERR_INPUT);
	assert_has(e.text, "--view=trips");
	assert_has(e.text, "it has samples, not counts; 'sonde count -- COMMAND' writes");
	profile_release(&p);
	make_counted(&p);
	a.metric = PROFILE_CALLS;
	assert_int_equal(report_init(&r, &a, &p, &e), ERR_INPUT);
	assert_has(e.text, "shows instructions, not 'calls'");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_brief_counts),
		cmocka_unit_test(test_counted_summary),
		cmocka_unit_test(test_trips),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_parallel),
		cmocka_unit_test(test_counted_graph),
		cmocka_unit_test(test_empty_counts),
		cmocka_unit_test(test_views_of_counts_need_counts),
		cmocka_unit_test(test_names_are_shortened_and_escaped),
		cmocka_unit_test(test_bare_names),
		cmocka_unit_test(test_steps_of_chains),
		cmocka_unit_test(test_paths_are_tidied),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_small_ones_are_summed_up),
		cmocka_unit_test(test_deep_recursion_is_folded),
		cmocka_unit_test(test_recursions_are_counted_by_path),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_focus),
		cmocka_unit_test(test_flat_and_flattened),
		cmocka_unit_test(test_loops_and_graph),
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_bad_choices),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
