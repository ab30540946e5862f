/* Where glibc's condition variables have the words that threads wait for, which are the signals of
 * two groups. The offset depends on the build of glibc, and not only on its version: 2.41 has
 * removed the words before them, and so have older versions with backported fixes. The code shows
 * the layout: pthread_cond_signal() first checks whether any thread waits, and for that it reads
 * the word before the signals. */
#pragma once
#include "diagnose/mapped.h"

/* Returns the offset of the first of these words in a condition variable of the process. */
uint64_t condition_signals(struct mapped *m, uint32_t process);
/* Returns that offset by the code of pthread_cond_signal(); 0 if the code is not glibc's. */
uint64_t condition_signals_in(const struct arch *arch, const uint8_t *code, size_t size);
