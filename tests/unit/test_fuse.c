/* Fusing contexts with structure: this program itself stands for the one recorded, and what its
 * nodes get is compared with the structure of the whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "module_tables.h"
#include "profile/fuse.h"
#include "profile/short_name.h"
#include "structure/structure.h"

enum { ADDRESSES = 500 };

static const char *program; /* path of this program */
static struct module *module;

static void names(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"main", "main"},
		{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
		 "std::string"},
		{"std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> "
		 ">::_M_append(char const*, unsigned long)",
		 "std::string::_M_append(char const*, unsigned long)"},
		{"std::vector<int, std::allocator<int> >::push_back(int&&)",
		 "std::vector<int>::push_back(int&&)"},
		{"f(std::map<int, std::vector<int, std::allocator<int> >, std::less<int>, "
		 "std::allocator<std::pair<int const, std::vector<int, std::allocator<int> > > > "
		 ">&)",
		 "f(std::map<int, std::vector<int> >&)"},
		{"std::__1::unique_ptr<A, std::default_delete<A> >::~unique_ptr()",
		 "std::unique_ptr<A>::~unique_ptr()"},
		{"std::basic_ostream<char, std::char_traits<char> >& std::operator<< "
		 "<std::char_traits<char> >(std::basic_ostream<char, std::char_traits<char> >&, "
		 "char const*)",
		 "std::ostream& std::operator<< <std::char_traits<char> >(std::ostream&, char "
		 "const*)"},
		{"g(int, std::allocator<char> const&)", "g(int, std::allocator<char> const&)"},
		{"h(int, std::allocator<char>)", "h(int, std::allocator<char>)"},
		{"std::vector<int, my::allocator<int> >", "std::vector<int, my::allocator<int> >"},
		{"std::vector<int, std::allocator<int", "std::vector<int, std::allocator<int"},
		{"std::basic_", "std::basic_"},
		{", std::less<> >", ">"},
	};
	struct arena a;
	arena_init(&a);
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		assert_string_equal(short_name(&a, pairs[i][0]), pairs[i][1]);
	arena_release(&a);
}

static void start_profile(struct profile *p, const char *path, struct build_id id)
{
	profile_init(p);
	vec_push(&p->modules, (struct profile_module){.path = path, .build_id = id});
}

/* One function or inlined call or loop or line of a chain, outermost last. */
static void show(struct text *t, unsigned kind, const char *name, const char *file, uint32_t first,
		 uint32_t last, uint32_t call_line)
{
	text_printf(t, "%u %s %s:%u-%u from %u\n", kind, name, file, first, last, call_line);
}

static void show_fused(struct text *t, const struct profile *p, uint32_t scope)
{
	for (; scope != PROFILE_NONE; scope = p->scopes.data[scope].parent) {
		const struct profile_scope *s = &p->scopes.data[scope];
		bool unnamed = s->flags & PROFILE_UNNAMED;
		show(t, s->kind, unnamed ? "" : s->name, s->file, s->first_line, s->last_line,
		     s->call_line);
	}
}

static void show_whole(struct text *t, const struct structure *s, uint32_t scope)
{
	struct arena a;
	arena_init(&a);
	for (; scope != INDEX_NONE; scope = s->scopes[scope].parent) {
		const struct scope *c = &s->scopes[scope];
		show(t, c->kind, short_name(&a, s->text + c->name), s->text + c->file,
		     c->first_line, c->last_line, c->call_line);
	}
	arena_release(&a);
}

static void compare_with_whole(const struct profile *p)
{
	struct structure_options options = {.use_debug = true};
	struct structure *s;
	struct err e;
	assert_int_equal(structure_build(&s, module, &options, &e), 0);
	struct scope_index *x = scope_index_new(s);
	for (uint32_t i = 1; i < p->nodes.len; i++) {
		const struct profile_node *n = &p->nodes.data[i];
		struct text fused = TEXT_INIT, whole = TEXT_INIT;
		uint32_t scope = scope_index_at(x, n->address);
		show_fused(&fused, p, n->scope);
		if (scope != INDEX_NONE)
			show_whole(&whole, s, scope);
		else
			show(&whole, PROFILE_FUNCTION, "", "", 0, 0, 0);
		assert_string_equal(fused.data, whole.data);
		text_release(&fused);
		text_release(&whole);
	}
	scope_index_free(x);
	structure_free(s);
}

static void add_addresses(struct profile *p)
{
	const struct section *s = module_section(module, ".text");
	uint64_t random = 1;
	assert_non_null(s);
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		uint64_t va = s->va + (random >> 33) % s->size;
		profile_child(p, i % 2 ? i / 2 : 0, i % 2 ? NODE_LEAF : NODE_FRAME, 0, va);
	}
}

/* Each scope of the structure is there once, with the profile as it should be. */
static void check_profile(const struct profile *p)
{
	struct hashmap functions = {0};
	struct err e;
	assert_int_equal(profile_check(p, &e), 0);
	assert_true(p->fused);
	for (uint32_t i = 0; i < p->scopes.len; i++) {
		const struct profile_scope *s = &p->scopes.data[i];
		if (s->kind == PROFILE_FUNCTION)
			assert_int_equal(hashmap_add(&functions, s->address, i), i);
		for (uint32_t k = 0; k < i && s->kind == PROFILE_LINE; k++) {
			const struct profile_scope *o = &p->scopes.data[k];
			assert_false(o->kind == s->kind && o->parent == s->parent &&
				     o->first_line == s->first_line && !strcmp(o->file, s->file));
		}
	}
	hashmap_release(&functions);
}

static void like_the_whole(void **state)
{
	(void)state;
	struct profile p;
	start_profile(&p, program, module->build_id);
	add_addresses(&p);
	profile_fuse(&p, NULL);
	assert_null(p.modules.data[0].problem);
	check_profile(&p);
	compare_with_whole(&p);
	profile_release(&p);
}

/* Where only code is sampled that symbols tell, nothing needs to be discovered. Parts that were
 * split off functions are not among that. */
static void without_discovery(void **state)
{
	(void)state;
	struct profile p;
	start_profile(&p, program, module->build_id);
	for (uint32_t i = 0; i < symbol_count(module); i++) {
		const struct symbol *s = &symbols_of(module)[i];
		if (s->size >= 8 && !(s->flags & SYMBOL_OBJECT) && module_is_code(module, s->va) &&
		    !strstr(s->name, ".cold"))
			profile_child(&p, 0, NODE_LEAF, 0, s->va + s->size / 8 * 4);
	}
	profile_fuse(&p, NULL);
	check_profile(&p);
	compare_with_whole(&p);
	profile_release(&p);
}

/* The same from the cache. */
static void from_the_cache(void **state)
{
	(void)state;
	struct structure_options options = {.use_cache = true, .use_debug = true};
	struct structure *s;
	struct profile p;
	struct err e;
	char directory[] = "/tmp/sonde-test-XXXXXX", *command;
	assert_non_null(mkdtemp(directory));
	setenv("XDG_CACHE_HOME", directory, 1);
	assert_int_equal(structure_open(&s, program, &options, &e), 0);
	structure_free(s);
	start_profile(&p, program, module->build_id);
	add_addresses(&p);
	profile_fuse(&p, NULL);
	check_profile(&p);
	compare_with_whole(&p);
	command = arena_printf(&p.arena, "rm -r %s", directory);
	assert_int_equal(system(command), 0);
	profile_release(&p);
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
}

/* Nodes of a module that cannot be used are named by their addresses, and the module says why. */
static void expect_problem(struct profile *p, const char *problem)
{
	uint32_t a = profile_child(p, 0, NODE_FRAME, 0, 0x4a10);
	uint32_t b = profile_child(p, a, NODE_FRAME, 0, 0x4a10);
	uint32_t c = profile_child(p, b, NODE_LEAF, 0, 0x4b00);
	uint32_t kernel = profile_child(p, c, NODE_KERNEL, PROFILE_NONE, 0);
	profile_fuse(p, NULL);
	check_profile(p);
	assert_int_equal(p->scopes.len, 2);
	assert_int_equal(p->nodes.data[a].scope, p->nodes.data[b].scope);
	assert_int_equal(p->nodes.data[kernel].scope, PROFILE_NONE);
	const struct profile_scope *s = &p->scopes.data[p->nodes.data[a].scope];
	assert_string_equal(s->name, "0x4a10");
	assert_int_equal(s->flags, PROFILE_UNNAMED);
	assert_int_equal(s->address, 0x4a10);
	assert_non_null(p->modules.data[0].problem);
	assert_non_null(strstr(p->modules.data[0].problem, problem));
	profile_release(p);
}

static void unusable_modules(void **state)
{
	(void)state;
	struct build_id other = {.bytes = {1, 2, 3}, .size = 20}, none = {.size = 0};
	struct profile p;
	start_profile(&p, "/nonexistent/program", none);
	expect_problem(&p, "put the one that was recorded back");
	start_profile(&p, program, other);
	expect_problem(&p, "not the one that was recorded");
	start_profile(&p, program, none);
	expect_problem(&p, "not the one that was recorded");
	start_profile(&p, "[vdso]", none);
	expect_problem(&p, "in no file");
	start_profile(&p, "/dev/null", none);
	struct stat st;
	assert_int_equal(stat("/dev/null", &st), 0);
	p.modules.data[0].mtime = (uint64_t)st.st_mtime;
	expect_problem(&p, "");
}

/* Without a build id size and time tell that it is the same file. */
static void without_build_id(void **state)
{
	(void)state;
	struct profile p;
	struct stat st;
	start_profile(&p, program, (struct build_id){.size = 0});
	assert_int_equal(stat(program, &st), 0);
	p.modules.data[0].file_size = (uint64_t)st.st_size;
	p.modules.data[0].mtime = (uint64_t)st.st_mtime;
	add_addresses(&p);
	profile_fuse(&p, NULL);
	assert_null(p.modules.data[0].problem);
	check_profile(&p);
	profile_release(&p);
}

static struct module *given(void *ctx, uint32_t number)
{
	assert_int_equal(number, 0);
	return ctx;
}

static void module_from_recorder(void **state)
{
	(void)state;
	struct fuse_options o = {.module = given, .ctx = module};
	struct profile p;
	start_profile(&p, "/nonexistent/program", module->build_id);
	add_addresses(&p);
	profile_fuse(&p, &o);
	assert_null(p.modules.data[0].problem);
	check_profile(&p);
	compare_with_whole(&p);
	profile_release(&p);
}

static const struct symbol *symbol_named(const char *name)
{
	for (uint32_t i = 0; i < symbol_count(module); i++)
		if (!strcmp(symbols_of(module)[i].name, name))
			return &symbols_of(module)[i];
	return NULL;
}

/* Where neither symbols nor unwind tables tell functions, calls do. */
static void bare_module(void **state)
{
	(void)state;
	const struct symbol *s = symbol_named("check_profile");
	struct module *bare;
	struct profile p;
	struct err e;
	if (!s)
		skip();
	assert_int_equal(module_open(&bare, program, &e), 0);
	hide_tables(bare);
	struct fuse_options o = {.module = given, .ctx = bare};
	start_profile(&p, program, module->build_id);
	profile_child(&p, 0, NODE_LEAF, 0, s->va + s->size / 8 * 4);
	profile_fuse(&p, &o);
	check_profile(&p);
	assert_int_equal(p.scopes.data[0].kind, PROFILE_FUNCTION);
	assert_int_equal(p.scopes.data[0].address, s->va);
	profile_release(&p);
	module_close(bare);
}

/* What a program makes itself is one function. Fusing again changes nothing. */
static void code_in_no_module(void **state)
{
	(void)state;
	struct profile p;
	start_profile(&p, program, module->build_id);
	uint32_t a = profile_child(&p, 0, NODE_FRAME, PROFILE_NONE, 0x7000);
	uint32_t b = profile_child(&p, a, NODE_LEAF, PROFILE_NONE, 0x8000);
	profile_fuse(&p, NULL);
	profile_fuse(&p, NULL);
	check_profile(&p);
	assert_int_equal(p.scopes.len, 1);
	assert_int_equal(p.modules.len, 2);
	assert_int_equal(p.nodes.data[a].scope, 0);
	assert_int_equal(p.nodes.data[b].scope, 0);
	profile_release(&p);
}

/* Counters of all loops and functions, in two threads, of a module that has no nodes. */
static void add_counters(struct profile *p, const struct structure *s)
{
	for (uint32_t thread = 0; thread < 2; thread++) {
		for (uint32_t i = 0; i < s->loop_count; i++)
			profile_counters(p, 0, s->loops[i].header, true, thread);
		for (uint32_t i = 0; i < s->function_count; i++)
			profile_counters(p, 0, s->functions[i].start, false, thread);
	}
	profile_counters(p, 0, s->functions[0].start + 1, true, 0);
}

/* What scope a counters should have, of the structure. */
static uint32_t expected_scope(const struct structure *s, const struct scope_index *x,
			       const struct profile_counters *t)
{
	const struct structure_function *p = &s->functions[scope_index_function(x, t->address)];
	uint32_t found = INDEX_NONE;
	if (!t->loop)
		return p->scope;
	for (uint32_t i = 0; i < p->loop_count; i++) {
		const struct machine_loop *l = &s->loops[p->first_loop + i];
		if (l->header == t->address)
			found = l->scope;
	}
	return found;
}

static void counters_get_scopes(void **state)
{
	(void)state;
	struct structure_options options = {.use_debug = true};
	struct structure *s;
	struct profile p;
	struct err e;
	uint32_t loops = 0, merged = 0;
	assert_int_equal(structure_build(&s, module, &options, &e), 0);
	struct scope_index *x = scope_index_new(s);
	start_profile(&p, program, module->build_id);
	vec_push(&p.processes, (struct profile_process){1, PROFILE_NONE, "a"});
	vec_push(&p.threads, (struct profile_thread){0, 1, "a"});
	vec_push(&p.threads, (struct profile_thread){0, 2, "b"});
	add_counters(&p, s);
	profile_fuse(&p, NULL);
	check_profile(&p);
	vec_each (t, &p.counters) {
		struct text fused = TEXT_INIT, whole = TEXT_INIT;
		uint32_t scope = expected_scope(s, x, t);
		if (scope == INDEX_NONE) {
			assert_int_equal(t->scope, PROFILE_NONE);
			continue;
		}
		show_fused(&fused, &p, t->scope);
		show_whole(&whole, s, scope);
		assert_string_equal(fused.data, whole.data);
		text_release(&fused);
		text_release(&whole);
		loops += t->loop;
		merged += t->loop && p.scopes.data[t->scope].address != t->address;
	}
	assert_true(loops > 20 && merged < loops / 2);
	scope_index_free(x);
	structure_free(s);
	profile_release(&p);
}

static int open_program(void **state)
{
	(void)state;
	static char path[4096];
	struct err e;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	program = path;
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	return n > 0 && module_open(&module, path, &e) == 0 ? 0 : -1;
}

static int close_program(void **state)
{
	(void)state;
	module_close(module);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(like_the_whole),
		cmocka_unit_test(without_discovery),
		cmocka_unit_test(from_the_cache),
		cmocka_unit_test(unusable_modules),
		cmocka_unit_test(without_build_id),
		cmocka_unit_test(module_from_recorder),
		cmocka_unit_test(bare_module),
		cmocka_unit_test(code_in_no_module),
		cmocka_unit_test(counters_get_scopes),
	};
	return cmocka_run_group_tests(tests, open_program, close_program);
}
