/* The table `evidence`: the fields of struct evidence_run as rows of a name and a number. */
#pragma once
#include "profile/evidence.h"
#include "profile/store_tables.h"

/* Makes the rows and returns their number; 0 if there is no evidence. */
uint32_t store_numbers_of(const struct evidence *e, struct store_number out[STORE_NUMBERS]);
/* Sets the field that the row is for; false if the row is invalid. */
bool store_take_number(struct evidence_run *run, const struct store_number *n);
