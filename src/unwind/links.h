/* Does a call lead from a caller to its callee? (Tallent et al., PLDI 2009, section 2.3.2.)
 *
 * A return address must follow a call. If that call names its target, the target must be the
 * callee, or a function that may have passed control on: a PLT entry, or a function that ends in a
 * tail call. VERDICT_INVALID ends a walk, so it is given only if everything else is excluded. Where
 * the bounds of functions are uncertain, the verdict is VERDICT_LIKELY. */
#pragma once
#include "flow/flow.h"

struct links;

/* The flow must outlive the result. */
struct links *links_new(struct flow *f);
void links_free(struct links *l);

/* The call instructions that may end at a return address. Instructions of variable length decode
 * differently from different starts, so there may be one of each kind. */
struct call_site {
	bool direct, indirect;
	uint64_t target; /* va of the direct call's target */
};

struct call_site links_call_before(const struct flow *f, uint64_t va);

static inline bool call_site_exists(const struct call_site *c)
{
	return c->direct || c->indirect;
}

enum link_verdict { VERDICT_INVALID, VERDICT_LIKELY, VERDICT_VALID };

/* Whether the call may have led to code at callee_va (an address inside the current instruction) of
 * `callee`, which is NULL if that is in no known module. */
enum link_verdict links_check(struct links *l, const struct call_site *call,
			      const struct flow *callee, uint64_t callee_va);

/* Where the function that starts at va may return to: the addresses after the direct calls of it in
 * its own module. Returns their number; *alone is set if nothing else is known to lead to it: the
 * module does not export it, and nothing jumps to it. */
uint32_t links_returns(struct links *l, uint64_t va, const uint64_t **out, bool *alone);
