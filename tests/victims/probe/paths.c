/* Known call paths with known counts, seen from victim_paths. */
#include "victim.h"

KEEP u64 path_leaf(u64 x)
{
	CALLED("path_leaf");
	return mix(x);
}

KEEP u64 path_a(u64 x, unsigned from_b)
{
	u64 y = 0;
	if (from_b)
		PATH("victim_paths;path_b;path_a");
	else
		PATH("victim_paths;path_a");
	for (u64 i = 0; i < x % 5; i++) {
		if (from_b)
			PATH("victim_paths;path_b;path_a;path_leaf");
		else
			PATH("victim_paths;path_a;path_leaf");
		y += path_leaf(x + i);
	}
	return y;
}

KEEP u64 path_b(u64 x)
{
	PATH("victim_paths;path_b;path_leaf");
	return path_a(x, 1) + path_leaf(x);
}

KEEP u64 path_down(u64 x, unsigned depth)
{
	switch (depth) {
	case 0: PATH("victim_paths;path_down"); break;
	case 1: PATH("victim_paths;path_down;path_down"); break;
	case 2: PATH("victim_paths;path_down;path_down;path_down"); break;
	default: break;
	}
	u64 y = depth < x % 3 ? path_down(x, depth + 1) * 3 : x;
	BARRIER();
	return y + 1;
}

typedef u64 (*one)(u64);
static one volatile pointer = path_leaf;

KEEP u64 path_pointer(u64 x)
{
	PATH("victim_paths;path_pointer;path_leaf");
	u64 y = pointer(x);
	BARRIER();
	return y + 1;
}

/* The one in the middle is gone when the leaf is called, if it was optimised. */
KEEP u64 path_through(u64 x)
{
	return path_leaf(x + 3);
}

KEEP u64 path_tail(u64 x)
{
	PATH("victim_paths;path_tail;path_leaf");
	u64 y = path_through(x);
	BARRIER();
	return y + 1;
}

u64 victim_paths(void)
{
	u64 sum = 0;
	for (u64 i = 0; i < 100; i++) {
		sum += path_a(i, 0);
		sum ^= path_b(i) + path_b(i + 1);
		sum += path_down(i, 0);
		sum ^= path_pointer(i);
		sum += path_tail(i);
		PATH("victim_paths;path_leaf");
		sum += path_leaf(i);
	}
	return sum;
}
