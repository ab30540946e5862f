// Keys of a map are made anew each time: most of its time goes to operator new and delete.
#include "victim.h"

#include <map>
#include <string>

static uint64_t first;

OWN static uint64_t count_keys(int seed)
{
	std::map<std::string, int> seen;
	for (int i = 0; i < 100; i++) /* hot: count */
		seen[std::string(40, (char)('a' + i % 26)) += std::to_string(seed + i * 7)]++;
	return seen.size();
}

int main(int argc, char **argv)
{
	begin(argc, argv);
	while (running()) /* hot: main */
		same(&first, count_keys(17));
	finish("strings");
}
