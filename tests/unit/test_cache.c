/* The cache: what was stored comes back, and nothing else does: not after a change of anything it
 * depends on, not from damaged files, and never with a crash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "base/text.h"
#include "module/cache_file.h"
#include "structure/cache.h"
#include "structure/join.h"
#include "structure/storage.h"

static char root[] = "/tmp/sonde-cache-XXXXXX";
static char cache[64], module_path[64], debug_path[64], link_path[64];

static const struct structure_options options = {.use_cache = true, .use_debug = true};
static const struct structure_options no_debug = {.use_cache = true};

static struct cache_subject subject(const struct structure_options *o)
{
	return (struct cache_subject){
		.path = module_path,
		.build_id = {.bytes = {1, 2, 3, 0xab}, .size = 20},
		.size = 12345,
		.options = o,
	};
}

static void add_loop(struct structure_builder *b, uint32_t number, const char *name)
{
	struct block blocks[] = {{.start = 0x100, .size = 8, .edge_count = 1, .end = END_BRANCH}};
	struct edge edges[] = {{0, 0, EDGE_TAKEN}};
	uint32_t preds[] = {0}, first[] = {0, 1};
	struct cfg g = {.blocks = blocks,
			.edges = edges,
			.pred_edges = preds,
			.first_pred = first,
			.block_count = 1,
			.edge_count = 1};
	struct function p = {.start = 0x100, .end = 0x108, .name = name};
	struct loop_forest forest;
	struct arena arena;
	arena_init(&arena);
	loops_find(&g, &forest, &arena, &b->tmp);
	builder_add(b, number, &p, NULL, &g, &forest, NULL);
	arena_release(&arena);
}

static struct structure *sample(void)
{
	struct structure_builder b;
	struct structure_join j;
	builder_init(&b);
	add_loop(&b, 0, "first");
	add_loop(&b, 1, "second");
	join_init(&j);
	join_add(&j, &b, 1);
	builder_release(&b);
	struct structure *s = join_finish(&j);
	s->machine = 183;
	return s;
}

static void store(const struct structure_options *o, const struct cache_sources *sources)
{
	struct cache_subject subj = subject(o);
	struct structure *s = sample();
	cache_store(&subj, sources, s);
	structure_free(s);
}

static bool loads(const struct structure_options *o)
{
	struct cache_subject subj = subject(o);
	struct structure *s = cache_load(&subj);
	bool loaded = s != NULL;
	structure_free(s);
	return loaded;
}

static void write_file(const char *path, const char *content)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(content, f);
	fclose(f);
}

/* Calls fn with each file of the cache directory; returns how many there are, but for those with
 * starts of functions, which large programs have. */
static int each_file(void (*fn)(const char *path))
{
	char path[400];
	int n = 0;
	DIR *dir = opendir(cache);
	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		n += strncmp(d->d_name, "starts-", 7) != 0;
		snprintf(path, sizeof(path), "%s/%s", cache, d->d_name);
		if (fn)
			fn(path);
	}
	if (dir)
		closedir(dir);
	return n;
}

static void remove_file(const char *path)
{
	unlink(path);
}

static int clean(void **state)
{
	(void)state;
	each_file(remove_file);
	unlink(debug_path);
	unlink(link_path);
	unsetenv("DEBUGINFOD_URLS");
	setenv("XDG_CACHE_HOME", root, 1);
	return 0;
}

static const struct cache_sources none = {0};

static void assert_same_contents(const struct structure *x, const struct structure *y)
{
	struct slice of_x[STORAGE_PARTS], of_y[STORAGE_PARTS];
	storage_parts(x, of_x);
	storage_parts(y, of_y);
	for (uint32_t i = 0; i < STORAGE_PARTS; i++) {
		assert_int_equal(of_x[i].size, of_y[i].size);
		assert_memory_equal(of_x[i].at, of_y[i].at, of_x[i].size);
	}
}

static void round_trip(void **state)
{
	(void)state;
	assert_false(loads(&options));
	store(&options, &none);
	struct cache_subject subj = subject(&options);
	struct structure *s = cache_load(&subj), *fresh = sample();
	assert_non_null(s);
	assert_true(s->cached);
	assert_int_equal(s->machine, 183);
	assert_int_equal(s->build_id.size, 20);
	assert_int_equal(s->function_count, 2);
	assert_int_equal(s->text_size, fresh->text_size);
	assert_same_contents(s, fresh);
	structure_free(s);
	structure_free(fresh);
	assert_int_equal(each_file(NULL), 1);
}

static void other_subjects(void **state)
{
	(void)state;
	store(&options, &none);
	assert_false(loads(&no_debug));
	struct cache_subject subj = subject(&options);
	subj.size++;
	assert_null(cache_load(&subj));
	subj = subject(&options);
	subj.build_id.bytes[7]++;
	assert_null(cache_load(&subj));
	subj.build_id.size = 0;
	assert_null(cache_load(&subj));
}

static void debug_file_changes(void **state)
{
	(void)state;
	struct cache_sources sources = {.debug_path = debug_path};
	write_file(debug_path, "debug");
	store(&options, &sources);
	assert_true(loads(&options));
	write_file(debug_path, "debug, newer");
	assert_false(loads(&options));
	store(&options, &sources);
	assert_true(loads(&options));
	unlink(debug_path);
	assert_false(loads(&options));
}

static void debug_file_appears(void **state)
{
	(void)state;
	struct cache_sources sources = {.debuglink = "module.debug"};
	store(&options, &sources);
	assert_true(loads(&options));
	write_file(link_path, "debug");
	assert_false(loads(&options));
	store(&options, &sources); /* it was of no use: that holds until it changes */
	assert_true(loads(&options));
}

static void servers_may_know_more(void **state)
{
	(void)state;
	struct structure_options fetching = options;
	fetching.debug.fetch = true;
	store(&options, &none);
	assert_true(loads(&fetching));
	setenv("DEBUGINFOD_URLS", "http://localhost:1", 1);
	assert_false(loads(&fetching));
	assert_true(loads(&options));
}

static void nowhere_to_store(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "relative", 1);
	setenv("HOME", "also-relative", 1);
	store(&options, &none);
	assert_false(loads(&options));
	setenv("XDG_CACHE_HOME", "/dev/null", 1);
	store(&options, &none);
	assert_false(loads(&options));
	setenv("XDG_CACHE_HOME", root, 1);
	assert_int_equal(each_file(NULL), 0);
}

/* Changes one byte after another; cuts the file off everywhere; makes it longer. */
static void damage(const char *path)
{
	struct stat st;
	char byte;
	int fd = open(path, O_RDWR);
	assert_true(fd >= 0 && !fstat(fd, &st));
	for (off_t i = 0; i < st.st_size; i++) {
		assert_int_equal(pread(fd, &byte, 1, i), 1);
		byte = (char)(byte ^ 0x81);
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
		assert_false(loads(&options));
		byte = (char)(byte ^ 0x81);
		assert_int_equal(pwrite(fd, &byte, 1, i), 1);
	}
	assert_true(loads(&options));
	assert_int_equal(pwrite(fd, "x", 1, st.st_size), 1);
	for (off_t size = st.st_size + 1; size-- > 0;) {
		if (size < st.st_size)
			assert_int_equal(ftruncate(fd, size), 0);
		assert_false(loads(&options));
	}
	close(fd);
}

static void damaged_files(void **state)
{
	(void)state;
	store(&options, &none);
	assert_int_equal(each_file(damage), 1);
}

/* What passes the checksum by malice must still not lead outside. Every 32-bit word in turn becomes
 * a few bad values; what is called sound can be walked. */
static void walk(const struct structure *s)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < s->scope_count; i++) {
		const struct scope *c = &s->scopes[i];
		for (uint32_t p = i; p != INDEX_NONE; p = s->scopes[p].parent)
			sum++;
		for (uint32_t child = i + 1; child < c->end; child = s->scopes[child].end)
			sum++;
		for (uint32_t r = 0; r < c->range_count; r++)
			sum += s->ranges[c->first_range + r].start;
		sum += strlen(s->text + c->name) + strlen(s->text + c->file);
	}
	for (uint32_t i = 0; i < s->function_count; i++) {
		const struct structure_function *p = &s->functions[i];
		sum += strlen(s->text + p->name) + s->scopes[p->scope].end;
		for (uint32_t l = 0; l < p->loop_count; l++)
			sum += s->scopes[s->loops[p->first_loop + l].scope].end;
	}
	struct scope_index *x = scope_index_new(s);
	scope_index_at(x, 0x104);
	scope_index_free(x);
	assert_true(sum > 0);
}

static void malicious_contents(void **state)
{
	(void)state;
	static const uint32_t values[] = {0, 1, 2, 3, 1000, 0x7fffffff, UINT32_MAX - 1, UINT32_MAX};
	struct structure *s = sample();
	uint32_t sound = 0, bad = 0;
	struct slice parts[STORAGE_PARTS];
	storage_parts(s, parts);
	for (uint32_t p = 0; p < STORAGE_PARTS; p++) {
		uint32_t *words = s->storage[p];
		for (size_t i = 0; i < parts[p].size / 4; i++) {
			uint32_t word = words[i];
			for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
				words[i] = values[v];
				bool ok = storage_is_sound(s);
				sound += ok;
				bad += !ok;
				if (ok)
					walk(s);
			}
			words[i] = word;
		}
	}
	assert_true(sound > 100 && bad > 100);
	structure_free(s);
}

/* Writers and readers at once: whoever reads finds something whole or nothing. */
static void many_processes(void **state)
{
	(void)state;
	store(&options, &none);
	for (int i = 0; i < 8; i++) {
		if (fork())
			continue;
		bool ok = true;
		for (int round = 0; round < 50; round++) {
			if (i % 2)
				store(&options, &none);
			else
				ok = ok && loads(&options);
		}
		_exit(ok ? 0 : 1);
	}
	for (int i = 0, status; i < 8; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(each_file(NULL), 1);
}

static void make_old_file(const char *name, off_t size, long age)
{
	char path[128];
	struct timespec times[2];
	snprintf(path, sizeof(path), "%s/%s", cache, name);
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0); /* a hole: takes no room */
	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age;
	times[1] = times[0];
	futimens(fd, times);
	close(fd);
}

static void prunes_what_is_old(void **state)
{
	(void)state;
	store(&options, &none);
	make_old_file("structure-a", 600 << 20, 5000);
	make_old_file("structure-b", 600 << 20, 9000);
	make_old_file("tmp-left", 1, 9000);
	make_old_file("tmp-busy", 1, 10);
	for (int i = 0; i < CACHE_PRUNE_PERIOD; i++)
		store(&options, &none);
	assert_int_equal(each_file(NULL), 3); /* ours, a, tmp-busy */
	assert_true(loads(&options));
}

static struct structure *open_self(void)
{
	struct structure *s;
	struct err e;
	assert_int_equal(structure_open(&s, "/proc/self/exe", &options, &e), 0);
	return s;
}

/* This program itself, from its code and from the cache. */
static void whole_program(void **state)
{
	(void)state;
	struct structure *fresh = open_self(), *again = open_self();
	assert_false(fresh->cached);
	assert_int_equal(again->cached, fresh->build_id.size != 0);
	assert_int_equal(again->scope_count, fresh->scope_count);
	assert_int_equal(again->has_lines, fresh->has_lines);
	assert_same_contents(again, fresh);
	structure_free(fresh);
	structure_free(again);
}

static void first_asked(void)
{
}
static void second_asked(void)
{
}

static struct structure *of_function(void (*f)(void))
{
	struct module *m;
	struct structure *s;
	struct err e;
	extern const char __executable_start[];
	uint64_t va = (uint64_t)(uintptr_t)f - (uint64_t)(uintptr_t)__executable_start;
	assert_int_equal(module_open(&m, "/proc/self/exe", &e), 0);
	assert_int_equal(structure_of_addresses(&s, m, &va, 1, &options, &e), 0);
	module_close(m);
	return s;
}

/* Functions of this program itself. What was asked for once comes with all that is asked for later.
 */
static void some_functions(void **state)
{
	(void)state;
	struct structure *first = of_function(first_asked), *again = of_function(first_asked);
	struct structure *both = of_function(second_asked), *first_and_second;
	if (!first->build_id.size)
		skip();
	first_and_second = of_function(first_asked);
	assert_int_equal(first->function_count, 1);
	assert_false(again->cached);
	assert_same_contents(again, first);
	assert_int_equal(both->function_count, 2);
	assert_same_contents(first_and_second, both);
	assert_int_equal(each_file(NULL), 1);
	structure_free(first);
	structure_free(again);
	structure_free(both);
	structure_free(first_and_second);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	snprintf(cache, sizeof(cache), "%s/sonde", root);
	snprintf(module_path, sizeof(module_path), "%s/module", root);
	snprintf(debug_path, sizeof(debug_path), "%s/used.debug", root);
	snprintf(link_path, sizeof(link_path), "%s/module.debug", root);
	return 0;
}

static int tear_down(void **state)
{
	clean(state);
	rmdir(cache);
	rmdir(root);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(round_trip, clean),
		cmocka_unit_test_setup(other_subjects, clean),
		cmocka_unit_test_setup(debug_file_changes, clean),
		cmocka_unit_test_setup(debug_file_appears, clean),
		cmocka_unit_test_setup(servers_may_know_more, clean),
		cmocka_unit_test_setup(nowhere_to_store, clean),
		cmocka_unit_test_setup(damaged_files, clean),
		cmocka_unit_test_setup(malicious_contents, clean),
		cmocka_unit_test_setup(many_processes, clean),
		cmocka_unit_test_setup(prunes_what_is_old, clean),
		cmocka_unit_test_setup(some_functions, clean),
		cmocka_unit_test_setup(whole_program, clean),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
