#include "session/session.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "process/launch.h"
#include "session/facts.h"
#include "session/signals.h"

void session_message(const struct session *s, const char *fmt, ...)
{
	char sentence[900];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, ap);
	va_end(ap);
	s->o->message(s->o->ctx, sentence);
}

/* ---- the beginning ---- */

void session_init(struct session *s, const struct session_options *o, const struct session_ops *ops,
		  void *own, struct profile *p)
{
	*s = (struct session){.o = o, .ops = ops, .own = own, .profile = p};
	launch_remember_signals();
}

static void add_facts(struct session *s)
{
	facts_of_host(s->profile);
	if (s->o->argv)
		facts_of_command(s->profile, s->o->argv);
	else
		facts_of_processes(s->profile, s->o);
	s->ops->add_facts(s);
}

/* A launched program can be killed: it has not executed an instruction of its own. */
static void give_up(struct session *s)
{
	int status;
	if (s->saver.store)
		saver_undo(&s->saver);
	if (s->program)
		kill(s->program, SIGKILL);
	if (s->ops->abandon)
		s->ops->abandon(s);
	if (s->program)
		launch_wait(s->program, &status);
	s->program = 0;
}

int session_start(struct session *s, int *not_started, struct err *e)
{
	*not_started = 0;
	/* Once a running program has been changed, no signal may end Sonde: the change would be
	 * left in the program. */
	if (!s->o->argv)
		signals_install(0);
	int rc = s->ops->open(s, not_started, e);
	if (!rc) {
		add_facts(s);
		rc = saver_open(&s->saver, s->profile, s->o->output, e);
	}
	if (!rc && s->ops->begin)
		rc = s->ops->begin(s, e);
	if (!rc) {
		s->started = now_seconds();
		rc = s->ops->go(s, not_started, e);
	}
	if (rc)
		give_up(s);
	return rc;
}

/* ---- while it runs ---- */

void session_program_ended(struct session *s, int status)
{
	s->program = 0;
	s->status = status;
	s->ended = WIFSIGNALED(status) ? "signal" : "exit";
	signals_forget_program();
}

static bool is_late(const struct session *s)
{
	return s->o->seconds > 0 && now_seconds() - s->started >= s->o->seconds;
}

static bool is_over(struct session *s)
{
	if (!s->ended && signals_want_end())
		s->ended = "interrupted";
	else if (!s->ended && is_late(s))
		s->ended = "duration";
	else if (!s->ended && !s->program && s->ops->is_over(s) && !s->ended)
		s->ended = "exit";
	return s->ended;
}

/* The timeout, limited to what is left of the duration. */
static int limit_timeout(const struct session *s, int timeout_ms)
{
	double left = s->started + s->o->seconds - now_seconds();
	if (s->o->seconds <= 0 || left * 1000 >= timeout_ms)
		return timeout_ms;
	return left > 0 ? (int)(left * 1000) + 1 : 0;
}

bool session_turn(struct session *s, int timeout_ms)
{
	struct err e;
	if (is_over(s))
		return false;
	if (s->ops->wait(s, limit_timeout(s, timeout_ms), &e)) {
		s->ended = "error";
		snprintf(s->problem, sizeof(s->problem), "it ended early: %s", e.text);
	}
	if (is_over(s))
		return false;
	if (s->ops->work)
		s->ops->work(s);
	session_tick(s);
	return true;
}

void session_passed(struct session *s)
{
	s->seconds = now_seconds() - s->started;
}

static void rescue(void *ctx)
{
	struct session *s = ctx;
	s->ops->rescue(s);
}

void session_tick(struct session *s)
{
	if (s->ops->rescue) {
		keeper_tick(&s->keeper, rescue, s);
	} else if (now_ns() >= s->saver.next) {
		facts_number(s->profile, "seconds", s->seconds, 3);
		saver_save(&s->saver);
	}
}

uint64_t session_next_save(const struct session *s)
{
	return s->saver.next;
}

/* ---- the end ---- */

void session_leave(struct session *s)
{
	s->ops->leave(s);
}

static void save_last(struct session *s)
{
	if (!saver_save(&s->saver) && !s->problem[0])
		snprintf(s->problem, sizeof(s->problem), "not everything could be saved: %s",
			 s->saver.problem.text);
	saver_close(&s->saver);
}

/* What was observed is saved before the profile is completed, so that a signal may end the
 * completion. While a started program still runs, signals are passed on to it. */
void session_finish(struct session *s)
{
	facts_number(s->profile, "seconds", s->seconds, 3);
	s->profile->finished = true;
	if (!s->ops->rescue) {
		saver_save(&s->saver);
		if (!s->program)
			signals_restore();
	}
	s->ops->complete(s);
	save_last(s);
	keeper_dismiss(&s->keeper);
	if (!s->program)
		signals_restore();
}
