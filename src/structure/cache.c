#include "structure/cache.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/hashmap.h"
#include "base/log.h"
#include "base/text.h"
#include "base/vec.h"
#include "module/cache_file.h"
#include "structure/storage.h"

/* Change it with every change of the file's layout, or of the meaning of its contents. */
enum { FORMAT = 2 };

enum { NAMES_MAX = 16 * 1024 }; /* bytes of path and debuglink together */

static const char magic[8] = "sondestr";

/*  head | debug_path NUL debuglink NUL | storage  */
struct head {
	char magic[8];
	uint64_t checksum; /* of everything after it */
	uint64_t key;
	uint64_t fingerprint;
	struct storage_counts counts;
	uint32_t names_size;
	uint16_t machine;
	uint8_t has_lines;
	struct build_id build_id;
	uint8_t zero[12];
};

_Static_assert(sizeof(struct head) == 104 && sizeof(struct build_id) == 33, "no padding");

static uint64_t key_of(const struct cache_subject *subject)
{
	uint64_t parts[] = {FORMAT, cache_program_hash(FORMAT), subject->size,
			    subject->options->use_debug, subject->partial};
	return hash_bytes(parts, sizeof(parts), 0);
}

static struct cache_name name_of(const struct cache_subject *subject, uint64_t key)
{
	return (struct cache_name){subject->partial ? "functions" : "structure", subject->build_id,
				   key};
}

/* A hash of whether a file exists, and in which version. */
static uint64_t file_state(const char *path, uint64_t seed)
{
	struct stat st;
	uint64_t state[4] = {0};
	if (path[0] && !stat(path, &st)) {
		state[0] = 1;
		state[1] = (uint64_t)st.st_size;
		state[2] = (uint64_t)st.st_mtim.tv_sec;
		state[3] = (uint64_t)st.st_mtim.tv_nsec;
	}
	return hash_bytes(state, sizeof(state), seed);
}

/* A hash of the states of the debug file in use and of all files that would be used instead if they
 * appeared. */
static uint64_t fingerprint(const struct cache_subject *subject, const char *debug_path,
			    const char *debuglink)
{
	static const char *const around[][2] = {{"", ""}, {"", ".debug/"}, {"/usr/lib/debug/", ""}};
	if (!subject->options->use_debug)
		return 0;
	char hex[65];
	const char *slash = strrchr(subject->path, '/');
	int dir_size = slash ? (int)(slash - subject->path) + 1 : 0;
	struct text path = TEXT_INIT;
	build_id_hex(&subject->build_id, hex);

	uint64_t h = file_state(debug_path, 1);
	text_printf(&path, "/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	h = file_state(path.data, h);
	for (size_t i = 0; debuglink[0] && i < ARRAY_SIZE(around); i++) {
		text_clear(&path);
		text_printf(&path, "%s%.*s%s%s", around[i][0], dir_size, subject->path,
			    around[i][1], debuglink);
		h = file_state(path.data, h);
	}
	text_release(&path);
	return h;
}

static uint64_t checksum(const struct head *h, const char *names,
			 const struct slice storage[STORAGE_PARTS])
{
	const uint64_t *from = &h->key;
	uint64_t sum = hash_bytes(from, sizeof(*h) - offsetof(struct head, key), 0);
	sum = hash_bytes(names, h->names_size, sum);
	for (uint32_t i = 0; i < STORAGE_PARTS; i++)
		sum = hash_bytes(storage[i].at, storage[i].size, sum);
	return sum;
}

/* Reads the head and the names after it (at most NAMES_MAX bytes). The sizes must agree with the
 * file's. */
static bool read_head(int fd, uint64_t file_size, struct head *h, char *names)
{
	if (!cache_file_read(fd, h, sizeof(*h)) || memcmp(h->magic, magic, sizeof(magic)) != 0)
		return false;
	uint64_t size = sizeof(*h) + h->names_size + storage_size(&h->counts);
	return size == file_size && h->names_size >= 2 && h->names_size <= NAMES_MAX &&
	       cache_file_read(fd, names, h->names_size) && !names[h->names_size - 1] &&
	       strlen(names) + 1 < h->names_size;
}

/* True if the file belongs to this subject and nothing has changed since it was written. */
static bool is_current(const struct cache_subject *subject, const struct head *h, const char *names,
		       uint64_t key)
{
	const struct debug_options *debug = &subject->options->debug;
	bool may_fetch = subject->options->use_debug && debug->fetch && getenv("DEBUGINFOD_URLS");
	return h->key == key && h->build_id.size == subject->build_id.size &&
	       !memcmp(h->build_id.bytes, subject->build_id.bytes, subject->build_id.size) &&
	       (h->has_lines || !may_fetch) &&
	       h->fingerprint == fingerprint(subject, names, names + strlen(names) + 1);
}

static struct structure *read_structure(int fd, const struct head *h, const char *names)
{
	uint64_t size = storage_size(&h->counts);
	struct structure *s = xcalloc(1, sizeof(*s));
	struct slice storage[STORAGE_PARTS];
	storage_attach_block(s, xmalloc(size + 1), &h->counts);
	storage_parts(s, storage);
	s->machine = h->machine;
	s->build_id = h->build_id;
	s->has_lines = h->has_lines;
	if (cache_file_read(fd, s->storage[0], size) &&
	    checksum(h, names, storage) == h->checksum && storage_is_sound(s))
		return s;
	debug(LOG_CACHE, 1, "damaged file");
	structure_free(s);
	return NULL;
}

struct structure *cache_load(const struct cache_subject *subject)
{
	struct structure *s = NULL;
	struct head h;
	char names[NAMES_MAX];
	uint64_t key = key_of(subject), size;
	const struct cache_name name = name_of(subject, key);
	int fd = cache_file_open(&name, &size);
	if (fd < 0)
		return NULL;
	if (read_head(fd, size, &h, names) && is_current(subject, &h, names, key))
		s = read_structure(fd, &h, names);
	if (s)
		s->cached = !subject->partial;
	cache_file_close(fd, s != NULL);
	return s;
}

void cache_store(const struct cache_subject *subject, const struct cache_sources *sources,
		 const struct structure *s)
{
	const char *debug_path = sources->debug_path ? sources->debug_path : "";
	const char *debuglink = sources->debuglink ? sources->debuglink : "";
	struct text names = TEXT_INIT;
	struct head h = {
		.key = key_of(subject),
		.fingerprint = fingerprint(subject, debug_path, debuglink),
		.counts = {s->function_count, s->loop_count, s->range_count, s->scope_count,
			   s->text_size},
		.machine = s->machine,
		.has_lines = s->has_lines,
		.build_id = subject->build_id,
	};
	memcpy(h.magic, magic, sizeof(magic));
	text_addn(&names, debug_path, strlen(debug_path) + 1);
	text_addn(&names, debuglink, strlen(debuglink) + 1);
	h.names_size = (uint32_t)names.len;
	if (names.len <= NAMES_MAX) {
		const struct cache_name name = name_of(subject, h.key);
		struct slice parts[2 + STORAGE_PARTS] = {
			{(const uint8_t *)&h, sizeof(h)},
			{(const uint8_t *)names.data, names.len},
		};
		storage_parts(s, parts + 2);
		h.checksum = checksum(&h, names.data, parts + 2);
		cache_file_write(&name, parts, ARRAY_SIZE(parts));
	}
	text_release(&names);
}
