/* Procedures that have, or get, probes. */
#pragma once
#include "probe/code/codespace.h"

struct site *target_site(struct target *t, struct code *code, uint32_t procedure, uint64_t bias);
/* That of a frame's procedure, or NULL. */
const struct site *site_of(const struct target *t, const struct frame *f);
/* Where a thread goes on that is at `pc` in terms of the original program: in what the site has, or
 * is about to get. */
uint64_t site_next_pc(const struct site *s, uint64_t pc, bool probed);
/* Its image is gone, with the patches in it; or they were taken out. */
void site_forget_journal(struct target *t, struct site *s);
/* Nothing in it is measured any more: entries of the runtime's tables may be used again. */
void site_forget_subjects(struct target *t, struct site *s);

uint32_t target_add_subject(struct target *t, const struct subject_request *r, enum purpose purpose,
			    struct err *e);
/* Set of 1 << enum point_kind: where the subject needs probes. */
uint32_t subject_points(const struct subject *s);
