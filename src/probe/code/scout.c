#include "probe/code/scout.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"

/* The program under study comes first. */
enum { NICENESS = 10 };

struct scouted {
	uint32_t code; /* id */
	struct module *module;
	call_sites found;
	bool begun, done;
};

struct scout {
	VEC(struct scouted *) list;
	pthread_mutex_t lock;
	pthread_cond_t more;
	pthread_t thread;
	bool started;
	atomic_bool stop;
};

struct scout *scout_new(void)
{
	struct scout *s = xcalloc(1, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	return s;
}

static struct scouted *next_search(struct scout *s)
{
	vec_each (x, &s->list)
		if (!(*x)->begun)
			return *x;
	return NULL;
}

static void search_module(const struct scout *s, struct scouted *x)
{
	struct flow *f;
	struct err ignored;
	if (flow_open_cached(&f, x->module, &ignored))
		return;
	call_sites_find(&x->found, f, &s->stop);
	flow_close(f);
}

static void *run(void *scout)
{
	struct scout *s = scout;
	setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	pthread_mutex_lock(&s->lock);
	while (!s->stop) {
		struct scouted *x = next_search(s);
		if (!x) {
			pthread_cond_wait(&s->more, &s->lock);
			continue;
		}
		x->begun = true;
		pthread_mutex_unlock(&s->lock);
		search_module(s, x);
		pthread_mutex_lock(&s->lock);
		x->done = true;
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* The thread gets no signals: they are for whoever waits for the program. */
static void start(struct scout *s)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->started = !pthread_create(&s->thread, NULL, run, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void search_free(struct scouted *x)
{
	module_close(x->module);
	vec_free(&x->found);
	free(x);
}

void scout_free(struct scout *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	if (s->started)
		pthread_join(s->thread, NULL);
	vec_each (x, &s->list)
		search_free(*x);
	vec_free(&s->list);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static struct scouted *search_of(const struct scout *s, const struct code *code)
{
	vec_each (x, &s->list)
		if ((*x)->code == code->id)
			return *x;
	return NULL;
}

/* False if there cannot be a search. */
static bool begin(struct scout *s, const struct code *code)
{
	struct module *m;
	struct err ignored;
	if (!s->started)
		start(s);
	if (!s->started || module_open_again(&m, code->module, &ignored))
		return false;
	struct scouted *x = xcalloc(1, sizeof(*x));
	x->code = code->id;
	x->module = m;
	vec_push(&s->list, x);
	pthread_cond_signal(&s->more);
	return true;
}

static bool take(struct scout *s, struct scouted *x, call_sites *out)
{
	*out = x->found;
	x->found = (call_sites){0};
	vec_keep_if(&s->list, y, *y != x);
	search_free(x);
	return true;
}

bool scout_ask(struct scout *s, const struct code *code, call_sites *out)
{
	pthread_mutex_lock(&s->lock);
	struct scouted *x = search_of(s, code);
	bool begun = x || begin(s, code), known = x && x->done && take(s, x, out);
	pthread_mutex_unlock(&s->lock);
	return begun ? known : call_sites_find(out, code->flow, NULL);
}
