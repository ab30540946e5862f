#include "sample/ring.h"

#include <string.h>

/* Bytes at the end of every record but samples (sample_id_all): pid and tid, time, identifier. */
enum { TRAILER = 24 };

/* The part of a record that is not parsed yet. */
struct record_cursor {
	const uint8_t *at, *end;
};

static bool take_bytes(struct record_cursor *c, void *out, size_t n)
{
	if ((size_t)(c->end - c->at) < n)
		return false;
	memcpy(out, c->at, n);
	c->at += n;
	return true;
}

static bool take_u32(struct record_cursor *c, uint32_t *out)
{
	return take_bytes(c, out, sizeof(*out));
}

static bool take_int(struct record_cursor *c, int *out)
{
	return take_bytes(c, out, sizeof(*out));
}

static bool take_u64(struct record_cursor *c, uint64_t *out)
{
	return take_bytes(c, out, sizeof(*out));
}

/* Takes text up to its NUL, which must be inside the record. */
static bool take_text(struct record_cursor *c, const char **out)
{
	const uint8_t *nul = memchr(c->at, 0, (size_t)(c->end - c->at));
	*out = (const char *)c->at;
	if (nul)
		c->at = nul + 1;
	return nul != NULL;
}

static bool parse_trailer(struct record_cursor *c, struct record *out)
{
	if (c->end - c->at < TRAILER)
		return false;
	c->end -= TRAILER;
	struct record_cursor t = {c->end, c->end + TRAILER};
	return take_int(&t, &out->pid) && take_int(&t, &out->by) && take_u64(&t, &out->time) &&
	       take_u64(&t, &out->id);
}

/* The ABI, then the registers, unless the ABI says that there are none. */
static bool parse_registers(struct record_cursor *c, unsigned count, struct record *out)
{
	uint64_t abi;
	if (!take_u64(c, &abi))
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_NONE)
		return true;
	if ((size_t)(c->end - c->at) / sizeof(uint64_t) < count)
		return false;
	if (abi == PERF_SAMPLE_REGS_ABI_64)
		out->registers = (const uint64_t *)(const void *)c->at;
	c->at += count * sizeof(uint64_t);
	return true;
}

/* A count, then that number of addresses. Markers among them say whether addresses of the kernel
 * or of user code follow. After the marker for user code there is the pc, then the return
 * addresses. */
static bool parse_chain(struct record_cursor *c, struct record *out)
{
	uint64_t count;
	if (!take_u64(c, &count) || count > (size_t)(c->end - c->at) / sizeof(uint64_t))
		return false;
	const uint64_t *all = (const uint64_t *)(const void *)c->at;
	c->at += count * sizeof(uint64_t);
	for (uint64_t i = 0; i < count; i++) {
		if (all[i] == (uint64_t)PERF_CONTEXT_USER && count - i > 2) {
			out->returns = all + i + 2;
			out->return_count = (uint32_t)(count - i - 2);
			break;
		}
	}
	return true;
}

/* The size of the copy, its bytes, and how many of these are filled. If the size is 0, nothing
 * follows. */
static bool parse_stack(struct record_cursor *c, struct record *out)
{
	uint64_t room, filled;
	if (!take_u64(c, &room))
		return false;
	if (!room)
		return true;
	if ((size_t)(c->end - c->at) < room)
		return false;
	out->stack = c->at;
	out->stack_room = (size_t)room;
	c->at += room;
	if (!take_u64(c, &filled) || filled > room)
		return false;
	out->stack_size = (size_t)filled;
	return true;
}

static bool parse_sample(struct record_cursor *c, unsigned registers, struct record *out)
{
	return take_u64(c, &out->id) && take_u64(c, &out->ip) && take_int(c, &out->pid) &&
	       take_int(c, &out->tid) && take_u64(c, &out->time) && take_u64(c, &out->period) &&
	       parse_chain(c, out) && parse_registers(c, registers, out) && parse_stack(c, out);
}

static bool parse_map(struct record_cursor *c, struct record *out)
{
	uint64_t generation;
	uint32_t protection, flags;
	return take_int(c, &out->pid) && take_int(c, &out->tid) && take_u64(c, &out->start) &&
	       take_u64(c, &out->length) && take_u64(c, &out->offset) &&
	       take_u32(c, &out->device_major) && take_u32(c, &out->device_minor) &&
	       take_u64(c, &out->inode) && take_u64(c, &generation) && take_u32(c, &protection) &&
	       take_u32(c, &flags) && take_text(c, &out->text) &&
	       out->length <= UINT64_MAX - out->start;
}

static bool parse_task(struct record_cursor *c, struct record *out)
{
	return take_int(c, &out->pid) && take_int(c, &out->parent_pid) && take_int(c, &out->tid) &&
	       take_int(c, &out->parent_tid);
}

static bool parse_lost(struct record_cursor *c, struct record *out)
{
	uint64_t id;
	return (out->type == PERF_RECORD_LOST_SAMPLES || take_u64(c, &id)) &&
	       take_u64(c, &out->lost);
}

/* Returns false for inconsistent records, and for types that are not used. */
static bool parse(struct record_cursor *c, unsigned registers, struct record *out)
{
	if (out->type == PERF_RECORD_SAMPLE) {
		bool whole = parse_sample(c, registers, out);
		out->by = out->tid;
		return whole;
	}
	if (!parse_trailer(c, out))
		return false;
	switch (out->type) {
	case PERF_RECORD_MMAP2: return parse_map(c, out);
	case PERF_RECORD_COMM:
		return take_int(c, &out->pid) && take_int(c, &out->tid) && take_text(c, &out->text);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: return parse_task(c, out);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: return parse_lost(c, out);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_SWITCH: out->tid = out->by; return true;
	default: return false;
	}
}

/* The bytes of the record at tail in one piece: those of the ring, or a copy if the record runs
 * over the end. */
static const uint8_t *in_one_piece(struct ring *r, size_t n)
{
	uint64_t at = r->tail & (r->size - 1), first = r->size - at;
	if (n <= first)
		return r->data + at;
	memcpy(r->copy, r->data + at, first);
	memcpy(r->copy + first, r->data, n - first);
	return r->copy;
}

/* Returns false at the end, and at an invalid header. After that the next record cannot be found,
 * so everything up to head is skipped. */
static bool read_header(struct ring *r, struct perf_event_header *h)
{
	uint64_t there = r->head - r->tail;
	if (!there)
		return false;
	if (there <= r->size && there >= sizeof(*h) && r->tail % 8 == 0) {
		memcpy(h, r->data + (r->tail & (r->size - 1)), sizeof(*h));
		if (h->size >= sizeof(*h) && h->size <= there && h->size % 8 == 0)
			return true;
	}
	r->broken = true;
	r->tail = r->head;
	return false;
}

bool ring_next(struct ring *r, struct record *out)
{
	struct perf_event_header h;
	while (read_header(r, &h)) {
		r->bytes = in_one_piece(r, h.size);
		struct record_cursor c = {r->bytes + sizeof(h), r->bytes + h.size};
		*out = (struct record){.type = h.type, .misc = h.misc};
		r->next = r->tail + h.size;
		if (parse(&c, r->registers, out))
			return true;
		r->tail = r->next;
	}
	return false;
}

void ring_done(struct ring *r)
{
	r->tail = r->next;
}

static size_t put_u64(uint8_t *to, size_t at, uint64_t value)
{
	memcpy(to + at, &value, sizeof(value));
	return at + sizeof(value);
}

size_t ring_copy_record(const struct ring *r, const struct record *rec, uint8_t *to)
{
	size_t whole = (size_t)(r->next - r->tail);
	struct perf_event_header h;
	if (!rec->stack || rec->stack_room % 8) {
		memcpy(to, r->bytes, whole);
		return whole;
	}
	size_t room = (rec->stack_size + 7) & ~(size_t)7;
	size_t at = (size_t)(rec->stack - r->bytes) - sizeof(uint64_t);
	memcpy(to, r->bytes, at);
	at = put_u64(to, at, room);
	memcpy(to + at, rec->stack, room);
	at = put_u64(to, at + room, rec->stack_size);
	memcpy(&h, to, sizeof(h));
	h.size = (uint16_t)at;
	memcpy(to, &h, sizeof(h));
	return at;
}
