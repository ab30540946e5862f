/* Opens each file once, however many processes map it.
 *
 * A file is identified by the opened file itself (device, inode, modification time, size), not by
 * the data of a mapping: btrfs and overlayfs report other numbers for mappings than for files, and
 * in a container the same path may be another file. Only files that cannot be opened are identified
 * by their mapping. */
#include "unwind/codes.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/vec.h"
#include "module/lazy_file.h"
#include "process/started.h"
#include "unwind/links.h"

struct file_identity {
	uint64_t device, inode, seconds, nanoseconds, size;
};

static struct file_identity identity_of(const struct stat *st)
{
	return (struct file_identity){st->st_dev, st->st_ino, (uint64_t)st->st_mtim.tv_sec,
				      (uint64_t)st->st_mtim.tv_nsec, (uint64_t)st->st_size};
}

struct codes {
	struct recipes_options options;
	VEC(struct code *) all;
	VEC(struct mapped_module *) files;
	struct hashmap by_identity; /* hash of struct file_identity -> index in all */
	struct hashmap by_failure;  /* the same for files that could not be read, by mapping */
	struct hashmap by_mapping;  /* hash of a file's description -> index in files */
	struct arena arena;
};

struct codes *codes_new(const struct recipes_options *options)
{
	struct codes *c = xcalloc(1, sizeof(*c));
	c->options = options ? *options : (struct recipes_options){.cached = true};
	return c;
}

static void close_code(struct code *code)
{
	links_free(code->links);
	recipes_close(code->recipes);
	flow_close(code->flow);
	module_close(code->module);
}

void codes_free(struct codes *c)
{
	if (!c)
		return;
	vec_each (code, &c->all)
		close_code(*code);
	vec_free(&c->all);
	vec_free(&c->files);
	hashmap_release(&c->by_identity);
	hashmap_release(&c->by_failure);
	hashmap_release(&c->by_mapping);
	arena_release(&c->arena);
	free(c);
}

uint32_t codes_count(const struct codes *c)
{
	return c->all.len;
}

struct code *codes_get(struct codes *c, uint32_t id)
{
	return c->all.data[id];
}

static uint64_t hash_file(const struct mapped_module *file, size_t path_length)
{
	const uint64_t numbers[] = {file->device_major, file->device_minor, file->inode,
				    file->deleted};
	return hash_bytes(file->path, path_length, hash_bytes(numbers, sizeof(numbers), 0));
}

const struct mapped_module *codes_file(struct codes *c, const struct mapped_module *like,
				       size_t path_length)
{
	uint32_t i = hashmap_add(&c->by_mapping, hash_file(like, path_length), c->files.len);
	if (i < c->files.len)
		return c->files.data[i];
	struct mapped_module *file = ARENA_NEW(&c->arena, struct mapped_module);
	*file = *like;
	file->path = arena_strndup(&c->arena, like->path, path_length);
	file->code = NULL;
	file->code_count = 0;
	vec_push(&c->files, file);
	return file;
}

static struct code *add_code(struct codes *c, const struct mapped_module *file)
{
	struct code *code = ARENA_NEW(&c->arena, struct code);
	code->id = c->all.len;
	code->path = file->path;
	code->deleted = file->deleted;
	vec_push(&c->all, code);
	return code;
}

/* Takes ownership of the module. */
static int fill_code(struct codes *c, struct code *code, struct module *module, struct err *e)
{
	int rc = flow_open_cached(&code->flow, module, e);
	if (rc) {
		module_close(module);
		return rc;
	}
	code->module = module;
	code->arch = flow_arch(code->flow);
	code->recipes = recipes_open(code->flow, &c->options);
	code->links = links_new(code->flow);
	debug(LOG_UNWIND, 1, "opened %s", code->path);
	return 0;
}

/* The code for a file that could not be read. If the file is not a module at all, it is generated
 * code (shared memory of a just-in-time compiler). */
static struct code *failed_code(struct codes *c, const struct mapped_module *file, int rc,
				const struct err *e)
{
	uint32_t i = hashmap_add(&c->by_failure, hash_file(file, strlen(file->path)), c->all.len);
	if (i < c->all.len)
		return c->all.data[i];
	struct code *code = add_code(c, file);
	code->problem = arena_strdup(&c->arena, e->text);
	code->generated = rc == ERR_INPUT;
	debug(LOG_UNWIND, 1, "cannot use %s: %s", code->path, code->problem);
	return code;
}

/* A link of /proc leads elsewhere as soon as something else is mapped there. */
static int check_held(int fd, const struct mapped_module *file, struct stat *st, struct err *e)
{
	if (fd < 0 || fstat(fd, st))
		return err_errno(e, "it cannot be opened");
	return maps_may_be_file(file, st)
		       ? 0
		       : err_set(e, ERR_SYSTEM, "another file was mapped in its place");
}

/* Opens the file that is mapped; returns a descriptor, or -1. */
static int hold(int pid, const struct mapped_module *file, struct stat *st, struct err *e)
{
	struct arena tmp = {0};
	const char *path = maps_find_file(&tmp, pid, file, e);
	int fd = path && !fault("code-open", EMFILE) ? open(path, O_PATH | O_CLOEXEC) : -1;
	bool ok = path && !check_held(fd, file, st, e);
	arena_release(&tmp);
	if (fd >= 0 && !ok)
		close(fd);
	return ok ? fd : -1;
}

/* The path of the program itself is that by which it was started. */
static const char *path_for_people(struct codes *c, int pid, const struct mapped_module *file,
				   const struct stat *st)
{
	char name[PATH_MAX], path[PATH_MAX + 32];
	struct stat started;
	if (file->deleted || !started_as(pid, name, sizeof(name)))
		return file->path;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, name);
	if (stat(path, &started) || started.st_dev != st->st_dev || started.st_ino != st->st_ino)
		return file->path;
	return arena_strdup(&c->arena, name);
}

static struct code *open_file(struct codes *c, int pid, const struct mapped_module *file)
{
	struct err e = {0};
	struct module *module = NULL;
	struct stat st;
	char held[64];
	/* The file is held open, so that the file identified is the file read. If the process ends
	 * or executes another program just then, its links are gone the next time, and the path is
	 * used. */
	int fd = hold(pid, file, &st, &e);
	if (fd < 0)
		fd = hold(pid, file, &st, &e);
	if (fd < 0)
		return failed_code(c, file, ERR_SYSTEM, &e);
	const struct file_identity id = identity_of(&st);
	uint64_t key = hash_bytes(&id, sizeof(id), 0);
	uint32_t known = hashmap_get(&c->by_identity, key);
	if (known != HASHMAP_NONE) {
		close(fd);
		return c->all.data[known];
	}
	snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
	int rc = module_open_as(&module, held, file->path, &e);
	close(fd);
	if (rc)
		return failed_code(c, file, rc, &e);
	struct code *code = add_code(c, file);
	code->identity = ARENA_DUP(&c->arena, &id, 1);
	code->path = path_for_people(c, pid, file, &st);
	rc = fill_code(c, code, module, &e);
	if (rc)
		code->problem = arena_strdup(&c->arena, e.text);
	hashmap_put(&c->by_identity, key, code->id);
	return code;
}

/* The kernel maps the same vdso into all processes of the same kind. So ours replaces that of a
 * process that has ended or cannot be read. */
static int open_own_vdso(struct module **out, struct err *e)
{
	struct maps m;
	int rc = maps_read(&m, (int)getpid(), e);
	if (rc)
		return rc;
	rc = err_set(e, ERR_UNSUPPORTED, "there is no vdso to take its place");
	for (uint32_t i = 0; i < m.module_count; i++)
		if (m.modules[i].vdso)
			rc = maps_open_module(out, &m, &m.modules[i], e);
	maps_release(&m);
	return rc;
}

static struct code *open_vdso(struct codes *c, int pid, const struct mapped_module *file)
{
	struct maps m = {.pid = pid};
	struct err e = {0};
	struct module *module = NULL;
	if (maps_open_module(&module, &m, file, &e)) {
		int rc = open_own_vdso(&module, &e);
		if (rc)
			return failed_code(c, file, rc, &e);
	}
	const uint8_t *bytes = lazy_file_at(module->file, 0, module->size);
	uint64_t key = hash_bytes(bytes, module->size, 0);
	uint32_t known = hashmap_get(&c->by_identity, key);
	if (known != HASHMAP_NONE) {
		module_close(module);
		return c->all.data[known];
	}
	struct code *code = add_code(c, file);
	if (fill_code(c, code, module, &e))
		code->problem = arena_strdup(&c->arena, e.text);
	hashmap_put(&c->by_identity, key, code->id);
	return code;
}

struct code *codes_open(struct codes *c, int pid, const struct mapped_module *file,
			const struct code_mapping *at)
{
	struct mapped_module mapped = *file;
	mapped.code = at;
	mapped.code_count = 1;
	if (file->vdso)
		return open_vdso(c, pid, &mapped);
	return open_file(c, pid, &mapped);
}

bool codes_has_changed(const struct code *code, int pid)
{
	char path[4096];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, code->path);
	if (!code->identity || stat(path, &st))
		return false;
	const struct file_identity *was = code->identity, now = identity_of(&st);
	return now.device == was->device && now.inode == was->inode &&
	       memcmp(&now, was, sizeof(now)) != 0;
}
