// Exceptions through several frames, with destructors on the way, rethrown, and caught by type.
#include <cstdio>
#include <stdexcept>

#include "victim.h"

volatile u64 opaque;

namespace
{

u64 sum;

struct guard {
	u64 id;
	explicit guard(u64 n) : id(n) {}
	SEPARATE ~guard() { sum = mix(sum, id); }
};

struct base {
	virtual ~base() = default;
	virtual u64 act(u64 n) = 0;
};

SEPARATE u64 fall(u64 n)
{
	guard here(n);
	if (!n)
		throw std::runtime_error("bottom");
	return fall(n - 1) + here.id;
}

struct thrower : base {
	SEPARATE u64 act(u64 n) override
	{
		guard here(n + 100);
		if (n & 1)
			throw static_cast<int>(n);
		return fall(n);
	}
};

struct quiet : base {
	SEPARATE u64 act(u64 n) override { return n + opaque; }
};

SEPARATE u64 rethrowing(base &b, u64 n)
{
	try {
		guard here(n + 200);
		return b.act(n);
	} catch (int value) {
		sum = mix(sum, static_cast<u64>(value));
		throw;
	}
}

SEPARATE u64 catching(base &b, u64 n)
{
	try {
		return rethrowing(b, n);
	} catch (const std::exception &e) {
		return static_cast<u64>(e.what()[0]);
	} catch (...) {
		return 7;
	}
}

} // namespace

int main()
{
	thrower t;
	quiet q;
	base *const objects[] = {&q, &t};
	for (u64 i = 0; i < 3; i++)
		sum = mix(sum, catching(*objects[i != 0], i + opaque));
	std::printf("exceptions %016llx\n", static_cast<unsigned long long>(sum));
	return 0;
}
