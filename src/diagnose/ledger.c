#include "diagnose/ledger.h"

void ledger_release(struct ledger *l)
{
	vec_free(&l->list);
	hashmap_release(&l->index);
	hashmap_release(&l->first);
	vec_free(&l->steps);
	hashmap_release(&l->step_at);
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

void ledger_step(struct ledger *l, uint32_t part, uint32_t thread, enum step_amount what,
		 double amount)
{
	uint32_t next = l->steps.len;
	uint32_t at = hashmap_add(&l->step_at, (uint64_t)part << 32 | thread, next);
	if (at == next)
		vec_push(&l->steps, (struct ledger_step){.part = part, .thread = thread});
	l->steps.data[at].amount[what] += amount;
}

void ledger_settle(struct ledger *l, const struct ledger_rate *rates)
{
	vec_each (s, &l->steps) {
		double wall = s->amount[STEP_WALL], waited = s->amount[STEP_WAITED];
		waited = waited < wall ? waited : wall;
		double cpu = (wall - waited) * rates[s->thread].running +
			     waited * rates[s->thread].waiting;
		if (cpu > 0)
			ledger_add(l, s->part, s->thread, LEDGER_NONE, AMOUNT_CPU, cpu);
	}
	vec_clear(&l->steps);
	hashmap_clear(&l->step_at);
}
