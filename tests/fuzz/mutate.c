/* Damages real binaries in many ways and analyses each: usage: mutate [OPTION...] FILE...
 *
 *   --count N     how many mutants (1000)
 *   --seed N      first random seed (1); mutant i of seed s is always the same
 *   --seconds N   wall time that one analysis may take (20)
 *   --memory N    megabytes of address space that it may take (4096)
 *   --only N      run mutant N alone, in this process, for a debugger
 *   --write FILE  write that mutant to FILE instead
 *
 * Each analysis runs in a child of its own. Prints a line for each that was killed or took too
 * long, then the totals. Status 1 if there was one. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"
#include "structure/structure.h"

enum { STATUS_ANALYSED, STATUS_REFUSED = 10, STATUS_NO_MEMORY = 11, MAX_FILES = 64 };

struct input {
	const char *path;
	uint8_t *bytes;
	size_t size;
};

struct mutant {
	uint8_t *bytes;
	size_t size;
	char how[200];
};

struct settings {
	uint64_t count, seed;
	unsigned seconds, memory;
	int64_t only;
	const char *write;
	struct input inputs[MAX_FILES];
	uint32_t input_count;
};

struct totals {
	uint64_t analysed, refused, no_memory, crashed, hung;
	double slowest;
};

/* splitmix64 */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint64_t below(uint64_t *state, uint64_t n)
{
	return n ? next_random(state) % n : 0;
}

/* A part of the file to damage: headers, or one section chosen at random. */
static void choose_part(const struct input *in, uint64_t *r, size_t *start, size_t *size)
{
	Elf64_Ehdr h;
	memcpy(&h, in->bytes, sizeof(h));
	*start = 0;
	*size = sizeof(h);
	switch (below(r, 8)) {
	case 0: return;
	case 1:
		*start = h.e_phoff;
		*size = (size_t)h.e_phnum * h.e_phentsize;
		return;
	case 2:
		*start = h.e_shoff;
		*size = (size_t)h.e_shnum * h.e_shentsize;
		return;
	}
	for (unsigned tries = 0; tries < 20 && h.e_shnum; tries++) {
		Elf64_Shdr s;
		memcpy(&s, in->bytes + h.e_shoff + below(r, h.e_shnum) * h.e_shentsize, sizeof(s));
		if (s.sh_type == SHT_NOBITS || s.sh_size == 0 || s.sh_offset + s.sh_size > in->size)
			continue;
		*start = s.sh_offset;
		*size = s.sh_size;
		return;
	}
}

static uint64_t interesting(uint64_t *r)
{
	static const uint64_t values[] = {
		0,          1,          2,          3,          7,
		8,          15,         16,         0x7f,       0x80,
		0xff,       0x100,      0x7fff,     0x8000,     0xffff,
		0x10000,    0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		1ull << 40, 1ull << 62, INT64_MAX,  1ull << 63, UINT64_MAX - 7,
		UINT64_MAX,
	};
	uint64_t i = below(r, ARRAY_SIZE(values) + 4);
	return i < ARRAY_SIZE(values) ? values[i] : next_random(r);
}

/* Changes up to `n` bytes at `at`, in one of five ways. */
static void damage(struct mutant *m, uint64_t *r, size_t at, size_t n)
{
	uint64_t value = interesting(r);
	uint64_t kind = below(r, 5);
	size_t width = (size_t)1 << below(r, 4);
	switch (kind) {
	case 0: m->bytes[at] ^= (uint8_t)(1u << below(r, 8)); break;
	case 1: memcpy(m->bytes + at, &value, width < n ? width : n); break;
	case 2: m->bytes[at] = (uint8_t)next_random(r); break;
	case 3: memset(m->bytes + at, (int)below(r, 256), below(r, n < 64 ? n : 64)); break;
	default: memmove(m->bytes + at, m->bytes + below(r, m->size - n + 1), n < 32 ? n : 32);
	}
}

static void make_mutant(const struct settings *s, uint64_t number, struct mutant *m)
{
	uint64_t r = s->seed * 1000003 + number;
	const struct input *in = &s->inputs[below(&r, s->input_count)];
	m->bytes = xmalloc(in->size);
	m->size = in->size;
	memcpy(m->bytes, in->bytes, in->size);
	uint64_t changes = 1 + below(&r, 1u << below(&r, 6));
	size_t start = 0, size = 0;
	for (uint64_t i = 0; i < changes; i++) {
		if (i == 0 || below(&r, 4) == 0)
			choose_part(in, &r, &start, &size);
		if (start >= in->size || size == 0)
			continue;
		size = size < in->size - start ? size : in->size - start;
		size_t at = start + below(&r, size);
		damage(m, &r, at, start + size - at);
	}
	if (below(&r, 10) == 0)
		m->size = below(&r, m->size + 1);
	snprintf(m->how, sizeof(m->how), "%s, %llu changes, %zu of %zu bytes", in->path,
		 (unsigned long long)changes, m->size, in->size);
}

static void out_of_memory(size_t size)
{
	(void)size;
	_exit(STATUS_NO_MEMORY);
}

static int analyse(const struct mutant *m)
{
	struct module *module = NULL;
	struct structure *st = NULL;
	struct structure_options o = {.use_debug = true};
	struct err e;
	if (module_open_memory(&module, "mutant", m->bytes, m->size, &e))
		return STATUS_REFUSED;
	int status = structure_build(&st, module, &o, &e) ? STATUS_REFUSED : STATUS_ANALYSED;
	if (status == STATUS_ANALYSED)
		structure_free(st);
	module_close(module);
	return status;
}

static _Noreturn void child(const struct settings *s, const struct mutant *m)
{
	struct rlimit space = {(rlim_t)s->memory << 20, (rlim_t)s->memory << 20}, core = {0, 0};
	setrlimit(RLIMIT_AS, &space);
	setrlimit(RLIMIT_CORE, &core);
	int null = open("/dev/null", O_WRONLY);
	dup2(null, 2);
	alarm(s->seconds);
	_exit(analyse(m));
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void count_result(struct totals *t, int status, uint64_t number, const struct mutant *m)
{
	if (WIFSIGNALED(status)) {
		bool hung = WTERMSIG(status) == SIGALRM;
		t->hung += hung;
		t->crashed += !hung;
		printf("mutant %llu: %s (%s)\n", (unsigned long long)number,
		       hung ? "took too long" : strsignal(WTERMSIG(status)), m->how);
	} else if (WEXITSTATUS(status) == STATUS_NO_MEMORY) {
		t->no_memory++;
		printf("mutant %llu: out of memory (%s)\n", (unsigned long long)number, m->how);
	} else if (WEXITSTATUS(status) == STATUS_REFUSED) {
		t->refused++;
	} else if (WEXITSTATUS(status) == STATUS_ANALYSED) {
		t->analysed++;
	} else {
		t->crashed++;
		printf("mutant %llu: status %d (%s)\n", (unsigned long long)number,
		       WEXITSTATUS(status), m->how);
	}
	fflush(stdout);
}

static void run_one(const struct settings *s, uint64_t number, struct totals *t)
{
	struct mutant m;
	make_mutant(s, number, &m);
	double start = now();
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0)
		child(s, &m);
	int status = 0;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	count_result(t, status, number, &m);
	double took = now() - start;
	t->slowest = took > t->slowest ? took : t->slowest;
	free(m.bytes);
}

static int run_only(const struct settings *s)
{
	struct mutant m;
	make_mutant(s, (uint64_t)s->only, &m);
	fprintf(stderr, "%s\n", m.how);
	if (!s->write)
		return analyse(&m);
	FILE *f = fopen(s->write, "wb");
	if (!f || fwrite(m.bytes, 1, m.size, f) != m.size || fclose(f)) {
		perror(s->write);
		return 2;
	}
	return 0;
}

static bool read_input(struct input *in, const char *path)
{
	FILE *f = fopen(path, "rb");
	if (!f)
		return false;
	VEC(uint8_t) v = {0};
	uint8_t chunk[65536];
	for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0; v.len += (uint32_t)n) {
		vec_reserve(&v, v.len + (uint32_t)n);
		memcpy(v.data + v.len, chunk, n);
	}
	fclose(f);
	*in = (struct input){path, v.data, v.len};
	return v.len >= sizeof(Elf64_Ehdr) && memcmp(v.data, ELFMAG, SELFMAG) == 0;
}

static bool parse_number(const char *option, const char *value, struct settings *s)
{
	uint64_t n = strtoull(value, NULL, 10);
	if (!strcmp(option, "--count"))
		s->count = n;
	else if (!strcmp(option, "--seed"))
		s->seed = n;
	else if (!strcmp(option, "--seconds"))
		s->seconds = (unsigned)n;
	else if (!strcmp(option, "--memory"))
		s->memory = (unsigned)n;
	else if (!strcmp(option, "--only"))
		s->only = (int64_t)n;
	else if (!strcmp(option, "--write"))
		s->write = value;
	else
		return false;
	return true;
}

static bool parse(int argc, char **argv, struct settings *s)
{
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-') {
			if (i + 1 == argc || !parse_number(argv[i], argv[i + 1], s))
				return false;
			i++;
		} else if (s->input_count == MAX_FILES ||
			   !read_input(&s->inputs[s->input_count++], argv[i])) {
			fprintf(stderr, "mutate: %s is no ELF file\n", argv[i]);
			return false;
		}
	}
	return s->input_count > 0;
}

int main(int argc, char **argv)
{
	static struct settings s = {
		.count = 1000, .seed = 1, .seconds = 20, .memory = 4096, .only = -1};
	struct totals t = {0};
	alloc_failed = out_of_memory;
	if (!parse(argc, argv, &s)) {
		fprintf(stderr, "usage: mutate [--count N] [--seed N] [--seconds N] [--memory MB] "
				"[--only N [--write FILE]] FILE...\n");
		return 2;
	}
	if (s.only >= 0)
		return run_only(&s);
	for (uint64_t i = 0; i < s.count; i++)
		run_one(&s, i, &t);
	printf("%llu mutants: %llu analysed, %llu refused, %llu out of memory, %llu crashed, %llu "
	       "hung; slowest %.2f s\n",
	       (unsigned long long)s.count, (unsigned long long)t.analysed,
	       (unsigned long long)t.refused, (unsigned long long)t.no_memory,
	       (unsigned long long)t.crashed, (unsigned long long)t.hung, t.slowest);
	return t.crashed || t.hung || t.no_memory;
}
