#include "process/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/order.h"
#include "base/vec.h"
#include "process/maps_line.h"
#include "process/proc_text.h"

/* Far above the size of any vdso; limits the allocation. */
enum { VDSO_MAX = 1 << 20 };

static const char deleted_suffix[] = " (deleted)";

struct line {
	struct code_mapping code;
	struct mapped_module module; /* without its code */
};

/* The kernel writes a newline in a path as \012, nothing else is escaped. */
static char *unescape(struct arena *a, const char *path, size_t n)
{
	char *out = arena_strndup(a, path, n), *to = out;
	for (const char *from = out; *from; to++) {
		bool newline = !strncmp(from, "\\012", 4);
		*to = newline ? '\n' : *from;
		from += newline ? 4 : 1;
	}
	*to = '\0';
	return out;
}

static struct line line_of(struct arena *a, const struct maps_line *l)
{
	size_t n = l->path_length, length = sizeof(deleted_suffix) - 1;
	struct line out = {
		.code = {l->start, l->end, l->offset},
		.module = {.device_major = l->device_major,
			   .device_minor = l->device_minor,
			   .inode = l->inode},
	};
	out.module.deleted = n > length && !memcmp(l->path + n - length, deleted_suffix, length);
	out.module.path = unescape(a, l->path, out.module.deleted ? n - length : n);
	out.module.vdso = !strcmp(out.module.path, "[vdso]");
	return out;
}

/* Anonymous code ([anon:...], JIT output) and [vsyscall] belong to no module. */
static bool is_module(const struct line *l)
{
	return l->module.path[0] == '/' || l->module.vdso;
}

/* A module while its lines are gathered. */
struct gathered {
	struct mapped_module module;
	VEC(struct code_mapping) code;
};

/* Within one copy of a module, offsets ascend with addresses. An offset that does not ascend starts
 * another copy. */
static bool continues(const struct gathered *g, const struct line *l)
{
	return g->module.inode == l->module.inode &&
	       g->module.device_major == l->module.device_major &&
	       g->module.device_minor == l->module.device_minor &&
	       !strcmp(g->module.path, l->module.path) &&
	       l->code.offset > vec_last(&g->code).offset;
}

/* What maps_parse() has gathered so far. */
struct gathering {
	VEC(struct gathered) modules;
	VEC(struct maps_index) index;
	VEC(struct code_mapping) anonymous;
};

static void add_line(struct gathering *g, const struct line *l)
{
	uint32_t i = g->modules.len;
	while (i && !continues(&g->modules.data[i - 1], l))
		i--;
	if (!i) {
		vec_push(&g->modules, (struct gathered){.module = l->module});
		i = g->modules.len;
	}
	vec_push(&g->modules.data[i - 1].code, l->code);
	vec_push(&g->index, (struct maps_index){l->code.start, l->code.end, i - 1});
}

/* Moves what was gathered into the arena. */
static void move_to_arena(struct maps *m, struct gathering *g)
{
	struct mapped_module *modules =
		ARENA_ARRAY(&m->arena, struct mapped_module, g->modules.len);
	for (uint32_t i = 0; i < g->modules.len; i++) {
		struct gathered *from = &g->modules.data[i];
		modules[i] = from->module;
		modules[i].code = ARENA_DUP(&m->arena, from->code.data, from->code.len);
		modules[i].code_count = from->code.len;
		vec_free(&from->code);
	}
	m->modules = modules;
	m->module_count = g->modules.len;
	m->index = ARENA_DUP(&m->arena, g->index.data, g->index.len);
	m->index_count = g->index.len;
	m->anonymous = ARENA_DUP(&m->arena, g->anonymous.data, g->anonymous.len);
	m->anonymous_count = g->anonymous.len;
	vec_free(&g->modules);
	vec_free(&g->index);
	vec_free(&g->anonymous);
}

void maps_parse(struct maps *m, int pid, const char *text)
{
	struct gathering g = {0};
	struct maps_line parsed;
	*m = (struct maps){.pid = pid};
	while (maps_next_line(&text, &parsed)) {
		if (!maps_line_is_code(&parsed))
			continue;
		struct line l = line_of(&m->arena, &parsed);
		if (is_module(&l))
			add_line(&g, &l);
		else
			vec_push(&g.anonymous, l.code);
	}
	move_to_arena(m, &g);
}

static int refuse_process(int pid, struct err *e)
{
	switch (errno) {
	case ENOENT:
	case ESRCH: return err_set(e, ERR_SYSTEM, "there is no process %d", pid);
	case EACCES:
	case EPERM:
		return err_set(
			e, ERR_SYSTEM,
			"process %d may not be examined; try again as its owner or with sudo", pid);
	default: return err_errno(e, "the mappings of process %d cannot be read", pid);
	}
}

bool maps_read_text(int pid, struct text *out)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return proc_read_text(path, out);
}

int maps_read(struct maps *m, int pid, struct err *e)
{
	struct text text = TEXT_INIT;
	int rc = 0;
	if (!maps_read_text(pid, &text))
		rc = refuse_process(pid, e);
	else if (!text.len)
		rc = err_set(
			e, ERR_INPUT,
			"process %d has no memory of its own: it is a kernel thread or has ended",
			pid);
	else
		maps_parse(m, pid, text.data);
	text_release(&text);
	return rc;
}

void maps_release(struct maps *m)
{
	arena_release(&m->arena);
	*m = (struct maps){0};
}

/* As in <linux/fs.h> of Linux 6.11. */
struct procmap_query {
	uint64_t size, flags, address;
	uint64_t start, end, vma_flags, page_size, offset, inode;
	uint32_t device_major, device_minor, name_size, build_id_size;
	uint64_t name, build_id;
};

_Static_assert(sizeof(struct procmap_query) == 104, "the kernel's layout");

static const unsigned long PROCMAP_QUERY = _IOWR('f', 17, struct procmap_query);

int maps_query_open(int pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fault("maps-query", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

enum maps_answer maps_query(int fd, uint64_t pc, const struct mapped_module *file, uint64_t offset)
{
	struct procmap_query q = {.size = sizeof(q), .address = pc};
	if (ioctl(fd, PROCMAP_QUERY, &q))
		return errno == ENOENT ? MAPS_OTHER : MAPS_UNKNOWN;
	bool same = q.inode == file->inode && q.device_major == file->device_major &&
		    q.device_minor == file->device_minor && pc - q.start + q.offset == offset;
	return same ? MAPS_SAME : MAPS_OTHER;
}

static const struct code_mapping *code_at(const struct mapped_module *mapped, uint64_t pc)
{
	for (uint32_t i = 0; i < mapped->code_count; i++)
		if (pc - mapped->code[i].start < mapped->code[i].end - mapped->code[i].start)
			return &mapped->code[i];
	return NULL;
}

const struct mapped_module *maps_at(const struct maps *m, uint64_t pc)
{
	uint32_t i = ORDER_UP_TO(m->index, m->index_count, end, pc);
	bool inside = i < m->index_count && pc >= m->index[i].start;
	return inside ? &m->modules[m->index[i].module] : NULL;
}

/* Two segments may share a page of the file, which is then mapped twice; code is in the executable
 * one. */
bool maps_to_va(const struct mapped_module *mapped, const struct module *module, uint64_t pc,
		uint64_t *va)
{
	const struct code_mapping *c = code_at(mapped, pc);
	if (!c)
		return false;
	uint64_t offset = pc - c->start + c->offset;
	for (uint32_t i = 0; i < module->segment_count; i++) {
		const struct segment *s = &module->segments[i];
		if (s->execute && offset - s->file_offset < s->file_size) {
			*va = s->va + (offset - s->file_offset);
			return true;
		}
	}
	return false;
}

bool maps_to_pc(const struct mapped_module *mapped, const struct module *module, uint64_t va,
		uint64_t *pc)
{
	for (uint32_t i = 0; i < module->segment_count; i++) {
		const struct segment *s = &module->segments[i];
		if (!s->execute || va - s->va >= s->file_size)
			continue;
		uint64_t offset = va - s->va + s->file_offset;
		for (uint32_t k = 0; k < mapped->code_count; k++) {
			const struct code_mapping *c = &mapped->code[k];
			if (offset - c->offset < c->end - c->start) {
				*pc = c->start + (offset - c->offset);
				return true;
			}
		}
	}
	return false;
}

static int open_vdso(struct module **out, const struct maps *m, const struct mapped_module *mapped,
		     struct err *e)
{
	char path[64];
	size_t size = (size_t)(mapped->code[0].end - mapped->code[0].start);
	if (size > VDSO_MAX)
		return err_set(e, ERR_INPUT, "the vdso of process %d is too large", m->pid);
	snprintf(path, sizeof(path), "/proc/%d/mem", m->pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return refuse_process(m->pid, e);
	uint8_t *bytes = xmalloc(size);
	ssize_t n =
		fault("vdso-read", EIO) ? -1 : pread(fd, bytes, size, (off_t)mapped->code[0].start);
	int rc = n == (ssize_t)size ? module_open_memory(out, mapped->path, bytes, size, e)
				    : err_errno(e, "the vdso of process %d cannot be read", m->pid);
	free(bytes);
	close(fd);
	return rc;
}

/* Inodes are compared if the device is the same. btrfs and overlayfs have another device in maps
 * than in stat(): there, the path has to do. */
static bool is_same_device(const struct stat *st, const struct mapped_module *mapped)
{
	return major(st->st_dev) == mapped->device_major &&
	       minor(st->st_dev) == mapped->device_minor;
}

bool maps_may_be_file(const struct mapped_module *mapped, const struct stat *st)
{
	return !is_same_device(st, mapped) || st->st_ino == mapped->inode;
}

static bool is_at_path(const char *path, const struct mapped_module *mapped)
{
	struct stat st;
	if (stat(path, &st))
		return false;
	return is_same_device(&st, mapped) ? st.st_ino == mapped->inode : !mapped->deleted;
}

/* Whether `link`, one of /proc, opens this module. It opens the file itself, whatever became of its
 * path, but perhaps another one by now: the process may have unmapped the module and mapped
 * something else there, or have executed another program. */
static bool is_link_to(const char *link, const struct mapped_module *mapped)
{
	char target[4096];
	struct stat st;
	size_t length = strlen(mapped->path);
	if (access(link, R_OK) || stat(link, &st))
		return false;
	if (is_same_device(&st, mapped))
		return st.st_ino == mapped->inode;
	ssize_t n = readlink(link, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	return !strncmp(target, mapped->path, length) &&
	       (!target[length] || !strcmp(target + length, deleted_suffix));
}

static const char *map_files_link(struct arena *a, int pid, const struct code_mapping *c)
{
	return arena_printf(a, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid, c->start, c->end);
}

/* The same link by what is mapped there now, or NULL. A mapping may have become smaller since it
 * was reported: dynamic linkers map a library as a whole, and then its data over a part of that. */
static const char *find_link(struct arena *a, int pid, const struct mapped_module *mapped)
{
	struct maps now;
	struct err ignored;
	const char *link = NULL;
	if (maps_read(&now, pid, &ignored))
		return NULL;
	for (uint32_t i = 0; i < now.module_count && !link; i++) {
		const struct code_mapping *c = code_at(&now.modules[i], mapped->code[0].start);
		link = c ? map_files_link(a, pid, c) : NULL;
	}
	maps_release(&now);
	return link && is_link_to(link, mapped) ? link : NULL;
}

/* A path that opens the mapped file, or NULL. Tries, in this order:
 *
 * 1. /proc/PID/map_files: a link to the file itself, but it needs privileges.
 * 2. /proc/PID/exe: the same for the main program only.
 * 3. The path in the root of the process: right unless the file was deleted.
 * 4. The path in our own root: all that is left if the process has ended.
 * 5. map_files again, where the mapping is not as large any more as it was: it takes longest. */
static const char *find_path(struct arena *a, int pid, const struct mapped_module *mapped)
{
	const char *path = map_files_link(a, pid, &mapped->code[0]);
	if (is_link_to(path, mapped))
		return path;
	path = arena_printf(a, "/proc/%d/exe", pid);
	if (is_link_to(path, mapped))
		return path;
	path = arena_printf(a, "/proc/%d/root%s", pid, mapped->path);
	if (is_at_path(path, mapped))
		return path;
	return is_at_path(mapped->path, mapped) ? mapped->path : find_link(a, pid, mapped);
}

const char *maps_find_file(struct arena *a, int pid, const struct mapped_module *mapped,
			   struct err *e)
{
	const char *path = find_path(a, pid, mapped);
	if (!path && mapped->deleted)
		err_set(e, ERR_SYSTEM,
			"the file was deleted or replaced while process %d uses it; restart the "
			"process, or try again with sudo",
			pid);
	else if (!path)
		err_set(e, ERR_SYSTEM,
			"the file that process %d uses cannot be reached; try again with sudo",
			pid);
	return path;
}

int maps_open_module(struct module **out, const struct maps *m, const struct mapped_module *mapped,
		     struct err *e)
{
	struct arena tmp = {0};
	if (mapped->vdso)
		return open_vdso(out, m, mapped, e);
	const char *path = maps_find_file(&tmp, m->pid, mapped, e);
	int rc = path ? module_open_as(out, path, mapped->path, e) : ERR_SYSTEM;
	arena_release(&tmp);
	return rc;
}
