#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

enum effect { FAILS, DIES, IS_A_BUG };

bool faults_armed;

static struct {
	enum effect effect;
	char name[64];   /* "": any point */
	uint32_t pass;   /* the pass that fails; 0: none */
	bool onwards;    /* and all passes after it */
	uint32_t passes; /* so far, of all points together */
	struct fault_point *points;
	int log;
	pthread_mutex_t lock; /* any thread may pass a point */
} faults = {.log = STDERR_FILENO, .lock = PTHREAD_MUTEX_INITIALIZER};

static void log_pass(const char *what, const char *name, uint32_t pass)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %s %u\n", what, name, pass);
	if (n > 0 && write(faults.log, line, (size_t)n) < 0)
		faults.log = STDERR_FILENO;
}

/* Whether this pass of the point is the one to fail. Error 0 marks a step that cannot fail: there
 * Sonde can only be killed. */
static bool is_selected(const struct fault_point *p, int error)
{
	uint32_t pass = *faults.name ? p->passes : faults.passes;
	if (!faults.pass || (*faults.name && strcmp(p->name, faults.name) != 0))
		return false;
	if (!error && faults.effect == FAILS)
		return false;
	return pass == faults.pass || (faults.onwards && pass > faults.pass);
}

bool fault_passed(struct fault_point *p, int error)
{
	pthread_mutex_lock(&faults.lock);
	if (!p->passes++) {
		p->next = faults.points;
		faults.points = p;
	}
	faults.passes += error != 0;
	bool selected = is_selected(p, error);
	if (selected)
		log_pass(faults.effect == FAILS ? "fails" : "dies", p->name, p->passes);
	pthread_mutex_unlock(&faults.lock);
	if (selected && faults.effect == DIES)
		kill(getpid(), SIGKILL);
	if (selected && faults.effect == IS_A_BUG)
		bug_found("P0", p->name, __FILE__, __LINE__);
	if (selected)
		errno = error;
	return selected;
}

static void log_all_passes(void)
{
	for (const struct fault_point *p = faults.points; p; p = p->next)
		log_pass("passed", p->name, p->passes);
}

/* Parses [EFFECT@]NAME[:PASS[+]], or PASS[+] alone. The words of the effects have 4 letters. */
static void parse(const char *spec)
{
	static const struct {
		const char *word;
		enum effect effect;
	} effects[] = {{"die@", DIES}, {"bug@", IS_A_BUG}};
	for (size_t i = 0; i < sizeof(effects) / sizeof(*effects); i++)
		if (!strncmp(spec, effects[i].word, 4)) {
			faults.effect = effects[i].effect;
			spec += 4;
			break;
		}
	size_t n = strspn(spec, "0123456789+") == strlen(spec) ? 0 : strcspn(spec, ":");
	snprintf(faults.name, sizeof(faults.name), "%.*s", (int)n, spec);
	spec += n + (spec[n] == ':');
	char *end;
	faults.pass = *spec ? (uint32_t)strtoul(spec, &end, 10) : 1;
	faults.onwards = *spec && *end == '+';
}

void faults_arm(const char *spec)
{
	if (strcmp(spec, "count") != 0)
		parse(spec);
	faults_armed = true;
}

__attribute__((constructor)) static void arm(void)
{
	const char *spec = secure_getenv("SONDE_FAULT"), *file = secure_getenv("SONDE_FAULT_LOG");
	if (!spec || !*spec)
		return;
	int log = file ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
	faults.log = log >= 0 ? log : STDERR_FILENO;
	faults_arm(spec);
	atexit(log_all_passes);
}
