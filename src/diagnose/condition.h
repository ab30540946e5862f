/* Where glibc's condition variables have the words that threads wait for, the signals of two
 * groups. That differs between versions, whatever their number: 2.41 has lost what was before them,
 * and so have corrected older ones. The code tells: pthread_cond_signal() first looks whether
 * anybody waits, at the word before them. */
#pragma once
#include "diagnose/mapped.h"

/* Bytes from a condition variable's beginning to the first of the words, by the code that the
 * process has. */
uint64_t condition_signals(struct mapped *m, uint32_t process);
/* The same by the code of pthread_cond_signal(); 0 if it is not glibc's. */
uint64_t condition_signals_in(const struct arch *arch, const uint8_t *code, size_t size);
