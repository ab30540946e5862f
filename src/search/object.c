#include "search/object.h"

#include <string.h>

const struct object_kind_row object_kinds[OBJECT_KINDS] = {
	[OBJECT_MUTEX] = {"mutex", SYNC, IDLE_NEVER, false},
	[OBJECT_RWLOCK] = {"rwlock", SYNC, IDLE_NEVER, false},
	[OBJECT_LOCK] = {"lock", SYNC, IDLE_NEVER, false},
	[OBJECT_CONDITION] = {"condition", SYNC, IDLE_BESIDE, false},
	[OBJECT_BARRIER] = {"barrier", SYNC, IDLE_NEVER, false},
	[OBJECT_SEMAPHORE] = {"semaphore", SYNC, IDLE_BESIDE, false},
	[OBJECT_JOIN] = {"join", SYNC, IDLE_NEVER, true},
	[OBJECT_SPIN] = {"spin", SYNC, IDLE_NEVER, false},
	[OBJECT_VARIABLE] = {"variable", SYNC, IDLE_NEVER, false},
	[OBJECT_OPENMP] = {"openmp", SYNC, IDLE_NEVER, false},
	[OBJECT_SERIAL] = {"serial", SYNC, IDLE_NEVER, false},
	[OBJECT_MESSAGE] = {"message", SYNC, IDLE_NEVER, false},
	[OBJECT_GPU] = {"gpu", SYNC, IDLE_NEVER, false},
	[OBJECT_PROCESS] = {"process", SYNC, IDLE_NEVER, true},
	[OBJECT_SLEEP] = {"sleep", SYNC, IDLE_ALWAYS, false},
	[OBJECT_SIGNAL] = {"signal", SYNC, IDLE_AT_ONCE, false},
	[OBJECT_EVENT] = {"event", SYNC, IDLE_ALWAYS, false},
	[OBJECT_PARKED] = {"parked", SYNC, IDLE_ALWAYS, true},
	[OBJECT_FUTEX] = {"futex", SYNC, IDLE_BESIDE, false},
	[OBJECT_FILE] = {"file", FILES, IDLE_NEVER, false},
	[OBJECT_PIPE] = {"pipe", FILES, IDLE_BESIDE, false},
	[OBJECT_SOCKET] = {"socket", FILES, IDLE_ALWAYS, false},
	[OBJECT_CONNECTION] = {"connection", FILES, IDLE_ALWAYS, false},
	[OBJECT_ANSWER] = {"answer", FILES, IDLE_ASKING, false},
	[OBJECT_REQUESTS] = {"requests", FILES, IDLE_AT_ONCE, false},
	[OBJECT_INPUT] = {"input", FILES, IDLE_AT_ONCE, false},
	[OBJECT_DEVICE] = {"device", FILES, IDLE_ALWAYS, false},
	[OBJECT_OTHER] = {"other", FILES, IDLE_ALWAYS, false},
	[OBJECT_CALL] = {"call", FILES, IDLE_NEVER, false},
};

enum object_kind object_kind_named(const char *name)
{
	for (uint32_t i = 0; i < OBJECT_KINDS; i++)
		if (!strcmp(object_kinds[i].name, name))
			return (enum object_kind)i;
	return OBJECT_OTHER;
}
