/* What planning needs to know about a whole module, found when it is first needed. */
#pragma once
#include "flow/private.h"
#include "patch/intrusions.h"
#include "probe/code/call_sites.h"
#include "probe/code/codespace.h"

struct module_facts *module_facts_new(void);
void module_facts_free(struct module_facts *f);

/* Jumps into the middle of functions. They matter where a patch overwrites several instructions,
 * and where moved code relies on what it did at the function's entry. Finding them takes a scan of
 * all code of the module. NULL: they do not matter. */
const struct intrusions *intrusions_of(struct shared *s, const struct site *site);
/* Registers that carry no value into the site's function or out of it. */
struct regset private_registers_of(struct shared *s, const struct site *site);
/* Finds them for all functions of the module, which are discovered for that. */
void private_registers_find(struct shared *s, const struct code *code);
/* Whether they were found: the module is counted. */
bool private_registers_known(const struct shared *s, const struct code *code);
/* Finds the system calls of several modules on all CPUs. */
void call_sites_prepare(struct shared *s, struct code *const *codes, uint32_t count);
/* The module's system calls. */
const call_sites *call_sites_of(struct shared *s, struct code *code);
/* Whether these are known, or found quickly. Otherwise they are searched for in the background. */
bool call_sites_known(struct shared *s, const struct code *code);
