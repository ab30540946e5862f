/* Room for fragments near the code they serve. */
#pragma once
#include "probe/code/codespace.h"

/* Room for next_room bytes within reach of the site's procedure, if there is any. */
int code_memory_take(struct target *t, struct site *site, bool *taken, struct err *e);
void code_memory_drop_next(struct target *t, struct site *site);
void code_memory_trim_next(struct target *t, struct site *site);
/* Out of use, but a thread may still be in it; and when none is in any such memory. */
void code_memory_retire(struct target *t, struct site *site);
void code_memory_reclaim(struct target *t);
