#include "diagnose/ledger.h"

void ledger_release(struct ledger *l)
{
	vec_free(&l->list);
	hashmap_release(&l->index);
	hashmap_release(&l->first);
}

static struct ledger_entry *entry_of(struct ledger *l, uint32_t part, uint32_t thread,
				     uint32_t object)
{
	const uint32_t key[] = {part, thread, object};
	uint32_t next = l->list.len;
	uint32_t at = hashmap_add(&l->index, hash_bytes(key, sizeof(key), 0), next);
	if (at == next) {
		vec_push(&l->list, (struct ledger_entry){.part = part,
							 .thread = thread,
							 .object = object,
							 .next = hashmap_get(&l->first, part)});
		hashmap_put(&l->first, part, next);
	}
	return &l->list.data[at];
}

void ledger_add(struct ledger *l, uint32_t part, uint32_t thread, uint32_t object, enum amount what,
		double amount)
{
	entry_of(l, part, thread, object)->amount[what] += amount;
}
