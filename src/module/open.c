/* Opens and closes a module. */
#include "module/module.h"

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fault.h"
#include "module/elf_reader.h"

enum { HEAD_SIZE = 4096 }; /* bytes of a file or of its notes that are looked at for a build id */

static const uint64_t FILE_MAX_SIZE = (uint64_t)16 << 30;

static int refuse_path(struct err *e)
{
	switch (errno) {
	case ENOENT: return err_set(e, ERR_SYSTEM, "there is no such file");
	case EACCES:
	case EPERM:
		return err_set(e, ERR_SYSTEM,
			       "permission denied; try again as the file's owner or with sudo");
	default: return err_errno(e, "it cannot be opened");
	}
}

static int check_regular(const struct stat *st, struct err *e)
{
	if (S_ISDIR(st->st_mode))
		return err_set(e, ERR_INPUT, "it is a directory; name a program or shared library");
	if (!S_ISREG(st->st_mode))
		return err_set(e, ERR_INPUT, "it is a device, pipe or socket, not a program");
	if ((uint64_t)st->st_size > FILE_MAX_SIZE)
		return err_set(e, ERR_UNSUPPORTED, "it is larger than 16 GiB, the limit");
	return 0;
}

/* O_NONBLOCK: opening a pipe would block until somebody writes to it. */
static int open_regular(const char *path, struct stat *st, struct err *e)
{
	int fd = fault("module-open", EMFILE) ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return refuse_path(e);
	int rc = fstat(fd, st) ? err_errno(e, "its size cannot be read") : check_regular(st, e);
	if (rc) {
		close(fd);
		return rc;
	}
	return fd;
}

/* Reads n bytes at an offset, fewer at the end of the file; returns the number, or -1. */
static ssize_t read_at(int fd, uint8_t *out, size_t n, uint64_t offset)
{
	size_t done = 0;
	while (done < n) {
		ssize_t got = fault("module-read", EIO)
				      ? -1
				      : pread(fd, out + done, n - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

static bool is_unchanged(int fd, const struct stat *before)
{
	struct stat now;
	return fstat(fd, &now) == 0 && now.st_size == before->st_size &&
	       same_time(&now.st_mtim, &before->st_mtim) &&
	       same_time(&now.st_ctim, &before->st_ctim);
}

/* Makes one attempt to read the file: *out is its bytes, or NULL if it changed at the same time.
 * The file is read, not mapped, because Sonde would be killed if somebody truncated a mapped file.
 */
static int read_once(int fd, uint8_t **out, struct stat *st, struct err *e)
{
	*out = NULL;
	if (fstat(fd, st))
		return err_errno(e, "its size cannot be read");
	int rc = check_regular(st, e);
	if (rc)
		return rc;
	size_t size = (size_t)st->st_size;
	uint8_t *bytes = fault("module-memory", ENOMEM) ? NULL : malloc(size ? size : 1);
	if (!bytes)
		return err_set(e, ERR_SYSTEM, "its %zu bytes do not fit into memory", size);
	ssize_t got = read_at(fd, bytes, size, 0);
	if (got < 0)
		rc = err_errno(e, "it cannot be read");
	else if ((size_t)got == size && is_unchanged(fd, st))
		*out = bytes;
	if (!*out)
		free(bytes);
	return rc;
}

static int read_file(const char *path, uint8_t **out, size_t *size, struct err *e)
{
	struct stat st;
	int fd = open_regular(path, &st, e), rc = 0;
	if (fd < 0)
		return fd;
	*out = NULL;
	for (int attempt = 0; attempt < 2 && !rc && !*out; attempt++)
		rc = read_once(fd, out, &st, e);
	if (!rc && !*out)
		rc = err_set(e, ERR_SYSTEM,
			     "the file changed while it was read; try again when it is complete");
	*size = (size_t)st.st_size;
	close(fd);
	return rc;
}

/* Distinguishes programs from libraries. libc has an interpreter, because it can be run, but it is
 * a library: it also has a name for others to link. */
static enum module_kind kind_of(const struct reader *r)
{
	bool has_interpreter = false;
	for (uint32_t i = 0; i < r->program_count; i++)
		has_interpreter |= r->programs[i].p_type == PT_INTERP;
	if (r->header.e_type == ET_EXEC)
		return MODULE_EXECUTABLE;
	if (r->dynamic.is_pie || (has_interpreter && !r->dynamic.has_soname))
		return MODULE_PIE;
	return MODULE_SHARED;
}

static int read_parts(struct reader *r, struct err *e)
{
	struct module *m = r->module;
	int rc = elf_read_header(r, e);
	if (!rc)
		rc = elf_read_tables(r, e);
	if (rc)
		return rc;
	elf_read_identity(r);
	elf_read_dynamic(r);
	m->kind = kind_of(r);
	m->entry = module_is_code(m, r->header.e_entry) ? r->header.e_entry : 0;
	elf_read_symbols(r);
	elf_read_relocs(r);
	elf_read_frames(r);
	elf_read_landings(r);
	return 0;
}

/* Takes over `bytes`, which were allocated by malloc. */
static int open_bytes(struct module **out, const char *name, uint8_t *bytes, size_t size,
		      struct err *e)
{
	struct module *m = xcalloc(1, sizeof(*m));
	struct reader r = {.module = m};
	m->bytes = bytes;
	m->size = size;
	m->path = arena_strdup(&m->arena, name);
	elf_version(EV_CURRENT);
	int rc = read_parts(&r, e);
	m->notes = ARENA_DUP(&m->arena, r.notes.data, r.notes.len);
	m->note_count = r.notes.len;
	vec_free(&r.notes);
	arena_release(&r.tmp);
	if (rc) {
		module_close(m);
		return rc;
	}
	m->elf = elf_memory((char *)bytes, size);
	*out = m;
	return 0;
}

int module_open_as(struct module **out, const char *path, const char *name, struct err *e)
{
	uint8_t *bytes;
	size_t size;
	int rc = read_file(path, &bytes, &size, e);
	return rc ? rc : open_bytes(out, name, bytes, size, e);
}

int module_open(struct module **out, const char *path, struct err *e)
{
	return module_open_as(out, path, path, e);
}

int module_open_memory(struct module **out, const char *name, const void *bytes, size_t size,
		       struct err *e)
{
	uint8_t *copy = xmalloc(size);
	if (size)
		memcpy(copy, bytes, size);
	return open_bytes(out, name, copy, size, e);
}

void module_close(struct module *m)
{
	if (!m)
		return;
	elf_end(m->elf);
	free((void *)(uintptr_t)m->bytes);
	arena_release(&m->arena);
	free(m);
}

/* Looks for the build id in the notes that one entry of a table points to. */
static bool build_id_at(int fd, uint64_t offset, uint64_t size, struct build_id *id)
{
	uint8_t notes[HEAD_SIZE];
	ssize_t n = read_at(fd, notes, size < sizeof(notes) ? (size_t)size : sizeof(notes), offset);
	return n > 0 && elf_find_build_id(notes, (uint64_t)n, id);
}

static bool build_id_by_programs(int fd, const Elf64_Ehdr *h, struct build_id *id)
{
	Elf64_Phdr p;
	for (uint64_t i = 0; i < h->e_phnum; i++) {
		if (read_at(fd, (uint8_t *)&p, sizeof(p), h->e_phoff + i * sizeof(p)) != sizeof(p))
			return false;
		if (p.p_type == PT_NOTE && build_id_at(fd, p.p_offset, p.p_filesz, id))
			return true;
	}
	return false;
}

/* The program headers of a debug file still point to where the notes were before stripping, so
 * sections are looked at as well. */
static void build_id_by_sections(int fd, const Elf64_Ehdr *h, struct build_id *id)
{
	Elf64_Shdr s;
	for (uint64_t i = 0; i < h->e_shnum; i++) {
		if (read_at(fd, (uint8_t *)&s, sizeof(s), h->e_shoff + i * sizeof(s)) != sizeof(s))
			return;
		if (s.sh_type == SHT_NOTE && build_id_at(fd, s.sh_offset, s.sh_size, id))
			return;
	}
}

int module_read_build_id(const char *path, struct build_id *id, struct err *e)
{
	uint8_t head[HEAD_SIZE];
	struct stat st;
	Elf64_Ehdr h;
	int fd = open_regular(path, &st, e), rc = 0;
	if (fd < 0)
		return fd;
	*id = (struct build_id){0};
	ssize_t n = read_at(fd, head, sizeof(head), 0);
	if (n < 0)
		rc = err_errno(e, "it cannot be read");
	else if (n < (ssize_t)sizeof(h) || memcmp(head, ELFMAG, SELFMAG) != 0)
		rc = elf_refuse(head, (uint64_t)n, e);
	if (rc)
		goto out;
	memcpy(&h, head, sizeof(h));
	rc = elf_check_kind(&h, e);
	if (!rc && !build_id_by_programs(fd, &h, id))
		build_id_by_sections(fd, &h, id);
out:
	close(fd);
	return rc;
}

void build_id_hex(const struct build_id *id, char out[65])
{
	for (unsigned i = 0; i < id->size; i++) {
		out[2 * i] = "0123456789abcdef"[id->bytes[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[id->bytes[i] & 15];
	}
	out[2 * id->size] = '\0';
}
