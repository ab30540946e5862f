#include "profile/rank.h"

#include <string.h>

#include "base/alloc.h"
#include "base/order.h"
#include "base/vec.h"

struct ranked_item {
	uint64_t amount;
	uint32_t number;
};

uint32_t *rank_by_amount(const void *items, uint32_t count, size_t item_size, size_t offset)
{
	struct ranked_item *r = xmalloc((count + (size_t)1) * sizeof(*r));
	uint32_t *out = xmalloc((count + (size_t)1) * sizeof(*out));
	for (uint32_t i = 0; i < count; i++) {
		r[i].number = count - 1 - i;
		memcpy(&r[i].amount, (const char *)items + r[i].number * item_size + offset,
		       sizeof(r[i].amount));
	}
	order_by_address(r, count, sizeof(*r), offsetof(struct ranked_item, amount));
	for (uint32_t i = 0; i < count; i++)
		out[i] = r[i].number;
	free(r);
	return out;
}
