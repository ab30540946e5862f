#include "profile/store_evidence.h"

#include <string.h>

static double get(const struct column *c, const void *field)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_BOOL: return *(const bool *)field;
	case COLUMN_U32: return *(const uint32_t *)field;
	case COLUMN_COUNT: return (double)*(const uint64_t *)field;
	default: return *(const double *)field;
	}
}

static void set(const struct column *c, void *field, double value)
{
	switch ((enum column_kind)c->kind) {
	case COLUMN_BOOL: *(bool *)field = value > 0; break;
	case COLUMN_U32: *(uint32_t *)field = value < UINT32_MAX ? (uint32_t)value : 0; break;
	case COLUMN_COUNT: *(uint64_t *)field = (uint64_t)value; break;
	default: *(double *)field = value;
	}
}

uint32_t store_numbers_of(const struct evidence *e, struct store_number out[STORE_NUMBERS])
{
	if (!evidence_exists(e))
		return 0;
	for (int i = 0; i < STORE_NUMBERS; i++) {
		const struct column *c = &store_numbers[i];
		out[i] = (struct store_number){c->name,
					       get(c, (const uint8_t *)&e->run + c->offset)};
	}
	return STORE_NUMBERS;
}

/* Far above all real values, and exact both as a double and as an integer. */
static const double max_number = 1e15;

bool store_take_number(struct evidence_run *run, const struct store_number *n)
{
	if (!(n->value >= 0 && n->value < max_number))
		return false;
	for (const struct column *c = store_numbers; c < store_numbers + STORE_NUMBERS; c++)
		if (!strcmp(n->name, c->name)) {
			set(c, (uint8_t *)run + c->offset, n->value);
			return true;
		}
	return false;
}
