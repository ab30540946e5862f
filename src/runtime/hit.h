/* One hit of a probe, and the parts of the runtime that it goes through. */
#pragma once
#include "runtime/region.h"

/* Passed by value to inlined functions, so that on the fast path it stays in registers. */
struct hit {
	const struct rt_probe *probe;
	const struct probe_frame *frame;
	struct rt_area *area;
	const struct rt_subject *subject;
	uint64_t cfa;
	bool own; /* on the thread's own stack */
};

/* Called by the stubs. */
void rt_hit(const struct rt_probe *probe, const struct probe_frame *frame);
struct rt_area *rt_find(void);
void rt_trap(int signal, const void *info, void *context);

/* thread.c: the area of a thread whose entry is not at its home in the table. */
struct rt_area *thread_find(uint64_t pointer);

struct readings;
/* activation.c; `r` is working space. */
void enter(const struct hit *h, struct readings *r);
/* False if the subject was not active. */
bool leave(const struct hit *h, struct readings *r);
/* Whether the hit's subject is active in the hit's frame. */
bool is_active(const struct hit *h);

/* raw.c: records the path of a hit that cannot be walked; 0: no room. */
uint32_t raw_path(const struct hit *h);
/* path.c: the paths without frames. */
uint32_t path_of_subject(const struct hit *h);
uint32_t path_unknown(const struct hit *h);

/* A path that is being assembled after the last one. */
struct draft {
	struct rt_path *path;
	uint32_t count, room; /* frames */
	uint32_t parent;
	uint64_t hash;
	uint64_t raw;
	bool complete;
};
/* False if there is no room. */
bool draft_start(struct draft *d, struct rt_area *a);
/* The equal path that the area has already; 0: there is none. */
uint32_t draft_find(struct draft *d, const struct hit *h);
/* The same, or the draft made a path of the area; 0: no room. */
uint32_t draft_finish(struct draft *d, const struct hit *h);

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * RT_HASH_FACTOR;
	return hash ^ hash >> 29;
}

/* clock.c: readings of metrics that are not inline. */
uint64_t read_cpu_slowly(struct rt_area *a);
uint64_t read_page_anew(struct rt_area *a);
uint64_t read_event(struct rt_area *a, unsigned i);

/* The system call that follows an RT_BLOCK. */
static inline struct program_call program_call(const struct rt_probe *probe,
					       const struct probe_frame *frame)
{
	return probe->constant ? frame_passed_call(frame) : frame_call(frame);
}

/* wait.c */
void block(const struct hit *h);
void block_done(const struct hit *h);
void wait(const struct hit *h);
void wait_done(const struct hit *h);

/* made.c */
void note_made(const struct rt_probe *probe, const struct probe_frame *frame);

/* report.c */
void count_target(const struct hit *h);
void rendezvous(const struct rt_probe *probe);
bool tracer_is_alive(void);

/* Steps: see enum rt_step_kind. */
static inline int64_t step_offset(uint64_t step)
{
	return (int64_t)(step << (64 - RT_STEP_LINK_BIT)) >>
	       (64 - RT_STEP_LINK_BIT + RT_STEP_CFA_BIT) << 3;
}

static inline uint64_t step_below_link(uint64_t step)
{
	return (step >> RT_STEP_LINK_BIT & RT_STEP_BELOW_MAX) * 8;
}

static inline uint64_t step_below_fp(uint64_t step)
{
	return (step >> RT_STEP_FP_BIT & RT_STEP_BELOW_MAX) * 8;
}

/* The CFA; 0 if unknown. */
static inline uint64_t step_cfa(uint64_t step, uint64_t sp, uint64_t fp)
{
	unsigned kind = step & RT_STEP_KIND_MASK;
	if (likely(kind == RT_STEP_SP))
		return sp + (uint64_t)step_offset(step);
	return kind == RT_STEP_FP ? fp + (uint64_t)step_offset(step) : 0;
}
