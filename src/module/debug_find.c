/* Finds a module's debugging information. It is looked for in this order:
 *
 *	the module itself
 *	ROOT/.build-id/xx/yyyy.debug              the build id must match
 *	DIR/NAME, DIR/.debug/NAME, ROOT/DIR/NAME  NAME from .gnu_debuglink; its CRC must match
 *	a debuginfod server                       if the user named one, by build id
 *
 * ROOT is /usr/lib/debug. dwz moves information that several files share into an alternate file,
 * which .gnu_debugaltlink in the debug file names by path and build id.
 *
 * libdebuginfod is loaded only if a server has to be queried: it needs some twenty libraries, and
 * loading these takes 6 ms. */
#include <dlfcn.h>
#include <elfutils/debuginfod.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "base/fault.h"
#include "base/log.h"
#include "base/text.h"
#include "module/debug_private.h"
#include "module/elf_reader.h"

#define DEBUG_ROOT "/usr/lib/debug"

enum { STALL_SECONDS = 15 }; /* a download that brings no byte for this long is given up */

/* The search for the debug file of `m`. */
struct debug_search {
	const struct module *module;
	const struct debug_options *options;
	struct module *found;
};

static bool same_id(const struct build_id *a, const struct build_id *b)
{
	return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static uint32_t crc(const struct module *m)
{
	return (uint32_t)crc32_z(0, lazy_file_at(m->file, 0, m->size), m->size);
}

/* Takes the file if it has DWARF and belongs to the module: by CRC if `by_crc`, else by build id.
 */
static bool try_file(struct debug_search *s, const char *path, bool by_crc)
{
	struct module *file;
	struct err e;
	struct stat st;
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return false;
	if (module_open(&file, path, &e) != 0) {
		debug(LOG_DWARF, 1, "%s: %s", path, e.text);
		return false;
	}
	bool right = by_crc ? crc(file) == s->module->debuglink_crc
			    : same_id(&file->build_id, &s->module->build_id);
	if (right && elf_has_dwarf(file->file)) {
		debug(LOG_DWARF, 1, "%s: debugging information is in %s", s->module->path, path);
		s->found = file;
		return true;
	}
	debug(LOG_DWARF, 1, "%s: %s", path,
	      right ? "has no debugging information" : "belongs to another build");
	module_close(file);
	return false;
}

static void id_path(const struct build_id *id, char out[PATH_MAX])
{
	char hex[65];
	build_id_hex(id, hex);
	snprintf(out, PATH_MAX, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
}

static bool try_build_id(struct debug_search *s)
{
	char path[PATH_MAX];
	if (s->module->build_id.size < 2)
		return false;
	id_path(&s->module->build_id, path);
	return try_file(s, path, false);
}

/* The directory of a file, with symbolic links resolved, as debuggers look for it; "" if there is
 * none. */
static void directory_of(const char *file, char out[PATH_MAX])
{
	if (!realpath(file, out)) {
		out[0] = '\0';
		return;
	}
	char *slash = strrchr(out, '/');
	*slash = '\0';
}

static bool try_link(struct debug_search *s)
{
	static const struct {
		const char *before, *after;
	} places[] = {{"", ""}, {"", "/.debug"}, {DEBUG_ROOT, ""}};
	char directory[PATH_MAX];
	if (!s->module->debuglink || strchr(s->module->debuglink, '/'))
		return false;
	directory_of(s->module->path, directory);
	bool found = false;
	for (size_t i = 0; !found && i < ARRAY_SIZE(places); i++) {
		struct text path = TEXT_INIT;
		text_printf(&path, "%s%s%s/%s", places[i].before, directory, places[i].after,
			    s->module->debuglink);
		found = try_file(s, path.data, true);
		text_release(&path);
	}
	return found;
}

/* The functions of libdebuginfod that are used, and the state of a download. */
struct debuginfod {
	__typeof__(&debuginfod_begin) begin;
	__typeof__(&debuginfod_end) end;
	__typeof__(&debuginfod_find_debuginfo) find;
	__typeof__(&debuginfod_set_progressfn) set_progress;
	const struct debug_options *options;
	long done;       /* bytes received */
	time_t grown_at; /* when `done` last grew */
};

/* The progress function has no context argument. libdebuginfod calls it in the thread that
 * downloads. */
static _Thread_local struct debuginfod *current_download;

static time_t seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* A nonzero result stops the download. While `total` is 0 the server has not answered yet, and
 * `done` only counts calls. */
static int on_progress(debuginfod_client *handle, long done, long total)
{
	struct debuginfod *c = current_download;
	(void)handle;
	if (total > 0 && done != c->done) {
		c->done = done;
		c->grown_at = seconds();
	}
	if (seconds() - c->grown_at >= STALL_SECONDS)
		return 1;
	const struct debug_options *o = c->options;
	return o->progress && !o->progress(o->ctx, done, total);
}

/* The library is never unloaded: it is not made for that. */
static bool client_init(struct debuginfod *c, const struct debug_options *o)
{
	const char *urls = getenv(DEBUGINFOD_URLS_ENV_VAR);
	*c = (struct debuginfod){.options = o, .grown_at = seconds()};
	if (!o || !o->fetch || !urls || !*urls)
		return false;
	void *library = dlopen(DEBUGINFOD_SONAME, RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		debug(LOG_DWARF, 1, "%s", dlerror());
		return false;
	}
	*(void **)&c->begin = dlsym(library, "debuginfod_begin");
	*(void **)&c->end = dlsym(library, "debuginfod_end");
	*(void **)&c->find = dlsym(library, "debuginfod_find_debuginfo");
	*(void **)&c->set_progress = dlsym(library, "debuginfod_set_progressfn");
	return c->begin && c->end && c->find && c->set_progress;
}

/* Asks the servers for a debug file; returns the path of the copy, to be freed, or NULL. */
static char *download(const struct build_id *id, const struct debug_options *o)
{
	struct debuginfod c;
	char *path = NULL, limit[16];
	if (!id->size || !client_init(&c, o))
		return NULL;
	snprintf(limit, sizeof(limit), "%d", STALL_SECONDS);
	setenv(DEBUGINFOD_TIMEOUT_ENV_VAR, limit, 0);
	debuginfod_client *handle = c.begin();
	if (!handle)
		return NULL;
	current_download = &c;
	c.set_progress(handle, on_progress);
	int fd = c.find(handle, id->bytes, id->size, &path);
	current_download = NULL;
	c.end(handle);
	if (fd < 0) {
		debug(LOG_DWARF, 1, "debuginfod: %s", strerror(-fd));
		return NULL;
	}
	close(fd);
	return path;
}

static bool try_servers(struct debug_search *s)
{
	char *path = download(&s->module->build_id, s->options);
	bool found = path && try_file(s, path, false);
	free(path);
	return found;
}

/* Takes the alternate file if it has the build id in the link. */
static bool try_alt(struct lazy_file **out, const char *path, const struct build_id *id)
{
	struct lazy_file *f;
	struct slice notes;
	struct build_id is = {0};
	struct err e;
	bool opened = !fault("debug-open", EMFILE) && lazy_file_open(&f, path, &e) == 0;
	bool ok = opened && elf_section_find(f, ".note.gnu.build-id", &notes) &&
		  elf_find_build_id(notes.at, notes.size, &is) && same_id(&is, id);
	debug(LOG_DWARF, 1, "alternate file %s%s", path, ok ? "" : ": no");
	if (ok)
		*out = f;
	else if (opened)
		lazy_file_close(f);
	return ok;
}

/* Looks for the alternate file by its name, which is relative to the directory of the file with the
 * link, and then in dwz's directory. */
static bool try_alt_name(struct lazy_file **out, const char *name, const struct build_id *id,
			 const char *file)
{
	char directory[PATH_MAX];
	struct text path = TEXT_INIT;
	if (name[0] != '/') {
		directory_of(file, directory);
		text_printf(&path, "%s/", directory);
	}
	text_add(&path, name);
	bool found = try_alt(out, path.data, id);
	if (!found) {
		const char *slash = strrchr(name, '/');
		text_clear(&path);
		text_printf(&path, DEBUG_ROOT "/.dwz/%s", slash ? slash + 1 : name);
		found = try_alt(out, path.data, id);
	}
	text_release(&path);
	return found;
}

/* The section holds a name and, after its NUL, a build id. */
static void find_alt(struct debug_source *s, const struct module *m, const struct debug_options *o)
{
	struct slice link;
	if (!elf_section_find(s->main, ".gnu_debugaltlink", &link))
		return;
	const uint8_t *nul = memchr(link.at, 0, link.size);
	struct build_id id = {0};
	uint64_t size = nul ? link.size - (uint64_t)(nul + 1 - link.at) : 0;
	if (size < 2 || size > sizeof(id.bytes))
		return;
	id.size = (uint8_t)size;
	memcpy(id.bytes, nul + 1, size);
	s->alt_id = id;
	char path[PATH_MAX];
	id_path(&id, path);
	if (try_alt_name(&s->alt, (const char *)link.at, &id, s->file ? s->file->path : m->path) ||
	    try_alt(&s->alt, path, &id))
		return;
	char *copy = download(&id, o);
	if (copy)
		try_alt(&s->alt, copy, &id);
	free(copy);
}

void debug_find(struct debug_source *s, const struct module *m, const struct debug_options *o)
{
	struct debug_search search = {.module = m, .options = o};
	*s = (struct debug_source){0};
	if (elf_has_dwarf(m->file)) {
		s->main = lazy_file_share(m->file);
	} else if (try_build_id(&search) || try_link(&search) || try_servers(&search)) {
		s->file = search.found;
		s->main = lazy_file_share(s->file->file);
	} else {
		return;
	}
	find_alt(s, m, o);
}

void debug_source_release(struct debug_source *s)
{
	lazy_file_close(s->main);
	lazy_file_close(s->alt);
	module_close(s->file);
}
