/* Records of a perf ring, out of its bytes alone: no system call, so that any bytes can be tried.
 *
 *	  tail            head                  the kernel writes at head, we read at tail; both
 *	   v               v                    only grow, and the place in the bytes is their
 *	.. |rec|record|rec| ................    remainder. A record is a multiple of 8 bytes and may
 *	                                        run over the end: then it is read from a copy.
 *
 * All records are of events with sample_type RING_SAMPLE_TYPE and sample_id_all. Nothing in the
 * bytes is believed: what does not fit together ends the reading of this filling. */
#pragma once
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RING_SAMPLE_TYPE = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			   PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			   PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	RECORD_MAX = 1 << 16,
};

struct ring {
	const uint8_t *data;  /* aligned to 8 */
	uint64_t size;        /* a power of two, at least 8 */
	uint64_t tail, head;  /* what there is to read */
	uint8_t *copy;        /* RECORD_MAX bytes, aligned to 8 */
	unsigned registers;   /* in each sample: bits in sample_regs_user */
	const uint8_t *bytes; /* of the current record, in one piece */
	uint64_t next;        /* tail once it is done with */
	bool broken;          /* bytes were found that are no record */
};

/* Which fields have a meaning depends on the type. Pointers lead into the ring or its copy. */
struct record {
	uint32_t type; /* PERF_RECORD_* */
	uint16_t misc;
	int pid, tid;
	int by; /* the thread that ran when it was written */
	uint64_t time, id;

	/* SAMPLE */
	uint64_t ip, period;
	const uint64_t *returns; /* return addresses by frame pointers, of user code */
	uint32_t return_count;
	const uint64_t *registers; /* NULL if the thread was not in 64-bit user code */
	const uint8_t *stack;
	size_t stack_size, stack_room; /* less than was asked for if a page was not there */
	/* MMAP2 */
	uint64_t start, length, offset, inode;
	uint32_t device_major, device_minor;
	/* MMAP2 the path, COMM the name */
	const char *text;
	/* FORK and EXIT, where pid and tid are those of the child or the one that ends */
	int parent_pid, parent_tid;
	/* LOST, LOST_SAMPLES */
	uint64_t lost;
};

/* Reads the record at tail, if there is one; ring_done() then moves tail behind it. Types that are
 * not known, or whose inside makes no sense, are passed over. */
bool ring_next(struct ring *r, struct record *out);
void ring_done(struct ring *r);

/* Copies the record that ring_next() found to aligned memory with room for all of it, without the
 * room for the stack that was not needed. Returns its size there. */
size_t ring_copy_record(const struct ring *r, const struct record *rec, uint8_t *to);
