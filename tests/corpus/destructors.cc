// Objects that are destroyed in loops: landing pads that clean up and go on unwinding.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "loop.h"

static unsigned live;

struct guard {
	unsigned *count;
	explicit guard(unsigned *c) : count(c) { ++*count; }
	~guard() { --*count; }
	guard(const guard &) = delete;
};

struct noisy {
	std::string text;
	explicit noisy(unsigned n) : text(n % 40, 'n') {}
	NOINLINE ~noisy() { live += unsigned(text.size()); }
};

NOINLINE unsigned work(unsigned x)
{
	if (x == 0xffffffff)
		throw 1;
	return x * 7 + live;
}

NOINLINE unsigned guarded(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(guarded, 1);
		guard g(&live);
		sum += work(i);
	}
	return sum;
}

NOINLINE unsigned strings(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(strings, 1);
		std::string s(i, 'a');
		s += std::to_string(work(i));
		sum = sum * 3 + unsigned(s.size());
	}
	return sum;
}

NOINLINE unsigned nested_objects(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(objects_outer, 1);
		noisy a(i);
		for (unsigned j = 0; j < i; j++) { LOOP(objects_inner, 2);
			noisy b(j);
			if (work(j) % 13 == 5)
				break;
			sum += unsigned(b.text.size());
		}
		sum ^= work(i);
	}
	return sum;
}

NOINLINE unsigned owners(unsigned n)
{
	std::vector<std::unique_ptr<noisy>> all;
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(owners_make, 1);
		all.push_back(std::make_unique<noisy>(i));
		if (i % 4 == 3)
			all.pop_back();
	}
	while (!all.empty()) { LOOP(owners_drop, 1);
		auto last = std::move(all.back());
		all.pop_back();
		sum = sum * 3 + work(unsigned(last->text.size()));
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? unsigned(atoi(argv[1])) : 18;
	unsigned sum = guarded(n) + strings(n) + nested_objects(n) + owners(n);

	printf("%u %u\n", sum, live);
	return 0;
}
