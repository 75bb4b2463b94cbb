#include "CLinux.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

enum { most_at_once = 8 };

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int clinux_epoll_add(int epoll, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

int clinux_epoll_wait(int epoll, int64_t nanoseconds, int32_t *ready, int capacity) {
    struct epoll_event events[most_at_once];
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    if (capacity > most_at_once) capacity = most_at_once;
    int count = epoll_pwait2(epoll, events, capacity, nanoseconds < 0 ? NULL : &limit, NULL);
    if (count == -1 && errno == ENOSYS) {
        // Before Linux 5.11. Rounded up, or a wait for less than a millisecond would spin.
        int64_t milliseconds = nanoseconds / 1000000 + (nanoseconds % 1000000 > 0);
        if (milliseconds > INT_MAX) milliseconds = INT_MAX;
        count = epoll_wait(epoll, events, capacity, nanoseconds < 0 ? -1 : (int)milliseconds);
    }
    for (int i = 0; i < count; i++) ready[i] = events[i].data.fd;
    return count;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
