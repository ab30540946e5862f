/* Whether a process shows that we were there: mappings, descriptors, what signals do, code that is
 * not its file's. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"
#include "process/memory.h"
#include "process/threads.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The heap and stacks grow as they like: only that they are there counts. */
static void add_mapping(struct text *out, char *line)
{
	char *name = strpbrk(line, "[/");
	bool grows = strstr(line, "[heap]") || strstr(line, "[stack]");
	text_add(out, grows ? name : line);
}

/* The library of the victim comes and goes. */
static bool is_of_sonde(const char *line)
{
	return !strstr(line, "/library.so") &&
	       (strstr(line, " r-xp ") || strstr(line, "memfd:sonde"));
}

static void take_maps(struct text *out, int pid)
{
	char path[32], line[4400];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	FILE *f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!settings.loose || is_of_sonde(line))
			add_mapping(out, line);
	if (f)
		fclose(f);
}

static void take_files(struct text *out, int pid)
{
	char path[64], target[4096];
	VEC(char *) lines = {0};
	struct dirent *d;
	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *dir = opendir(path);
	while (dir && (d = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), d->d_name, target, sizeof(target) - 1);
		if (n < 0)
			continue;
		target[n] = 0;
		struct text line = TEXT_INIT;
		if (settings.loose && !strstr(target, "memfd:sonde") && !strstr(target, "perf"))
			continue;
		text_printf(&line, "%s -> %s\n", d->d_name, target);
		vec_push(&lines, line.data);
	}
	if (dir)
		closedir(dir);
	if (lines.len)
		qsort(lines.data, lines.len, sizeof(*lines.data), by_text);
	vec_each (l, &lines) {
		text_add(out, *l);
		free(*l);
	}
	vec_free(&lines);
}

/* Of a program that may be about to install its own, only the one that we would. */
static void take_signals(struct text *out, int pid)
{
	for (int signal = 1; signal < NSIG; signal++)
		if (thread_catches(pid, signal) && (!settings.loose || signal == SIGTRAP))
			text_printf(out, "handler of signal %d\n", signal);
}

void trace_take(struct trace *out, int pid)
{
	*out = (struct trace){0};
	take_maps(&out->maps, pid);
	take_files(&out->files, pid);
	take_signals(&out->signals, pid);
}

void trace_release(struct trace *t)
{
	text_release(&t->maps);
	text_release(&t->files);
	text_release(&t->signals);
}

static bool has_line(const char *text, const char *line, size_t n)
{
	for (const char *p = text; *p; p += strcspn(p, "\n") + 1)
		if (strcspn(p, "\n") == n && !strncmp(p, line, n))
			return true;
	return false;
}

/* Prints the lines of one that are not in the other. */
static bool lines_missing(const char *what, const char *of, const char *in)
{
	bool missing = false;
	for (const char *p = of; *p; p += strcspn(p, "\n") + 1) {
		int n = (int)strcspn(p, "\n");
		if (has_line(in, p, (size_t)n))
			continue;
		fprintf(stderr, "%s %.*s\n", what, n, p);
		missing = true;
	}
	return missing;
}

static bool same_text(const struct text *a, const struct text *b)
{
	const char *before = a->data ? a->data : "", *after = b->data ? b->data : "";
	bool gone = lines_missing("is gone:", before, after);
	return !lines_missing("is new:", after, before) && !gone;
}

bool trace_same(const struct trace *before, const struct trace *after)
{
	bool maps = same_text(&before->maps, &after->maps);
	bool signals = same_text(&before->signals, &after->signals);
	return same_text(&before->files, &after->files) && maps && signals;
}

enum { PIECE = 4096 };

/* False and a line for the first byte of a piece that differs. */
static bool same_piece(int pid, int fd, const char *path, uint64_t pc, uint64_t offset)
{
	uint8_t here[PIECE], there[PIECE] = {0};
	if (pread(fd, there, PIECE, (off_t)offset) < 0 ||
	    memory_read(pid, pc, here, PIECE) != PIECE)
		return fprintf(stderr, "%s: cannot be read at %" PRIx64 "\n", path, pc), false;
	for (unsigned i = 0; i < PIECE; i++)
		if (here[i] != there[i])
			return fprintf(stderr,
				       "%s: byte at offset %" PRIx64 " (pc %" PRIx64
				       ") is %02x instead of %02x\n",
				       path, offset + i, pc + i, here[i], there[i]),
			       false;
	return true;
}

static bool module_is_original(const struct maps *m, const struct mapped_module *mi)
{
	struct arena a;
	struct err e;
	bool same = true;
	arena_init(&a);
	const char *path = maps_find_file(&a, m->pid, mi, &e);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	for (uint32_t i = 0; fd >= 0 && i < mi->code_count; i++)
		for (uint64_t pc = mi->code[i].start; pc < mi->code[i].end; pc += PIECE)
			same &= same_piece(m->pid, fd, mi->path, pc,
					   mi->code[i].offset + pc - mi->code[i].start);
	if (fd >= 0)
		close(fd);
	arena_release(&a);
	return same && fd >= 0;
}

/* The dynamic linker maps a library whole before it gives each part its protection; data may be
 * executable for that moment. Only victims that load libraries all the time show it. */
static bool is_half_loaded(const struct mapped_module *mi)
{
	return settings.loose && strstr(mi->path, "/library.so");
}

static bool is_moving(int pid)
{
	tid_list tids = {0};
	struct err ignored;
	bool moving = false;
	threads_list(pid, &tids, &ignored);
	vec_each (tid, &tids) {
		char state = thread_state(*tid);
		moving |= state == 'R' || state == 'S' || state == 'D';
	}
	vec_free(&tids);
	return moving;
}

/* Libraries come and go: it is looked at while it stands still. */
static void hold(int pid)
{
	kill(pid, SIGSTOP);
	for (int i = 0; i < 1000 && is_moving(pid); i++)
		sleep_seconds(0.001);
}

/* The kernel's page of old system calls on x86-64 is in the upper half: nobody's memory. */
static bool is_left(const struct code_mapping *r)
{
	return !(r->start >> 63);
}

static bool all_is_original(int pid, bool nothing_left)
{
	struct maps m;
	struct err e;
	bool same = true;
	if (maps_read(&m, pid, &e))
		return fprintf(stderr, "%s\n", e.text), false;
	for (uint32_t i = 0; i < m.module_count; i++)
		same &= m.modules[i].vdso || is_half_loaded(&m.modules[i]) ||
			module_is_original(&m, &m.modules[i]);
	for (uint32_t i = 0; nothing_left && i < m.anonymous_count; i++)
		if (is_left(&m.anonymous[i])) {
			fprintf(stderr, "executable memory of no file is left at %" PRIx64 "\n",
				m.anonymous[i].start);
			same = false;
		}
	maps_release(&m);
	return same;
}

bool text_is_original(int pid, bool nothing_left)
{
	hold(pid);
	bool same = all_is_original(pid, nothing_left);
	kill(pid, SIGCONT);
	return same;
}
