/* Memory for fragments, near the code they replace. */
#pragma once
#include "probe/code/codespace.h"

/* Takes next_room bytes within reach of the site's function. Sets *taken to whether there was
 * room. */
int code_memory_take(struct target *t, struct site *site, bool *taken, struct err *e);
/* Gives back all of the next fragment's memory, or the part that it does not need. */
void code_memory_drop_next(struct target *t, struct site *site);
void code_memory_trim_next(struct target *t, struct site *site);
/* code_memory_retire() retires the site's fragment: it is out of use, but a thread may still be in
 * it. code_memory_reclaim() gives back all retired memory. No thread may be in it. */
void code_memory_retire(struct target *t, struct site *site);
void code_memory_reclaim(struct target *t);
