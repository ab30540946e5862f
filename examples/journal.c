/* Accounts, with a journal: every payment is written down before it is made, so that nothing is
 * lost if the power fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { ACCOUNTS = 1000, SECONDS = 4 };

struct payment {
	int from, to, cents;
};

static long balance[ACCOUNTS];
static int journal;

static void open_journal(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	snprintf(path, sizeof(path), "%s/journal-%d", folder ? folder : "/tmp", (int)getpid());
	journal = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_APPEND, 0600);
	if (journal < 0) {
		perror(path);
		exit(1);
	}
	unlink(path);
}

static void write_down(const struct payment *p, long number)
{
	char line[80];
	int length = snprintf(line, sizeof(line), "%ld: %d -> %d %d.%02d\n", number, p->from, p->to,
			      p->cents / 100, p->cents % 100);
	if (write(journal, line, (size_t)length) != length || fsync(journal)) {
		perror("journal");
		exit(1);
	}
}

static struct payment next_payment(unsigned *seed)
{
	return (struct payment){rand_r(seed) % ACCOUNTS, rand_r(seed) % ACCOUNTS,
				rand_r(seed) % 100000};
}

/* What is paid by one is had by another: the sum stays zero. */
static int audit(void)
{
	long sum = 0;
	for (int i = 0; i < ACCOUNTS; i++)
		sum += balance[i];
	return sum == 0;
}

static void pay(const struct payment *p, long number)
{
	write_down(p, number);
	balance[p->from] -= p->cents;
	balance[p->to] += p->cents;
}

int main(void)
{
	unsigned seed = 1;
	long number = 0;
	int right = 1;
	time_t end = time(NULL) + SECONDS + 1;
	open_journal();
	for (; time(NULL) < end; number++) {
		struct payment p = next_payment(&seed);
		pay(&p, number);
		right &= audit();
	}
	printf("%ld payments, the books are %s\n", number, right ? "right" : "wrong");
	return 0;
}
