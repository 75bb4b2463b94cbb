#ifndef CLINUX_THREADS_H
#define CLINUX_THREADS_H

#include <pthread.h>
#include <stddef.h>

// A detached thread that gets none of the program's signals. 0 or an errno.
int clinux_start_thread(pthread_t *thread, size_t stack, void *(*body)(void *), void *argument);

#endif
