/* The invariants of docs/PROBING.md that can be looked at while a target is stopped: each ends
 * Sonde where it does not hold (base/check.h). */
#pragma once
#include "probe/stop/stop.h"

/* P8: settled threads are at instructions of the program. */
void check_settled(const struct stop *s);
/* P13: whoever traps will find the handler. */
void check_trap_action(const struct stop *s);
/* P10: no two threads have one area, and an area is its thread's. */
void check_areas(const struct stop *s);
/* P4: no old patch of sites that change is left in the program. */
void check_undone(const struct stop *s);
/* P11: no thread stands where a patch is about to be. */
void check_sent(const struct stop *s);
/* P9: a byte of code memory has one use. */
void check_memory(const struct stop *s);
/* P1: each patch has its entry in the journal, which says the same. */
void check_journal(const struct stop *s);
/* P10: each entry of the table of probes has one owner. */
void check_probes(const struct stop *s);
/* P12: the runtime may do no more than the filters let pass. */
void check_permission(const struct stop *s);
/* P3: nobody is in code memory that is free, if the stop is clean; and all of the above that holds
 * between changes. */
void check_all(const struct stop *s);
