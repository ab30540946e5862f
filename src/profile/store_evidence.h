/* The table `evidence`: the fields of struct evidence_run as rows of a name and a number. */
#pragma once
#include "profile/evidence.h"
#include "profile/store_tables.h"

/* Makes the rows and returns how many there are: none if there is no evidence. */
uint32_t store_numbers_of(const struct evidence *e, struct store_number out[STORE_NUMBERS]);
/* Takes in a row; false: it makes no sense. */
bool store_take_number(struct evidence_run *run, const struct store_number *n);
