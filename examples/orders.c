/* Clerks take orders from a warehouse: each order books some items out of the stock, and gets an
 * invoice with a checksum. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { CLERKS = 4, ORDERS = 2000, KINDS = 64, LINES = 12 };

struct invoice {
	int order;
	int kind[LINES], amount[LINES];
	uint32_t checksum;
};

static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
static int stock[KINDS];
static int next_order, out_of_stock;
static uint32_t all_checksums;

/* A slow one, bit by bit, over all that is printed. */
uint32_t checksum(const struct invoice *v)
{
	uint32_t sum = ~0u;
	for (int copy = 0; copy < 4000; copy++)
		for (int i = 0; i < LINES; i++) {
			sum ^= (uint32_t)(v->kind[i] << 16 ^ v->amount[i]);
			for (int bit = 0; bit < 32; bit++)
				sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
		}
	return ~sum;
}

void choose_items(struct invoice *v)
{
	uint32_t seed = (uint32_t)v->order * 2654435761u;
	for (int round = 0; round < 20000; round++)
		for (int i = 0; i < LINES; i++) {
			seed = seed * 1664525u + 1013904223u;
			v->kind[i] = (int)(seed >> 26);
			v->amount[i] = (int)(seed >> 20 & 7);
		}
}

/* Takes the items out of the stock and makes the invoice out. False if something is not there. */
int book(struct invoice *v)
{
	int there = 1;
	pthread_mutex_lock(&stock_lock);
	for (int i = 0; i < LINES; i++)
		there &= stock[v->kind[i]] >= v->amount[i];
	for (int i = 0; there && i < LINES; i++)
		stock[v->kind[i]] -= v->amount[i];
	v->checksum = checksum(v);
	all_checksums ^= v->checksum;
	pthread_mutex_unlock(&stock_lock);
	return there;
}

static void *clerk(void *unused)
{
	struct invoice v;
	while ((v.order = __atomic_fetch_add(&next_order, 1, __ATOMIC_RELAXED)) < ORDERS) {
		choose_items(&v);
		if (!book(&v))
			__atomic_fetch_add(&out_of_stock, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

int main(void)
{
	pthread_t clerks[CLERKS];
	for (int i = 0; i < KINDS; i++)
		stock[i] = 100000;
	for (int i = 0; i < CLERKS; i++)
		pthread_create(&clerks[i], NULL, clerk, NULL);
	for (int i = 0; i < CLERKS; i++)
		pthread_join(clerks[i], NULL);
	printf("%d orders, %d not booked, checksum %08x\n", ORDERS, out_of_stock,
	       (unsigned)all_checksums);
	return 0;
}
