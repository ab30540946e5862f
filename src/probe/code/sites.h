/* Sites: functions that have probes, or get them. */
#pragma once
#include "probe/code/codespace.h"

/* The site of the function, which is added if there is none. */
struct site *target_site(struct target *t, struct code *code, uint32_t function, uint64_t bias);
/* The site of a frame's function, or NULL. */
const struct site *site_of(const struct target *t, const struct frame *f);
/* Where a thread that is at `pc` of the original program continues: in the fragment that the site
 * has, or is about to get. */
uint64_t site_next_pc(const struct site *s, uint64_t pc, bool probed);
/* Frees the site's journal entries: its patches were taken out, or are gone with their module. */
void site_forget_journal(struct target *t, struct site *s);
/* Nothing in the site is measured any more: frees its entries in the runtime's tables. */
void site_forget_subjects(struct target *t, struct site *s);

uint32_t target_add_subject(struct target *t, const struct subject_request *r, enum purpose purpose,
			    struct err *e);
/* Where the subject needs probes: a set of 1 << enum point_kind. */
uint32_t subject_points(const struct subject *s);
