/* Memory for fragments, near the code they replace. */
#pragma once
#include "probe/code/codespace.h"

/* Takes next_room bytes within reach of the site's function; *taken: whether there was room. */
int code_memory_take(struct target *t, struct site *site, bool *taken, struct err *e);
void code_memory_drop_next(struct target *t, struct site *site);
void code_memory_trim_next(struct target *t, struct site *site);
/* Retires the site's fragment: it is out of use, but a thread may still be in it. Reclaims all
 * retired memory, when no thread is in any. */
void code_memory_retire(struct target *t, struct site *site);
void code_memory_reclaim(struct target *t);
