// Templates and the standard library, to keep a C++ compiler busy.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

template <int N> struct tower {
	std::map<std::string, std::vector<int>> levels;
	int climb(const std::string &s)
	{
		std::regex r("([a-z]+)([0-9]*)");
		std::smatch m;
		if (std::regex_match(s, m, r))
			levels[m[1]].push_back(N);
		return static_cast<int>(levels.size()) + below.climb(s + "a");
	}
	tower<N - 1> below;
};

template <> struct tower<0> {
	int climb(const std::string &s) { return static_cast<int>(s.size()); }
};

using value = std::variant<int, double, std::string, std::vector<int>>;

struct show {
	std::string operator()(int i) const { return std::to_string(i); }
	std::string operator()(double d) const { std::ostringstream o; o << d; return o.str(); }
	std::string operator()(const std::string &s) const { return s; }
	std::string operator()(const std::vector<int> &v) const { return std::to_string(v.size()); }
};

int main(int argc, char **argv)
{
	std::unordered_map<std::string, std::function<int(int)>> table;
	std::vector<value> values{argc, 2.5, std::string(argv[0]), std::vector<int>{1, 2, 3}};
	for (int i = 0; i < argc; i++)
		table.emplace(argv[i], [i](int x) { return x * i; });
	auto t = std::make_unique<tower<6>>();
	std::vector<std::string> texts;
	for (const auto &v : values)
		texts.push_back(std::visit(show(), v));
	std::sort(texts.begin(), texts.end(), std::greater<>());
	std::stable_sort(values.begin(), values.end());
	std::cout << std::accumulate(texts.begin(), texts.end(), std::string()) << t->climb("abc12") << '\n';
}
