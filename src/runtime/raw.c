/* Paths that the steps do not cover: the registers and the stack are copied, and Sonde walks them.
 * Two of these paths are taken for equal if the words that look like return addresses are equal.
 * When there is no room left, or Sonde is dead, nothing is copied, and the path is unknown. */
#include "runtime/hit.h"
#include "runtime/permit.h"

enum { STACK_PAGE = 4096, RECORD_ALIGN = 16, ALIVE_CHECK_PERIOD = 256 };

/* Words of a stack, in place or copied. */
struct stack_words {
	const uint64_t *word;
	uint32_t count;
};

/* Copies up to the end of the page: the page is in use, so it can be read. */
static uint32_t copy_page(uint64_t from, uint64_t *to)
{
	uint32_t size = STACK_PAGE - from % STACK_PAGE;
	for (uint32_t i = 0; i < size / 8; i++)
		to[i] = ((const uint64_t *)from)[i];
	return size;
}

/* How far a stack other than the thread's own can be read is unknown: the kernel finds out, if the
 * call is permitted. */
static uint32_t copy_readable(uint64_t from, uint64_t *to, uint32_t room)
{
	uint32_t done = 0;
	if (!permit(RT_MAY_INSPECT))
		return 0;
	long pid = system_call(__NR_getpid, 0, 0, 0, 0, 0);
	while (done < room) {
		uint64_t at = from + done, left = STACK_PAGE - at % STACK_PAGE;
		uint64_t size = left < room - done ? left : room - done;
		uint64_t local[2] = {(uint64_t)to + done, size}, remote[2] = {at, size};
		/* The sixth argument, flags, is 0. */
		long got = system_call(__NR_process_vm_readv, pid, (long)local, 1, (long)remote, 1);
		if (got != (long)size)
			break;
		done += (uint32_t)size;
	}
	permit_end();
	return done;
}

static uint32_t copy_foreign(uint64_t from, uint64_t *to, uint32_t room)
{
	uint32_t done = copy_readable(from, to, room);
	return done ? done : copy_page(from, to);
}

static struct stack_words gather_stack(const struct hit *h)
{
	uint64_t sp = frame_sp(h->frame) & ~UINT64_C(7);
	struct stack_words words = {(const uint64_t *)sp, 0};
	uint64_t size = RT_RAW_STACK;
	bool own = area_owns(h->area, sp + 1);
	if (own && h->area->stack_high - sp < size) {
		size = h->area->stack_high - sp;
	} else if (!own) {
		words.word = area_at(h->area, RT_AREA_SCRATCH);
		size = copy_foreign(sp, area_at(h->area, RT_AREA_SCRATCH), RT_RAW_FOREIGN);
	}
	words.count = (uint32_t)(size / 8);
	return words;
}

static uint64_t hash_words(const struct stack_words *words, uint64_t hash)
{
	const struct rt_header *h = region_header();
	uint64_t mask = h->link_mask ? h->link_mask : UINT64_MAX;
	for (uint32_t i = 0; i < words->count; i++) {
		uint64_t word = words->word[i] & mask;
		if (region_has_text(h, word))
			hash = mix(hash, word);
	}
	return hash;
}

/* Records the path. Returns the record's offset in the region; RT_RAW_UNKNOWN if there is no
 * room. */
static uint64_t record_raw(const struct hit *h, const struct stack_words *words, uint64_t hash)
{
	struct rt_header *header = region_header();
	uint64_t size = sizeof(struct rt_raw) + words->count * UINT64_C(8);
	size = (size + RECORD_ALIGN - 1) / RECORD_ALIGN * RECORD_ALIGN;
	if (__atomic_load_n(&header->raw_used, __ATOMIC_RELAXED) > RT_RAW_BYTES - size)
		return RT_RAW_UNKNOWN;
	uint64_t at = __atomic_fetch_add(&header->raw_used, size, __ATOMIC_RELAXED);
	if (at > RT_RAW_BYTES - size)
		return RT_RAW_UNKNOWN;
	struct rt_raw *raw = region_at(RT_RAW + at);
	uint64_t *stack = (uint64_t *)(raw + 1);
	raw->subject = h->probe->subject;
	raw->pc = h->probe->pc;
	raw->sp = frame_sp(h->frame);
	raw->fp = frame_fp(h->frame);
	raw->link = frame_link(h->frame);
	raw->hash = hash;
	raw->stack_size = words->count * 8;
	for (uint32_t i = 0; i < words->count; i++)
		stack[i] = words->word[i];
	__atomic_store_n(&raw->size, (uint32_t)size, __ATOMIC_RELEASE);
	__atomic_fetch_add(&header->raw_seen, 1, __ATOMIC_RELEASE);
	return RT_RAW + at;
}

/* Whether to record paths: not if Sonde is dead. That is checked only now and then, because it
 * takes system calls. */
static bool is_worthwhile(const struct hit *h)
{
	struct rt_header *header = region_header();
	if (h->area->raw_walks++ % ALIVE_CHECK_PERIOD == ALIVE_CHECK_PERIOD - 1 &&
	    !tracer_is_alive())
		header->raw_off = 1;
	return !header->raw_off;
}

/* Whether there is room for another record. If not, the stack is not hashed either: finding the
 * paths that were recorded before is not worth that each time. */
static bool has_room(void)
{
	return __atomic_load_n(&region_header()->raw_used, __ATOMIC_RELAXED) <
	       RT_RAW_BYTES - sizeof(struct rt_raw) - RT_RAW_STACK;
}

COLD uint32_t raw_path(const struct hit *h)
{
	struct draft *d = area_at(h->area, RT_AREA_WORK + WORK_RAW);
	if (!is_worthwhile(h) || !has_room() || !draft_start(d, h->area))
		return 0;
	struct stack_words words = gather_stack(h);
	d->hash = hash_words(&words, mix(h->probe->pc, frame_link(h->frame)));
	uint32_t found = draft_find(d, h);
	if (found)
		return found;
	d->raw = record_raw(h, &words, d->hash);
	return d->raw == RT_RAW_UNKNOWN ? 0 : draft_finish(d, h);
}
