#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module_tables.h"
#include "process/maps.h"
#include "process/maps_line.h"

static const char text[] =
	"aaaa0000-aaaa2000 r-xp 00000000 fe:00 42                         /usr/bin/my program\n"
	"aaaa2000-aaaa3000 rw-p 00001000 fe:00 42                         /usr/bin/my program\n"
	"aaaa3000-aaaa4000 r-xp 00003000 fe:00 42                         /usr/bin/my program\n"
	"aaab0000-aaac0000 rw-p 00000000 00:00 0                          [heap]\n"
	"bbbb0000-bbbb1000 r-xp 00001000 08:1f 7                          /lib/old.so (deleted)\n"
	"bbbc0000-bbbc1000 r-xp 00001000 08:1f 8                          /lib/twice.so\n"
	"bbbd0000-bbbd1000 rwxp 00000000 00:00 0 \n"
	"bbbe0000-bbbe1000 r-xp 00001000 08:1f 8                          /lib/twice.so\n"
	"bbbf0000-bbbf1000 r-xp 00002000 08:1f 8                          /lib/twice.so\n"
	"nonsense\n"
	"cccc0000-cccc1000 r-xp 00000000 08:1f 9                          /lib/new\\012line.so\n"
	"dddd0000-dddd1000 r-xp 00000000 00:00 0                          [vdso]\n"
	"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0          [vsyscall]";

static void lines_become_modules(void **state)
{
	struct maps m;
	(void)state;
	maps_parse(&m, 1, text);
	assert_int_equal(m.module_count, 6);
	const struct mapped_module *i = m.modules;
	assert_string_equal(i[0].path, "/usr/bin/my program");
	assert_int_equal(i[0].inode, 42);
	assert_int_equal(i[0].device_major, 0xfe);
	assert_int_equal(i[0].code_count, 2);
	assert_int_equal(i[0].code[1].start, 0xaaaa3000);
	assert_int_equal(i[0].code[1].offset, 0x3000);
	assert_string_equal(i[1].path, "/lib/old.so");
	assert_true(i[1].deleted && !i[0].deleted);
	assert_string_equal(i[4].path, "/lib/new\nline.so");
	assert_true(i[5].vdso && !i[4].vdso);
	maps_release(&m);
}

static void a_module_loaded_twice_is_two(void **state)
{
	struct maps m;
	(void)state;
	maps_parse(&m, 1, text);
	assert_string_equal(m.modules[2].path, m.modules[3].path);
	assert_int_equal(m.modules[2].code_count, 1);
	assert_int_equal(m.modules[3].code_count, 2);
	assert_ptr_equal(maps_at(&m, 0xbbbc0fff), &m.modules[2]);
	assert_ptr_equal(maps_at(&m, 0xbbbf0000), &m.modules[3]);
	maps_release(&m);
}

static void addresses_outside_belong_to_nobody(void **state)
{
	struct maps m;
	(void)state;
	maps_parse(&m, 1, text);
	assert_ptr_equal(maps_at(&m, 0xaaaa0000), &m.modules[0]);
	assert_null(maps_at(&m, 0xaaaa2000));
	assert_ptr_equal(maps_at(&m, 0xaaaa3fff), &m.modules[0]);
	assert_null(maps_at(&m, 0xaaaa4000));
	assert_null(maps_at(&m, 0));
	assert_null(maps_at(&m, UINT64_MAX));
	maps_release(&m);
}

/* The page of the file at 0x1000 holds the end of the code and the start of the data, mapped twice.
 */
static void conversion_goes_by_file_offset(void **state)
{
	const struct segment segments[] = {
		{.va = 0x400000, .memory_size = 0x1800, .file_size = 0x1800, .execute = true},
		{.va = 0x411800, .memory_size = 0x900, .file_offset = 0x1800, .file_size = 0x900},
		{.va = 0x423000,
		 .memory_size = 16,
		 .file_offset = 0x3000,
		 .file_size = 16,
		 .execute = true},
	};
	const struct module module = {.segments = segments, .segment_count = 3};
	struct maps m;
	uint64_t va, pc;
	(void)state;
	maps_parse(&m, 1, text);
	assert_true(maps_to_va(&m.modules[0], &module, 0xaaaa1234, &va));
	assert_int_equal(va, 0x401234);
	assert_true(maps_to_va(&m.modules[0], &module, 0xaaaa3008, &va));
	assert_int_equal(va, 0x423008);
	assert_false(maps_to_va(&m.modules[0], &module, 0xaaaa1900, &va));
	assert_false(maps_to_va(&m.modules[0], &module, 0xaaab0000, &va));
	assert_true(maps_to_pc(&m.modules[0], &module, 0x401234, &pc));
	assert_int_equal(pc, 0xaaaa1234);
	assert_true(maps_to_pc(&m.modules[0], &module, 0x42300f, &pc));
	assert_int_equal(pc, 0xaaaa300f);
	assert_false(maps_to_pc(&m.modules[0], &module, 0x411900, &pc));
	assert_false(maps_to_pc(&m.modules[0], &module, 0x423010, &pc));
	maps_release(&m);
}

static struct maps read_maps(int pid)
{
	struct maps m;
	struct err e = {0};
	if (maps_read(&m, pid, &e))
		fail_msg("%s", e.text);
	return m;
}

static struct module *open_module(const struct maps *m, const struct mapped_module *mi)
{
	struct module *module = NULL;
	struct err e = {0};
	assert_non_null(mi);
	if (maps_open_module(&module, m, mi, &e))
		fail_msg("%s", e.text);
	return module;
}

static uint64_t symbol_va(const struct module *module, const char *name)
{
	for (uint32_t i = 0; i < symbol_count(module); i++)
		if (!strcmp(symbols_of(module)[i].name, name))
			return symbols_of(module)[i].va;
	fail_msg("no symbol %s", name);
	return 0;
}

static void own_code_is_found(void **state)
{
	struct maps m = read_maps(getpid());
	uint64_t here = (uint64_t)(uintptr_t)own_code_is_found, va = 0, pc = 0;
	const struct mapped_module *mi = maps_at(&m, here);
	struct module *module = open_module(&m, mi);
	(void)state;
	assert_string_equal(module->path, mi->path);
	assert_true(maps_to_va(mi, module, here, &va));
	assert_int_equal(va, symbol_va(module, "own_code_is_found"));
	assert_true(maps_to_pc(mi, module, va, &pc));
	assert_int_equal(pc, here);
	module_close(module);
	maps_release(&m);
}

static void the_vdso_is_read_from_memory(void **state)
{
	struct maps m = read_maps(getpid());
	const struct mapped_module *vdso = NULL;
	(void)state;
	for (uint32_t i = 0; i < m.module_count; i++)
		vdso = m.modules[i].vdso ? &m.modules[i] : vdso;
	if (!vdso)
		skip();
	struct module *module = open_module(&m, vdso);
	assert_string_equal(module->path, "[vdso]");
	assert_true(symbol_count(module) > 0);
	module_close(module);
	maps_release(&m);
}

static void copy_self(const char *to)
{
	char buffer[65536];
	int in = open("/proc/self/exe", O_RDONLY), out = open(to, O_CREAT | O_WRONLY, 0755);
	assert_true(in >= 0 && out >= 0);
	for (ssize_t n; (n = read(in, buffer, sizeof(buffer))) > 0;)
		assert_int_equal(write(out, buffer, (size_t)n), n);
	close(in);
	close(out);
}

/* Two files of one page, mapped executable in this process. */
struct two_files {
	char dir[32], path[2][64];
	int fd[2];
	size_t page;
};

static void make_files(struct two_files *f)
{
	f->page = (size_t)sysconf(_SC_PAGESIZE);
	strcpy(f->dir, "/tmp/test_maps.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	for (int i = 0; i < 2; i++) {
		snprintf(f->path[i], sizeof(f->path[i]), "%s/%d", f->dir, i);
		f->fd[i] = open(f->path[i], O_CREAT | O_RDWR, 0755);
		assert_true(f->fd[i] >= 0);
		assert_int_equal(ftruncate(f->fd[i], (off_t)(4 * f->page)), 0);
	}
}

static void remove_files(struct two_files *f)
{
	for (int i = 0; i < 2; i++) {
		close(f->fd[i]);
		unlink(f->path[i]);
	}
	rmdir(f->dir);
}

/* Maps a part of file i, instead of what was there. */
static uint8_t *map_pages(const struct two_files *f, int i, uint8_t *at, size_t pages)
{
	uint8_t *p = mmap(at, pages * f->page, PROT_READ | PROT_EXEC,
			  MAP_PRIVATE | (at ? MAP_FIXED : 0), f->fd[i], 0);
	assert_true(p != MAP_FAILED && (!at || p == at));
	return p;
}

/* Describes what is mapped at an address now. The caller releases *m. */
static struct mapped_module mapped_at(struct maps *m, const uint8_t *at)
{
	*m = read_maps(getpid());
	const struct mapped_module *found = maps_at(m, (uint64_t)(uintptr_t)at);
	assert_non_null(found);
	return *found;
}

/* Whether maps_find_file() finds this very file; false if it finds none. Another is an error. */
static bool is_found(const struct mapped_module *mapped, int fd)
{
	struct arena a = {0};
	struct err e = {0};
	struct stat expected, st;
	const char *path = maps_find_file(&a, getpid(), mapped, &e);
	assert_int_equal(fstat(fd, &expected), 0);
	if (path) {
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_ino, expected.st_ino);
	} else {
		assert_true(e.text[0]);
	}
	arena_release(&a);
	return path;
}

/* What a mapping was is looked for when something else is mapped at exactly the same addresses. */
static void a_file_is_not_taken_for_its_successor(void **state)
{
	struct two_files f;
	struct maps m;
	(void)state;
	make_files(&f);
	uint8_t *at = map_pages(&f, 0, NULL, 2);
	struct mapped_module first = mapped_at(&m, at);
	assert_true(is_found(&first, f.fd[0]));
	map_pages(&f, 1, at, 2);
	assert_true(is_found(&first, f.fd[0]));
	unlink(f.path[0]);
	assert_false(is_found(&first, f.fd[0]));
	assert_int_equal(rename(f.path[1], f.path[0]), 0);
	assert_false(is_found(&first, f.fd[0]));
	munmap(at, 2 * f.page);
	maps_release(&m);
	remove_files(&f);
}

/* As a dynamic linker leaves it, which maps data over the end of what it mapped first. */
static void a_deleted_file_is_found_in_what_is_left_of_its_mapping(void **state)
{
	struct two_files f;
	struct maps m;
	(void)state;
	make_files(&f);
	uint8_t *at = map_pages(&f, 0, NULL, 3);
	struct mapped_module first = mapped_at(&m, at);
	munmap(at + f.page, 2 * f.page);
	unlink(f.path[0]);
	char link[100];
	snprintf(link, sizeof(link), "/proc/self/map_files/%lx-%lx", (unsigned long)(uintptr_t)at,
		 (unsigned long)(uintptr_t)(at + f.page));
	assert_int_equal(is_found(&first, f.fd[0]), access(link, R_OK) == 0);
	munmap(at, f.page);
	maps_release(&m);
	remove_files(&f);
}

static void single_addresses_can_be_asked_for(void **state)
{
	struct two_files f;
	struct maps m;
	(void)state;
	make_files(&f);
	uint8_t *at = map_pages(&f, 0, NULL, 2);
	struct mapped_module first = mapped_at(&m, at);
	uint64_t pc = (uint64_t)(uintptr_t)at + f.page + 8, offset = f.page + 8;
	int fd = maps_query_open(getpid());
	assert_true(fd >= 0);
	if (maps_query(fd, pc, &first, offset) == MAPS_UNKNOWN) {
		print_message("this kernel does not answer\n");
	} else {
		assert_int_equal(maps_query(fd, pc, &first, offset), MAPS_SAME);
		assert_int_equal(maps_query(fd, pc, &first, 8), MAPS_OTHER);
		map_pages(&f, 1, at, 2);
		assert_int_equal(maps_query(fd, pc, &first, offset), MAPS_OTHER);
		munmap(at, 2 * f.page);
		assert_int_equal(maps_query(fd, pc, &first, offset), MAPS_OTHER);
	}
	munmap(at, 2 * f.page);
	close(fd);
	maps_release(&m);
	remove_files(&f);
}

/* Runs a copy of this test that only waits, and deletes the copy under it. */
static void a_deleted_program_is_still_opened(void **state)
{
	char dir[] = "/tmp/test_maps.XXXXXX", program[64], ready;
	int fds[2];
	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(program, sizeof(program), "%s/victim", dir);
	copy_self(program);
	assert_int_equal(pipe(fds), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		dup2(fds[1], 1);
		execl(program, program, "wait", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	assert_int_equal(read(fds[0], &ready, 1), 1);
	unlink(program);
	rmdir(dir);
	struct maps m = read_maps(pid);
	assert_string_equal(m.modules[0].path, program);
	assert_true(m.modules[0].deleted);
	struct module *module = open_module(&m, &m.modules[0]);
	assert_true(symbol_va(module, "main") != 0);
	module_close(module);
	maps_release(&m);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fds[0]);
}

static void missing_processes_are_explained(void **state)
{
	struct maps m;
	struct err e = {0};
	(void)state;
	assert_int_equal(maps_read(&m, 0x7fffffff, &e), ERR_SYSTEM);
	assert_string_equal(e.text, "there is no process 2147483647");
}

static int wait_for_the_end(void)
{
	if (write(1, "r", 1) != 1)
		return 1;
	pause();
	return 0;
}

/* The same as sscanf() says of each line of our own maps. */
static void lines_are_parsed_like_sscanf(void **state)
{
	struct text own = TEXT_INIT;
	struct maps_line l;
	uint32_t count = 0;
	(void)state;
	assert_true(maps_read_text(getpid(), &own));
	const char *next = own.data;
	for (const char *line = next; maps_next_line(&next, &l); line = next, count++) {
		unsigned long long start, end, offset, inode;
		unsigned major, minor;
		char access[5];
		int path;
		assert_int_equal(sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end,
					access, &offset, &major, &minor, &inode, &path),
				 7);
		assert_true(l.start == start && l.end == end && l.offset == offset);
		assert_true(l.inode == inode && l.device_major == major && l.device_minor == minor);
		assert_memory_equal(l.access, access, 4);
		assert_int_equal(maps_line_is_code(&l), access[2] == 'x');
		size_t from = (size_t)path, to = strcspn(line, "\n"); /* %n skips newlines */
		assert_int_equal(l.path_length, from < to ? to - from : 0);
		assert_memory_equal(l.path, line + path, l.path_length);
	}
	assert_true(count > 10);
	text_release(&own);
}

static void nonsense_is_no_line(void **state)
{
	static const char *const nonsense[] = {
		"",
		"\n\n",
		"1000",
		"1000-2000",
		"1000-2000 r-xp",
		"1000-2000 r-xp 0 08:01",
		"1000-2000 r-xp 0 08:01 ",
		"1000-2000 r-xp 0 08:01 \n1 /a",
		"1000-2000 r-x 0 08:01 1 /a",
		"1000-2000 rrrrr 0 08:01 1 /a",
		"-2000 r-xp 0 08:01 1 /a",
		"1000-g000 r-xp 0 08:01 1 /a",
		"2000-2000 r-xp 0 08:01 1 /a",
		"2000-1000 r-xp 0 08:01 1 /a",
	};
	static const char good[] = "nonsense\n1000-2000 r-xp 00000000 08:01 17      /a b (deleted)";
	const char *next;
	struct maps_line l;
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(nonsense); i++) {
		next = nonsense[i];
		assert_false(maps_next_line(&next, &l));
	}
	next = good;
	assert_true(maps_next_line(&next, &l));
	assert_true(l.start == 0x1000 && l.end == 0x2000 && l.inode == 17);
	assert_true(maps_line_has_path(&l, "/a b (deleted)"));
	assert_false(maps_line_has_path(&l, "/a b"));
	assert_false(maps_next_line(&next, &l));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_parsed_like_sscanf),
		cmocka_unit_test(nonsense_is_no_line),
		cmocka_unit_test(lines_become_modules),
		cmocka_unit_test(a_module_loaded_twice_is_two),
		cmocka_unit_test(addresses_outside_belong_to_nobody),
		cmocka_unit_test(conversion_goes_by_file_offset),
		cmocka_unit_test(own_code_is_found),
		cmocka_unit_test(the_vdso_is_read_from_memory),
		cmocka_unit_test(a_file_is_not_taken_for_its_successor),
		cmocka_unit_test(a_deleted_file_is_found_in_what_is_left_of_its_mapping),
		cmocka_unit_test(single_addresses_can_be_asked_for),
		cmocka_unit_test(a_deleted_program_is_still_opened),
		cmocka_unit_test(missing_processes_are_explained),
	};
	if (argc > 1 && !strcmp(argv[1], "wait"))
		return wait_for_the_end();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
