/* Counts the targets of indirect calls, and signals Sonde. */
#include "runtime/hit.h"
#include "runtime/permit.h"

enum {
	TARGET_CHAIN = 64,  /* longest probe sequence */
	SIGNAL_URGENT = 23, /* SIGURG */
	CODE_QUEUE = -1,    /* SI_QUEUE */
	NOT_PERMITTED = -1, /* -EPERM */
	POLL_READABLE = 1,
};

static uint64_t register_of(const struct hit *h, uint8_t reg)
{
	return reg == RT_NO_REGISTER ? 0 : frame_register(h->frame, reg);
}

/* The target of the call. The memory is what the call itself is about to read. */
static uint64_t call_target(const struct hit *h)
{
	const struct rt_probe *p = h->probe;
	uint64_t at = p->constant + register_of(h, p->base) +
		      (register_of(h, p->index) << (p->shift & 63));
	return p->memory ? *(const uint64_t *)at : at;
}

void count_target(const struct hit *h)
{
	struct rt_target *table = area_at(h->area, RT_AREA_TARGETS);
	uint64_t site = h->probe->pc, target = call_target(h);
	uint64_t home = mix(site, target);
	for (uint64_t i = 0; i < TARGET_CHAIN; i++) {
		struct rt_target *t = &table[(home + i) % RT_TARGETS];
		if (t->site == site && t->target == target) {
			t->count++;
			return;
		}
		if (!t->site) {
			t->target = target;
			t->count = 1;
			__atomic_store_n(&t->site, site, __ATOMIC_RELEASE);
			return;
		}
	}
	h->area->dropped++;
}

/* siginfo_t of a queued signal. */
struct queued {
	int32_t signal, error, code, pad;
	int32_t pid, uid;
	uint64_t value;
	uint64_t rest[12];
};
_Static_assert(sizeof(struct queued) == 128, "the kernel's siginfo_t");

struct poll_entry {
	int32_t fd;
	int16_t wanted, came;
};

/* A zombie can still be sent signals; its pidfd shows that it has ended. */
static bool has_ended(long pid)
{
	int64_t no_time[2] = {0, 0};
	long fd = system_call(__NR_pidfd_open, pid, 0, 0, 0, 0);
	if (fd < 0)
		return false;
	struct poll_entry entry = {(int32_t)fd, POLL_READABLE, 0};
	long ready = system_call(__NR_ppoll, (long)&entry, 1, (long)no_time, 0, 0);
	system_call(__NR_close, fd, 0, 0, 0, 0);
	return ready == 1;
}

static bool is_alive(long pid)
{
	long result = pid ? system_call(__NR_kill, pid, 0, 0, 0, 0) : -1;
	return pid && (!result || result == NOT_PERMITTED) && !has_ended(pid);
}

/* Whether Sonde is alive, or the runtime may not find out. */
COLD bool tracer_is_alive(void)
{
	if (!permit(RT_MAY_INSPECT))
		return true;
	bool alive = is_alive(region_header()->tracer);
	permit_end();
	return alive;
}

static void signal_tracer(const struct rt_probe *probe)
{
	struct queued q;
	if (!is_alive(region_header()->tracer))
		return;
	long pid = system_call(__NR_getpid, 0, 0, 0, 0, 0);
	long tid = system_call(__NR_gettid, 0, 0, 0, 0, 0);
	/* Field by field: for a whole struct, compilers call memset(), which does not exist
	 * here. */
	for (unsigned i = 0; i < sizeof(q.rest) / sizeof(q.rest[0]); i++)
		q.rest[i] = 0;
	q.signal = SIGNAL_URGENT;
	q.code = CODE_QUEUE;
	q.error = q.pad = q.uid = 0;
	q.pid = (int32_t)pid;
	q.value = RT_SIGNAL_MAGIC | (uint32_t)probe->constant;
	system_call(__NR_rt_tgsigqueueinfo, pid, tid, SIGNAL_URGENT, (long)&q, 0);
}

COLD void rendezvous(const struct rt_probe *probe)
{
	if (!permit(RT_MAY_SIGNAL))
		return;
	signal_tracer(probe);
	permit_end();
}
