// The C++ library's sort: of numbers, of numbers in an order of our own, and of strings. usage:
// sort COUNT
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

int main(int argc, char **argv)
{
	std::size_t count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1000;
	std::vector<unsigned> numbers(count);
	std::vector<std::string> texts;
	unsigned x = 1, sum = 0;
	for (auto &n : numbers) {
		x = x * 1103515245 + 12345;
		n = x >> 4;
	}
	for (std::size_t i = 0; i < count / 4; i++)
		texts.push_back("item " + std::to_string(numbers[i]));
	std::sort(numbers.begin(), numbers.end());
	std::sort(numbers.begin(), numbers.end(), [](unsigned a, unsigned b) {
		return a % 1000 < b % 1000 || (a % 1000 == b % 1000 && a < b);
	});
	std::sort(texts.begin(), texts.end());
	for (auto n : numbers)
		sum = sum * 31 + n;
	for (const auto &t : texts)
		sum = sum * 31 + static_cast<unsigned>(t.back());
	std::printf("%u\n", sum);
	return 0;
}
