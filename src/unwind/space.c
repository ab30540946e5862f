/* The map is a sorted array of ranges without overlap. Samples of one process arrive in bursts and
 * mostly from the same few modules, so the range found last is tried first. */
#include "unwind/space.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/vec.h"
#include "unwind/codes.h"
#include "unwind/records.h"

struct range {
	struct code_mapping at;
	const struct mapped_module *file; /* NULL: anonymous memory */
	struct code *code;                /* NULL: not opened yet */
};

typedef VEC(struct range) range_list;

struct space {
	struct codes *codes;
	int pid;
	uint64_t serial;
	range_list ranges; /* ascending */
	uint32_t last;     /* index of the range found last */
};

/* Serials are never reused: facts cached for a space that was freed must not be taken for those of
 * a new space at the same address. */
static uint64_t new_serial(void)
{
	static atomic_uint_fast64_t count;
	return atomic_fetch_add(&count, 1) + 1;
}

struct space *space_new(struct codes *c, int pid)
{
	struct space *s = xcalloc(1, sizeof(*s));
	s->codes = c;
	s->pid = pid;
	s->serial = new_serial();
	return s;
}

struct space *space_copy(const struct space *s, int pid)
{
	struct space *copy = space_new(s->codes, pid);
	vec_reserve(&copy->ranges, s->ranges.len);
	if (s->ranges.len)
		memcpy(copy->ranges.data, s->ranges.data, s->ranges.len * sizeof(struct range));
	copy->ranges.len = s->ranges.len;
	return copy;
}

void space_free(struct space *s)
{
	if (!s)
		return;
	vec_free(&s->ranges);
	free(s);
}

uint64_t space_serial(const struct space *s)
{
	return s->serial;
}

void space_clear(struct space *s)
{
	vec_clear(&s->ranges);
	s->last = 0;
	s->serial = new_serial();
}

/* The part of a range from pc on. */
static struct range rest_of(const struct range *r, uint64_t pc)
{
	struct range rest = *r;
	rest.at.start = pc;
	rest.at.offset += pc - r->at.start;
	return rest;
}

/* The first range that ends after pc. */
static uint32_t first_ending_after(const struct space *s, uint64_t pc)
{
	uint32_t n = ORDER_UP_TO(s->ranges.data, s->ranges.len, at.start, pc);
	return n && s->ranges.data[n - 1].at.end > pc ? n - 1 : n;
}

static bool holds(const struct range *r, uint64_t pc)
{
	return pc - r->at.start < r->at.end - r->at.start;
}

static struct range *range_at(struct space *s, uint64_t pc)
{
	if (s->last < s->ranges.len && holds(&s->ranges.data[s->last], pc))
		return &s->ranges.data[s->last];
	uint32_t i = first_ending_after(s, pc);
	if (i == s->ranges.len || !holds(&s->ranges.data[i], pc))
		return NULL;
	s->last = i;
	return &s->ranges.data[i];
}

/* Replaces ranges [from, to) by the `count` given ones. */
static void replace(struct space *s, uint32_t from, uint32_t to, const struct range *by,
		    uint32_t count)
{
	uint32_t after = s->ranges.len - to;
	vec_reserve(&s->ranges, from + count + after);
	memmove(s->ranges.data + from + count, s->ranges.data + to, after * sizeof(*by));
	memcpy(s->ranges.data + from, by, count * sizeof(*by));
	s->ranges.len = from + count + after;
	s->last = from;
}

/* Inserts a range. Ranges that it overlaps keep their parts before and after it. */
static void insert_range(struct space *s, const struct range *new)
{
	uint32_t from = first_ending_after(s, new->at.start), to = from, count = 0;
	struct range by[3];
	while (to < s->ranges.len && s->ranges.data[to].at.start < new->at.end)
		to++;
	if (from < to && s->ranges.data[from].at.start < new->at.start) {
		by[count] = s->ranges.data[from];
		by[count++].at.end = new->at.start;
	}
	by[count++] = *new;
	if (from < to && s->ranges.data[to - 1].at.end > new->at.end)
		by[count++] = rest_of(&s->ranges.data[to - 1], new->at.end);
	if (from < to)
		s->serial = new_serial();
	replace(s, from, to, by, count);
}

static bool is_same(const struct range *a, const struct range *b)
{
	return a->file == b->file && a->at.start == b->at.start && a->at.offset == b->at.offset;
}

/* The range in `all` with the same start and contents as r, or NULL. */
static const struct range *find_same(const range_list *all, const struct range *r)
{
	uint32_t n = ORDER_UP_TO(all->data, all->len, at.start, r->at.start);
	return n && is_same(&all->data[n - 1], r) ? &all->data[n - 1] : NULL;
}

/* The file of a mapping, or NULL. The kernel marks the paths of deleted files. */
static const struct mapped_module *file_of(struct space *s, const struct mapping *m)
{
	static const char suffix[] = " (deleted)";
	size_t n = strlen(m->path), length = sizeof(suffix) - 1;
	struct mapped_module file = {
		.path = m->path,
		.device_major = m->device_major,
		.device_minor = m->device_minor,
		.inode = m->inode,
		.deleted = n > length && !strcmp(m->path + n - length, suffix),
		.vdso = !strcmp(m->path, "[vdso]"),
	};
	if (!file.vdso && (m->path[0] != '/' || !m->inode))
		return NULL;
	return codes_file(s->codes, &file, file.deleted ? n - length : n);
}

static void map_range(struct space *s, const struct code_mapping *at,
		      const struct mapped_module *file)
{
	struct range new = {.at = *at, .file = file};
	if (at->end <= at->start)
		return;
	/* Kernels differ in the offset they report for the vdso. It is always mapped as a whole. */
	if (file && file->vdso)
		new.at.offset = 0;
	const struct range *old = find_same(&s->ranges, &new);
	if (!old || old->at.end != at->end)
		insert_range(s, &new);
}

/* Has a file opened again that was written to since: a library that was unloaded, built again and
 * loaded again may have the same path, inode and address. */
static bool reopen_changed(struct space *s, struct range *r)
{
	if (!r->code || !codes_has_changed(r->code, s->pid))
		return false;
	r->code = NULL;
	s->serial = new_serial();
	return true;
}

void space_map(struct space *s, const struct mapping *m)
{
	const struct code_mapping at = {m->start, m->end, m->offset};
	map_range(s, &at, file_of(s, m));
	struct range *r = range_at(s, m->start);
	if (r)
		reopen_changed(s, r);
}

typedef void (*map_range_fn)(struct space *s, const struct code_mapping *at,
			     const struct mapped_module *file);

static void map_all(struct space *s, const struct maps *m, map_range_fn map)
{
	for (uint32_t i = 0; i < m->module_count; i++) {
		const struct mapped_module *mi = &m->modules[i];
		const struct mapped_module *file = codes_file(s->codes, mi, strlen(mi->path));
		for (uint32_t k = 0; k < mi->code_count; k++)
			map(s, &mi->code[k], file);
	}
	for (uint32_t i = 0; i < m->anonymous_count; i++)
		map(s, &m->anonymous[i], NULL);
}

static void map_if_free(struct space *s, const struct code_mapping *at,
			const struct mapped_module *file)
{
	uint32_t next = first_ending_after(s, at->start);
	if (next == s->ranges.len || s->ranges.data[next].at.start >= at->end)
		map_range(s, at, file);
}

/* Whether all ranges of `old` are still in the space unchanged. */
static bool still_has_all(const struct space *s, const range_list *old)
{
	vec_each (r, old) {
		const struct range *now = find_same(&s->ranges, r);
		if (!now || now->at.end < r->at.end)
			return false;
	}
	return true;
}

static void refresh_by(struct space *s, const struct maps *m)
{
	range_list old;
	uint64_t serial = s->serial;
	memcpy(&old, &s->ranges, sizeof(old));
	memset(&s->ranges, 0, sizeof(s->ranges));
	map_all(s, m, map_range);
	vec_each (r, &s->ranges) {
		const struct range *same = find_same(&old, r);
		if (same)
			r->code = same->code;
	}
	s->serial = still_has_all(s, &old) ? serial : new_serial();
	s->last = 0;
	vec_free(&old);
}

int space_refresh(struct space *s, struct err *e)
{
	struct maps m;
	int rc = maps_read(&m, s->pid, e);
	if (rc)
		return rc;
	refresh_by(s, &m);
	maps_release(&m);
	return 0;
}

int space_complete(struct space *s, struct err *e)
{
	struct maps m;
	int rc = maps_read(&m, s->pid, e);
	if (rc)
		return rc;
	map_all(s, &m, map_if_free);
	maps_release(&m);
	return 0;
}

void space_refresh_by(struct space *s, const char *maps_text)
{
	struct maps m;
	maps_parse(&m, s->pid, maps_text);
	refresh_by(s, &m);
	maps_release(&m);
}

enum maps_answer space_verify(struct space *s, int fd, uint64_t pc)
{
	struct range *r = range_at(s, pc);
	if (!r || !r->file || r->file->vdso)
		return MAPS_SAME;
	if (reopen_changed(s, r))
		return MAPS_OTHER;
	return maps_query(fd, pc, r->file, pc - r->at.start + r->at.offset);
}

static struct code *open_range(struct space *s, struct range *r)
{
	if (!r->code)
		r->code = codes_open(s->codes, s->pid, r->file, &r->at);
	return r->code;
}

struct place space_find(struct space *s, uint64_t pc)
{
	const struct place nowhere = {.va = pc};
	struct range *r = range_at(s, pc);
	if (!r)
		return nowhere;
	if (!r->file)
		return (struct place){.va = pc, .anonymous = true};
	if (open_range(s, r)->generated)
		return (struct place){.va = pc, .anonymous = true};
	struct place found = {.code = r->code, .va = pc};
	if (!r->code->module)
		return found;
	struct mapped_module mi = {.code = &r->at, .code_count = 1};
	return maps_to_va(&mi, r->code->module, pc, &found.va) ? found : nowhere;
}

/* Whether an earlier range is of the same file. */
static bool is_visited(const struct space *s, const struct range *r)
{
	for (const struct range *before = s->ranges.data; before < r; before++)
		if (before->file == r->file)
			return true;
	return false;
}

void space_codes(struct space *s, code_visitor visit, void *ctx)
{
	for (uint32_t i = 0; i < s->ranges.len; i++) {
		struct range *r = &s->ranges.data[i];
		if (!r->file || r->file->vdso || is_visited(s, r))
			continue;
		uint64_t start = r->at.start;
		struct place p = space_find(s, start);
		if (p.code && p.code->flow)
			visit(ctx, p.code, start - p.va);
	}
}

static bool code_keeps_records(struct code *code)
{
	if (code->records == RECORDS_NOT_ASKED)
		code->records = code->module && records_are_kept(code->module, code->arch)
					? RECORDS_KEPT
					: RECORDS_NOT_KEPT;
	return code->records == RECORDS_KEPT;
}

bool space_keeps_records(struct space *s)
{
	vec_each (r, &s->ranges) {
		bool vdso = r->file && r->file->vdso; /* it calls no other code */
		if (!vdso && (!r->file || !code_keeps_records(open_range(s, r))))
			return false;
	}
	return true;
}
