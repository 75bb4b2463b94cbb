#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

// One terminal a process: signal handlers and atexit() cannot be given another one.
static struct termios as_found;
static int input = -1, output = -1;
static char closing[128];
static size_t closing_length;
static _Atomic int entered;  // whether the former mode has to be restored
static _Atomic int news;
static int wake = -1;
static struct sigaction before[NSIG];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT, SIGFPE};
static const int endings[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
static const int happenings[] = {SIGWINCH, SIGTSTP, SIGCONT};

int clinux_terminal_size(int descriptor, int32_t *columns, int32_t *rows) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) return -1;
    *columns = size.ws_col;
    *rows = size.ws_row;
    return 0;
}

// Also called where only little is allowed: in a signal handler.
void clinux_terminal_leave(void) {
    int error = errno;
    if (atomic_exchange(&entered, 0)) {
        // In the background this would stop the process while it ends.
        sigset_t stop, mask;
        sigemptyset(&stop);
        sigaddset(&stop, SIGTTOU);
        pthread_sigmask(SIG_BLOCK, &stop, &mask);
        ssize_t written = write(output, closing, closing_length);
        (void)written;
        tcsetattr(input, TCSANOW, &as_found);
        pthread_sigmask(SIG_SETMASK, &mask, NULL);
    }
    errno = error;
}

static void crash(int number, siginfo_t *info, void *context) {
    if (number == SIGBUS && clinux_map_guards(info->si_addr) && (before[number].sa_flags & SA_SIGINFO)) {
        before[number].sa_sigaction(number, info, context);  // a map whose file was truncated, which is no crash
        return;
    }
    clinux_terminal_leave();
    sigaction(number, &before[number], NULL);
    // A fault happens again by itself, and has its true address then.
    if (info->si_code <= 0) raise(number);
}

static void end(int number) {
    clinux_terminal_leave();
    signal(number, SIG_DFL);
    raise(number);
}

static void happen(int number) {
    int error = errno;
    int bit = number == SIGWINCH ? clinux_terminal_resized : number == SIGTSTP ? clinux_terminal_stopping
                                                                               : clinux_terminal_continued;
    atomic_fetch_or(&news, bit);
    uint64_t one = 1;
    ssize_t written = write(wake, &one, sizeof one);
    (void)written;
    errno = error;
}

static void install(void) {
    wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    atexit(clinux_terminal_leave);
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK, .sa_sigaction = crash};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) sigaction(crashes[i], &action, &before[crashes[i]]);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        // A program that has an ending of its own comes to atexit() by it.
        sigaction(endings[i], NULL, &before[endings[i]]);
        if (before[endings[i]].sa_handler == SIG_DFL) signal(endings[i], end);
    }
    action = (struct sigaction){.sa_flags = SA_RESTART, .sa_handler = happen};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof happenings / sizeof *happenings; i++) {
        sigaction(happenings[i], &action, &before[happenings[i]]);
    }
}

int clinux_terminal_enter(int from, int to, const char *welcome, const char *leaving) {
    if (atomic_load(&entered)) {
        errno = EBUSY;
        return -1;
    }
    struct termios raw;
    if (tcgetattr(from, &as_found) != 0) return -1;
    input = from;
    output = to;
    closing_length = strnlen(leaving, sizeof closing);
    memcpy(closing, leaving, closing_length);
    pthread_once(&once, install);
    raw = as_found;
    cfmakeraw(&raw);
    raw.c_oflag |= OPOST;  // a log line of another process stays readable
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    atomic_store(&entered, 1);
    if (tcsetattr(from, TCSANOW, &raw) != 0) {
        atomic_store(&entered, 0);
        return -1;
    }
    ssize_t written = write(to, welcome, strlen(welcome));
    (void)written;
    return 0;
}

int clinux_terminal_wake(void) { return wake; }

int clinux_terminal_news(void) {
    uint64_t count;
    ssize_t got = read(wake, &count, sizeof count);
    (void)got;
    return atomic_exchange(&news, 0);
}

void clinux_terminal_stop(void) {
    clinux_terminal_leave();
    clinux_stop();
}

int clinux_is_readable(int descriptor) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    return poll(&entry, 1, 0) > 0;
}

int clinux_open_terminal(int32_t *keyboard, char *name, size_t capacity) {
    int number = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (number < 0) return -1;
    if (grantpt(number) != 0 || unlockpt(number) != 0 || ptsname_r(number, name, capacity) != 0) {
        close(number);
        return -1;
    }
    *keyboard = number;
    return 0;
}
