// Range-for, iterators and containers: the condition and the step are inlined calls from the library.
#include <cstdio>
#include <cstdlib>
#include <list>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "loop.h"

NOINLINE unsigned range_for(const std::vector<unsigned> &v)
{
	unsigned sum = 0;

	for (unsigned x : v) { LOOP(range_for, 1);
		sum = sum * 3 + x;
	}
	return sum;
}

NOINLINE unsigned by_iterator(std::vector<unsigned> &v)
{
	unsigned sum = 0;

	for (auto it = v.begin(); it != v.end(); ++it) { LOOP(by_iterator, 1);
		*it += sum;
		sum ^= *it;
	}
	return sum;
}

NOINLINE unsigned by_index(const std::vector<unsigned> &v)
{
	unsigned sum = 0;

	for (size_t i = 0; i < v.size(); i++) { LOOP(by_index, 1);
		sum += v[i] * unsigned(i);
	}
	return sum;
}

NOINLINE unsigned over_list(const std::list<unsigned> &l)
{
	unsigned sum = 0;

	for (unsigned x : l) { LOOP(over_list, 1);
		sum = sum * 5 + x;
	}
	return sum;
}

NOINLINE unsigned over_map(const std::map<unsigned, unsigned> &m)
{
	unsigned sum = 0;

	for (const auto &[key, value] : m) { LOOP(over_map, 1);
		sum += key ^ value;
	}
	return sum;
}

NOINLINE unsigned nested_ranges(const std::vector<std::vector<unsigned>> &rows)
{
	unsigned sum = 0;

	for (const auto &row : rows) { LOOP(rows, 1);
		for (unsigned x : row) { LOOP(columns, 2);
			sum = sum * 7 + x;
		}
		sum++;
	}
	return sum;
}

NOINLINE unsigned characters(const std::string &s)
{
	unsigned hash = 5381;

	for (char c : s) { LOOP(characters, 1);
		hash = hash * 33 ^ static_cast<unsigned char>(c);
	}
	return hash;
}

NOINLINE unsigned backwards(const std::vector<unsigned> &v)
{
	unsigned sum = 1;

	for (auto it = v.rbegin(); it != v.rend(); ++it) { LOOP(backwards, 1);
		if (*it % 11 == 3)
			break;
		sum = sum * 3 + *it;
	}
	return sum;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? unsigned(atoi(argv[1])) : 40;
	std::vector<unsigned> v;
	std::list<unsigned> l;
	std::map<unsigned, unsigned> m;
	std::vector<std::vector<unsigned>> rows;

	for (unsigned i = 0; i < n; i++) { LOOP(fill, 1);
		v.push_back(i * i);
		l.push_back(i * 3);
		m[i * 7 % 13] += i;
	}
	for (unsigned i = 0; i < n / 4; i++) { LOOP(fill_rows, 1);
		rows.emplace_back(i, i + 1);
	}
	unsigned sum = range_for(v) + by_iterator(v) + by_index(v) + over_list(l) + over_map(m);
	sum += nested_ranges(rows) + characters(std::string(n, 'x')) + backwards(v);
	printf("%u\n", sum);
	return 0;
}
