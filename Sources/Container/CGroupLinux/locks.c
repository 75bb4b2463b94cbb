#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct flock range(int64_t start, int64_t length, int type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = (short)type;
    lock.l_whence = SEEK_SET;
    lock.l_start = start;
    lock.l_len = length;
    return lock;
}

// Repeated after EINTR: a signal may interrupt fcntl(F_OFD_SETLK) although it does not wait, also where it unlocks.
int clinux_lock_try(int descriptor, int64_t start, int64_t length, int type) {
    struct flock lock = range(start, length, type);
    int answer;
    do {
        answer = fcntl(descriptor, F_OFD_SETLK, &lock);
    } while (answer != 0 && errno == EINTR);
    return answer;
}

int clinux_lock_conflict(int descriptor, int64_t start, int64_t length, int type, int64_t *found, int64_t *foundLength) {
    struct flock lock = range(start, length, type);
    while (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) {
        if (errno != EINTR) return -1;
    }
    if (lock.l_type == F_UNLCK) return 0;
    *found = lock.l_start;
    *foundLength = lock.l_len;
    return 1;
}

int clinux_lock_owner(int descriptor, int64_t start, int64_t length, int32_t *owner) {
    struct flock lock = range(start, length, F_WRLCK);
    while (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) {
        if (errno != EINTR) return -1;
    }
    if (lock.l_type == F_UNLCK || lock.l_pid <= 0) return 0;
    *owner = lock.l_pid;
    return 1;
}

// The cancellable waiter. fcntl(F_OFD_SETLKW) is a cancellation point, so pthread_cancel ends the sleep at once, which
// neither closing the descriptor nor anything but a signal would do.
struct clinux_lock_waiter {
    pthread_mutex_t mutex;  // guards finished and references; start() holds it until `thread` is set
    pthread_t thread;
    int finished, references, descriptor;
    void (*done)(void *context, int error);
    void *context;
    size_t count;
    clinux_lock_step steps[];
};

void clinux_lock_waiter_release(clinux_lock_waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    int last = --waiter->references == 0;
    pthread_mutex_unlock(&waiter->mutex);
    if (!last) return;
    pthread_mutex_destroy(&waiter->mutex);
    free(waiter);
}

static void finish(clinux_lock_waiter *waiter, int error) {
    pthread_mutex_lock(&waiter->mutex);
    waiter->finished = 1;
    pthread_mutex_unlock(&waiter->mutex);
    waiter->done(waiter->context, error);
    clinux_lock_waiter_release(waiter);
}

// The cancellation may come at the moment of the grant, so that the description holds a lock that no code knows of.
// Unlocking everything covers both cases.
static void cancelled(void *argument) {
    clinux_lock_waiter *waiter = argument;
    clinux_lock_try(waiter->descriptor, 0, 0, F_UNLCK);
    finish(waiter, ECANCELED);
}

// Blocks until the lock is granted, or the call fails. A cancellation point.
static int take(int descriptor, int64_t start, int64_t length, int type) {
    struct flock lock = range(start, length, type);
    while (fcntl(descriptor, F_OFD_SETLKW, &lock) != 0) {
        if (errno != EINTR) return errno;
    }
    return 0;
}

// Locks a whole range or nothing of it: waits for a byte that another process holds, unlocks that byte, and tries the
// range again. The waiter keeps no part of the range meanwhile, since a holder of another part that requests more of
// the range would then wait forever.
static int take_undivided(int descriptor, int64_t start, int64_t length) {
    int64_t awaited = -1;
    while (1) {
        pthread_testcancel();  // no other call in the loop need block while other holders come and go
        if (clinux_lock_try(descriptor, start, length, F_WRLCK) == 0) return 0;
        if (errno != EAGAIN && errno != EACCES) return errno;
        if (awaited >= 0 && clinux_lock_try(descriptor, awaited, 1, F_UNLCK) != 0) return errno;
        awaited = -1;
        int64_t found = 0, foundLength = 0;
        int answer = clinux_lock_conflict(descriptor, start, length, F_WRLCK, &found, &foundLength);
        if (answer < 0) return errno;
        if (answer == 0) continue;
        awaited = found > start ? found : start;
        int error = take(descriptor, awaited, 1, F_WRLCK);
        if (error != 0) return error;
    }
}

static void *take_steps(void *argument) {
    clinux_lock_waiter *waiter = argument;
    int error = 0;
    clinux_set_thread_name("lock-wait");
    pthread_cleanup_push(cancelled, waiter);
    for (size_t i = 0; i < waiter->count && error == 0; i++) {
        clinux_lock_step step = waiter->steps[i];
        error = step.undivided ? take_undivided(waiter->descriptor, step.start, step.length)
                               : take(waiter->descriptor, step.start, step.length, step.type);
    }
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cleanup_pop(0);
    if (error != 0) clinux_lock_try(waiter->descriptor, 0, 0, F_UNLCK);
    finish(waiter, error);
    return NULL;
}

int clinux_lock_waiter_start(
    int descriptor, const clinux_lock_step *steps, size_t count, void (*done)(void *context, int error),
    void *context, clinux_lock_waiter **out) {
    clinux_lock_waiter *waiter = malloc(sizeof *waiter + count * sizeof *steps);
    if (waiter == NULL) return ENOMEM;
    pthread_mutex_init(&waiter->mutex, NULL);
    waiter->finished = 0;
    waiter->references = 2;  // the thread's and the caller's
    waiter->descriptor = descriptor;
    waiter->done = done;
    waiter->context = context;
    waiter->count = count;
    memcpy(waiter->steps, steps, count * sizeof *steps);

    pthread_mutex_lock(&waiter->mutex);
    int error = clinux_start_thread(&waiter->thread, 128 * 1024, take_steps, waiter);
    pthread_mutex_unlock(&waiter->mutex);
    if (error != 0) {
        pthread_mutex_destroy(&waiter->mutex);
        free(waiter);
        return error;
    }
    *out = waiter;
    return 0;
}

void clinux_lock_waiter_cancel(clinux_lock_waiter *waiter) {
    pthread_mutex_lock(&waiter->mutex);
    if (!waiter->finished) pthread_cancel(waiter->thread);
    pthread_mutex_unlock(&waiter->mutex);
}
