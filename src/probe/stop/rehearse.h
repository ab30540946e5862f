/* Getting ready for a stop. */
#pragma once
#include "probe/region/target.h"

/* Opens and analyses the code that the threads of a process are in, which stops walk through. The
 * process must be traced and run; it is stopped for no longer than it takes to read registers. */
void stop_rehearse(struct target *t);
