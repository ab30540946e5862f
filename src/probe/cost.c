/* What probes cost: hits of each kind times the cost of one. */
#include <stdlib.h>

#include "probe/readings.h"
#include "probe/target.h"

struct engine_cost engine_cost(struct engine *g, struct target *t)
{
	(void)g;
	(void)t;
	return (struct engine_cost){0};
}
