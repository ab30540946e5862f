/* Exceptions through frames with and without destructors, caught near and far, thrown again, out of
 * loops and out of constructors. */
#include <stdexcept>
#include <string>

#include "victim.h"

struct Held {
	u64 *to;
	explicit Held(u64 *where) : to(where) {}
	~Held() { *to = *to * 3 + 1; }
};

extern "C" KEEP u64 throw_number(u64 x)
{
	CALLED("throw_number");
	if (x % 3 == 0)
		throw x;
	LEFT("throw_number");
	return mix(x);
}

extern "C" KEEP u64 throw_middle(u64 x, u64 *log)
{
	CALLED("throw_middle");
	Held held(log);
	u64 y = throw_number(x) + throw_number(x + 1);
	LEFT("throw_middle");
	return y;
}

extern "C" KEEP u64 throw_plain(u64 x, u64 *log)
{
	CALLED("throw_plain");
	u64 y = throw_middle(x, log) + 5;
	LEFT("throw_plain");
	return y;
}

extern "C" KEEP u64 throw_again(u64 x, u64 *log)
{
	CALLED("throw_again");
	u64 y;
	try {
		y = throw_plain(x, log);
	} catch (u64 value) {
		*log += value;
		if (value % 2)
			throw std::runtime_error("odd " + std::to_string(value));
		y = value;
	}
	LEFT("throw_again");
	return y;
}

/* Left by an exception in the middle of an iteration, caught inside it or outside. */
extern "C" KEEP u64 throw_in_loop(u64 n, u64 *log)
{
	CALLED("throw_in_loop");
	u64 x = 0;
	ENTERED("throw_in_loop@1");
	do {
		ITERATED("throw_in_loop@1");
		try {
			x += throw_again(n, log);
		} catch (const std::runtime_error &e) {
			x ^= std::string(e.what()).size();
		}
		BARRIER();
	} while (--n);
	return x + throw_number(n + 1);
}

/* Exceptions from inside the loop arrive where those from before and behind it do. */
extern "C" KEEP u64 throw_shared(u64 n, u64 *log)
{
	CALLED("throw_shared");
	Held held(log);
	u64 x = throw_number(n + 1), left = n % 5 + 1;
	ENTERED("throw_shared@1");
	do {
		ITERATED("throw_shared@1");
		bool last = left == 1, thrown = (n + left) % 3 == 0;
		TRUTH("ended", "throw_shared@1", 1);
		if (last || thrown)
			TRUTH("exited", "throw_shared@1", 1);
		x += throw_number(n + left);
	} while (--left);
	x += throw_number(n + 2);
	LEFT("throw_shared");
	return x;
}

struct Part {
	u64 value;
	Part(u64 x, u64 *log) : value(throw_middle(x, log)) {}
};

struct Whole {
	Held held;
	Part first, second;
	Whole(u64 x, u64 *log) : held(log), first(x, log), second(x + 2, log) {}
};

extern "C" u64 victim_exceptions(void)
{
	u64 sum = 0, log = 0;
	for (u64 i = 1; i < 20; i++) {
		try {
			sum += throw_in_loop(i, &log);
			sum ^= throw_again(i * 7, &log);
		} catch (const std::exception &e) {
			sum = sum * 5 + (u64)e.what()[4];
		}
		try {
			sum += throw_shared(i, &log);
		} catch (u64 value) {
			sum = sum * 11 + value;
		}
		try {
			Whole whole(i, &log);
			sum += whole.first.value ^ whole.second.value;
		} catch (u64 value) {
			sum ^= value << 9;
		}
	}
	return sum ^ log;
}
