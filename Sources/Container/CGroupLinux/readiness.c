#include "CGroupLinux.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>

enum { most_at_once = 8 };

int clinux_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int clinux_epoll_add(int epoll, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

static int wait_events(int epoll, int64_t nanoseconds, struct epoll_event *events, int capacity) {
    struct timespec limit = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
    int count = epoll_pwait2(epoll, events, capacity, nanoseconds < 0 ? NULL : &limit, NULL);
    if (count == -1 && errno == ENOSYS) {
        // Before Linux 5.11. Rounded up, or a wait for less than a millisecond would spin.
        int64_t milliseconds = nanoseconds / 1000000 + (nanoseconds % 1000000 > 0);
        if (milliseconds > INT_MAX) milliseconds = INT_MAX;
        count = epoll_wait(epoll, events, capacity, nanoseconds < 0 ? -1 : (int)milliseconds);
    }
    return count;
}

int clinux_epoll_wait(int epoll, int64_t nanoseconds, int32_t *ready, int capacity) {
    struct epoll_event events[most_at_once];
    int count = wait_events(epoll, nanoseconds, events, capacity > most_at_once ? most_at_once : capacity);
    for (int i = 0; i < count; i++) ready[i] = events[i].data.fd;
    return count;
}

int clinux_epoll_set(int epoll, int descriptor, int what, int isKnown) {
    struct epoll_event event = {.data.fd = descriptor};
    if (what & clinux_ready_input) event.events |= EPOLLIN;
    if (what & clinux_ready_output) event.events |= EPOLLOUT;
    if (what & clinux_ready_urgent) event.events |= EPOLLPRI;
    int operation = !isKnown ? EPOLL_CTL_ADD : what == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
    return epoll_ctl(epoll, operation, descriptor, &event);
}

int clinux_epoll_wait_ready(int epoll, int64_t nanoseconds, clinux_readiness *ready, int capacity) {
    struct epoll_event events[64];
    int count = wait_events(epoll, nanoseconds, events, capacity > 64 ? 64 : capacity);
    for (int i = 0; i < count; i++) {
        int what = 0;
        if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) what |= clinux_ready_input;
        if (events[i].events & (EPOLLOUT | EPOLLERR)) what |= clinux_ready_output;
        if (events[i].events & EPOLLPRI) what |= clinux_ready_urgent;
        ready[i] = (clinux_readiness){events[i].data.fd, what};
    }
    return count;
}

int clinux_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

int clinux_clock_watch(void) { return timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

int clinux_clock_watch_begin(int timer) {
    // A date that does not come: only the cancellation is of interest.
    struct itimerspec never = {.it_value = {.tv_sec = INT32_MAX * 4LL}};
    return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}
