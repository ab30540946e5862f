#include "callpath/held.h"

#include <string.h>

#include "base/clock.h"
#include "process/memory.h"

enum {
	COMPARED_BYTES = 512, /* at the end of a copy: some return addresses are among them */
	READ_BYTES = 1 << 18, /* in one read */
};

void held_release(struct held_stacks *h)
{
	for (unsigned i = 0; i < HELD_STACKS; i++) {
		deep_release(&h->all[i].deep);
		vec_free(&h->all[i].bytes);
	}
}

struct held_stack *held_find(struct held_stacks *h, int pid, int tid)
{
	struct held_stack *oldest = &h->all[0];
	for (unsigned i = 0; i < HELD_STACKS; i++) {
		struct held_stack *s = &h->all[i];
		if (s->pid == pid && s->tid == tid)
			return s;
		if (s->time < oldest->time)
			oldest = s;
	}
	deep_release(&oldest->deep);
	oldest->pid = pid;
	oldest->tid = tid;
	oldest->time = 0;
	return oldest;
}

void held_read(struct held_stack *s, uint64_t from)
{
	size_t more;
	s->address = from & ~(uint64_t)7;
	s->size = 0;
	do {
		vec_reserve(&s->bytes, (uint32_t)(HELD_ROOM + s->size + READ_BYTES));
		more = memory_read(s->pid, s->address + s->size,
				   s->bytes.data + HELD_ROOM + s->size, READ_BYTES);
		s->size += more;
	} while (more == READ_BYTES && s->size < DEEP_MAX);
	s->time = now_ns();
}

/* The held byte at an address. */
static uint8_t *byte_at(const struct held_stack *s, uint64_t address)
{
	return s->bytes.data + (HELD_ROOM + (address - s->address));
}

bool held_matches(const struct held_stack *s, const struct stack_copy *copy)
{
	size_t n = copy->size < COMPARED_BYTES ? copy->size : COMPARED_BYTES;
	uint64_t end = copy->address + copy->size, from = end - n;
	return n && copy->size <= HELD_ROOM && from >= s->address && end - s->address <= s->size &&
	       !memcmp(byte_at(s, from), copy->bytes + copy->size - n, n);
}

/* During the walk, the copy replaces the held bytes at its addresses, so that the walk reads one
 * contiguous stack. */
void held_walk(struct held_stacks *h, struct held_stack *s, const struct stack_copy *copy,
	       struct walker *w, struct space *space, struct walk *out)
{
	uint8_t *at = byte_at(s, copy->address);
	const struct stack_copy all = {
		.address = copy->address,
		.bytes = at,
		.size = (size_t)(s->address + s->size - copy->address),
	};
	memcpy(h->saved, at, copy->size);
	memcpy(at, copy->bytes, copy->size);
	deep_walk(&s->deep, w, space, &all, copy->size, out);
	memcpy(at, h->saved, copy->size);
}
