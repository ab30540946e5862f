/* What planning has to know of an image as a whole, found when it is first needed. */
#pragma once
#include "flow/private.h"
#include "patch/intrusions.h"
#include "probe/code/codespace.h"

struct image_facts *image_facts_new(void);
void image_facts_free(struct image_facts *f);

/* Jumps into the middle of procedures matter where a patch overwrites several instructions, and
 * where moved code relies on what it has done at the procedure's entry; finding them means looking
 * at all code of the image. NULL: they do not matter. */
const struct intrusions *intrusions_of(struct shared *s, const struct site *site);
/* Registers that carry nothing into the site's procedure or out of it. */
struct regset private_registers_of(struct shared *s, const struct site *site);
/* Finds them for all procedures of the image, which are discovered for that. */
void private_registers_find(struct shared *s, const struct code *code);
/* Whether that was done: the image is one that is counted. */
bool private_registers_known(const struct shared *s, const struct code *code);
