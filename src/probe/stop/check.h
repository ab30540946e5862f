/* Checks of the invariants in docs/PROBING.md that can be checked while a target is stopped. A
 * violation ends Sonde (base/check.h). */
#pragma once
#include "probe/stop/stop.h"

/* P8: settled threads are at instructions of the program. */
void check_settled(const struct stop *s);
/* P13: where traps go in, the handler is installed. */
void check_trap_action(const struct stop *s);
/* P10: no two threads share an area, and each area belongs to its thread. */
void check_areas(const struct stop *s);
/* P4: sites that change have no old patch left in the program. */
void check_undone(const struct stop *s);
/* P11: no thread is where a patch is about to be. */
void check_sent(const struct stop *s);
/* P9: a byte of code memory has one use. */
void check_memory(const struct stop *s);
/* P1: each patch has its entry in the journal, with the same bytes. */
void check_journal(const struct stop *s);
/* P10: each entry of the table of probes has one owner. */
void check_probes(const struct stop *s);
/* P12: the runtime may do no more than the filters permit. */
void check_permission(const struct stop *s);
/* P3: no thread is in code memory that is free, if the stop is clean; and all of the above that
 * holds between changes. */
void check_all(const struct stop *s);
