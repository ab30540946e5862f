// A lock within an object on the heap.
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "victim.h"

static uint64_t first, waited, held;

class Account {
public:
	uint64_t deposit(uint64_t x);

private:
	uint64_t audit(uint64_t x);
	std::mutex lock;
};

OWN uint64_t Account::audit(uint64_t x)
{
	for (int i = 0; i < 2500000; i++) /* hot: audit */
		STIR(x);
	return x;
}

OWN uint64_t Account::deposit(uint64_t x)
{
	TIME_OF(waited, lock.lock());
	CPU_OF(held, x = audit(x));
	lock.unlock();
	for (int i = 0; i < 60000; i++)
		STIR(x);
	return x;
}

static void customer(Account *account)
{
	while (running()) /* hot: customer */
		same(&first, account->deposit(7));
}

int main(int argc, char **argv)
{
	enum { THREADS = 3 };
	begin(argc, argv);
	auto account = std::make_unique<Account>();
	std::vector<std::thread> all;
	for (int i = 0; i < THREADS; i++)
		all.emplace_back(customer, account.get());
	for (auto &t : all)
		t.join();
	finish("heap_mutex");
	tell("sync", "deposit", waited, elapsed() * THREADS);
	tell_cpu("audit", held);
}
