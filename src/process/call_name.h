/* Names of system calls. */
#pragma once

/* Returns "write", ...; "a system call" if the number has no name. */
const char *call_name(int number);
