/* Parses the records of a perf ring. This uses its bytes alone, without system calls, so that tests
 * can try any bytes.
 *
 *	  tail           head
 *	   v              v
 *	.. |rec|record|rec| ................
 *
 * The kernel writes at head, we read at tail. Both only grow: the place in the bytes is their
 * remainder by the size. A record is a multiple of 8 bytes, and may run over the end: then it is
 * read from a copy.
 *
 * All records are of events with sample_type RING_SAMPLE_TYPE and sample_id_all. Nothing in the
 * bytes is trusted: an inconsistent record is skipped, and after an inconsistent header everything
 * up to head. */
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
	unsigned registers;   /* number in each sample: the bits in sample_regs_user */
	const uint8_t *bytes; /* of the current record, in one piece */
	uint64_t next;        /* tail after the current record */
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
	/* bytes that are filled, and room for them: less is filled if a page was not present */
	size_t stack_size, stack_room;
	/* MMAP2 */
	uint64_t start, length, offset, inode;
	uint32_t device_major, device_minor;
	/* MMAP2 the path, COMM the name */
	const char *text;
	/* FORK and EXIT: pid and tid are those of the child, or of the thread that ends */
	int parent_pid, parent_tid;
	/* LOST, LOST_SAMPLES */
	uint64_t lost;
};

/* Reads the record at tail, if there is one; ring_done() then moves tail past it. Records of
 * unknown types, or with inconsistent contents, are skipped. */
bool ring_next(struct ring *r, struct record *out);
void ring_done(struct ring *r);

/* Copies the record that ring_next() found, without the unfilled part of its stack. `to` is aligned
 * to 8 bytes, with room for the whole record. Returns the size of the copy. */
size_t ring_copy_record(const struct ring *r, const struct record *rec, uint8_t *to);
