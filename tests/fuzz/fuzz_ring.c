/* The reader of perf rings over any bytes. The first 8 bytes choose the ring's size, where in it
 * reading starts and how much of it is filled; the others are the ring.
 *
 * Holds for every record: its pointers lead into the ring or the copy, with all that they promise,
 * and reading comes to an end. */
#include <string.h>

#include "sample/ring.h"
#include "targets.h"

enum { REGISTER_COUNT = 33 };

struct area {
	const uint8_t *start;
	size_t size;
};

static bool inside(struct area a, const void *p, size_t n)
{
	const uint8_t *at = p;
	return at >= a.start && n <= a.size && at <= a.start + a.size - n;
}

static void check_pointer(const struct ring *r, const void *p, size_t n)
{
	FUZZ_CHECK(inside((struct area){r->data, r->size}, p, n) ||
		   inside((struct area){r->copy, RECORD_MAX}, p, n));
}

static void check_record(const struct ring *r, const struct record *rec)
{
	FUZZ_CHECK(r->next - r->tail >= 8 && r->next - r->tail <= r->head - r->tail);
	if (rec->registers) {
		FUZZ_CHECK((uintptr_t)rec->registers % 8 == 0);
		check_pointer(r, rec->registers, REGISTER_COUNT * sizeof(uint64_t));
	}
	if (rec->returns)
		check_pointer(r, rec->returns, rec->return_count * sizeof(uint64_t));
	if (rec->stack)
		check_pointer(r, rec->stack, rec->stack_size);
	if (rec->text)
		check_pointer(r, rec->text, strlen(rec->text) + 1);
	FUZZ_CHECK(rec->start + rec->length >= rec->start);
}

static void read_all(struct ring *r)
{
	struct record rec;
	uint64_t most = (r->head - r->tail) / 8;
	for (uint64_t n = 0; ring_next(r, &rec); n++) {
		FUZZ_CHECK(n <= most);
		check_record(r, &rec);
		ring_done(r);
	}
	FUZZ_CHECK(r->tail == r->head);
}

void fuzz_ring(const uint8_t *data, size_t size)
{
	uint32_t choice[2];
	if (size < sizeof(choice))
		return;
	memcpy(choice, data, sizeof(choice));
	size_t n = size - sizeof(choice), capacity = (size_t)8 << (choice[0] % 15);
	/* Memory of its own and exact, so that a sanitizer sees reads behind it. */
	uint8_t *bytes = calloc(1, capacity), *copy = malloc(RECORD_MAX);
	if (!bytes || !copy)
		abort();
	memcpy(bytes, data + sizeof(choice), n < capacity ? n : capacity);
	uint64_t tail = choice[0] >> 4;
	struct ring r = {.data = bytes,
			 .size = capacity,
			 .tail = tail,
			 .head = tail + choice[1] % (capacity + 16),
			 .copy = copy,
			 .registers = REGISTER_COUNT};
	read_all(&r);
	free(bytes);
	free(copy);
}
