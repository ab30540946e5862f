// Templates, lambdas handed to library algorithms, and loops that exist once per instance.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <vector>

#include "loop.h"

template <typename T> NOINLINE T total(const std::vector<T> &v)
{
	T sum = 0;

	for (const T &x : v) { LOOP(total, 1);
		sum = T(sum * T(3)) + x;
	}
	return sum;
}

template <int Depth> struct nest {
	template <typename F> static inline __attribute__((always_inline)) void run(unsigned n, F &&f)
	{
		for (unsigned i = 0; i < n; i++) { LOOP(nest, 1);
			nest<Depth - 1>::run(n - i, f);
		}
	}
};

template <> struct nest<0> {
	template <typename F> static inline __attribute__((always_inline)) void run(unsigned n, F &&f)
	{
		f(n);
	}
};

NOINLINE unsigned nested_templates(unsigned n)
{
	unsigned sum = 0;

	nest<3>::run(n, [&](unsigned x) { sum = sum * 3 + x; });
	return sum;
}

template <typename F> static inline __attribute__((always_inline)) void repeat(unsigned n, F f)
{
	for (unsigned i = 0; i < n; i++) { LOOP(repeat, 1);
		f(i);
	}
}

NOINLINE unsigned with_lambda(unsigned n)
{
	unsigned sum = 0;

	repeat(n, [&](unsigned i) { /*BODY*/
		for (unsigned k = i; k > 0; k /= 2) { LOOP(lambda, 1);
			sum = sum * 5 + k;
		}
	});
	return sum;
}

NOINLINE unsigned sorted(std::vector<unsigned> v)
{
	unsigned sum = 0;

	std::sort(v.begin(), v.end(), [](unsigned a, unsigned b) { return a % 64 < b % 64 || (a % 64 == b % 64 && a < b); });
	for (size_t i = 0; i < v.size(); i += 2) { LOOP(sorted, 1);
		sum = sum * 7 + v[i];
	}
	return sum;
}

NOINLINE unsigned in_algorithm(const std::vector<unsigned> &v)
{
	unsigned sum = 0;

	std::for_each(v.begin(), v.end(), [&](unsigned x) { /*BODY*/
		while (x > 3) { LOOP(in_algorithm, 1);
			sum += x & 5;
			x /= 3;
		}
	});
	return sum + std::accumulate(v.begin(), v.end(), 1u, [](unsigned a, unsigned b) { return a * 3 + b; });
}

struct shape {
	virtual ~shape() = default;
	virtual unsigned area(unsigned scale) const = 0;
};

struct square : shape {
	unsigned side;
	explicit square(unsigned s) : side(s) {}
	unsigned area(unsigned scale) const override { return side * side * scale; }
};

struct stripes : shape {
	unsigned count;
	explicit stripes(unsigned n) : count(n) {}
	unsigned area(unsigned scale) const override
	{
		unsigned sum = 0;
		for (unsigned i = 0; i < count; i++) { LOOP(stripes, 1);
			sum += i * scale ^ count;
		}
		return sum;
	}
};

NOINLINE unsigned virtual_calls(unsigned n)
{
	std::vector<shape *> shapes;
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++) { LOOP(make_shapes, 1);
		if (i % 3)
			shapes.push_back(new square(i));
		else
			shapes.push_back(new stripes(i));
	}
	for (shape *s : shapes) { LOOP(use_shapes, 1);
		sum = sum * 3 + s->area(n);
		delete s;
	}
	return sum;
}

NOINLINE unsigned through_function(const std::function<unsigned(unsigned)> &f, unsigned n)
{
	unsigned sum = 0;

	while (n > 0) { LOOP(through_function, 1);
		sum ^= f(n--);
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? unsigned(atoi(argv[1])) : 20;
	std::vector<unsigned> v;
	std::vector<double> d;
	std::vector<short> s;

	for (unsigned i = 0; i < n * 3; i++) { LOOP(fill, 1);
		v.push_back(i * 2654435761u);
		d.push_back(i * 0.25);
		s.push_back(short(i));
	}
	unsigned sum = total(v) + unsigned(total(s)) + nested_templates(n % 12) + with_lambda(n) + sorted(v);
	sum += in_algorithm(v) + virtual_calls(n) + through_function([n](unsigned x) { return x * n; }, n);
	printf("%u %.2e\n", sum, total(d));
	return 0;
}
