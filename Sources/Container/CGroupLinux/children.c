#include "CGroupLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

// Makes the descriptors the child's 0, 1, 2, … In a first pass those below `count` are copied to numbers above, so that
// none is replaced before its turn, and none stays in its place with its close-on-exec flag.
static int place(int32_t streams[], int count) {
    for (int number = 0; number < count; number++) {
        if (streams[number] < 0 || streams[number] >= count) continue;
        streams[number] = fcntl(streams[number], F_DUPFD_CLOEXEC, count);
        if (streams[number] < 0) return -1;
    }
    for (int number = 0; number < count; number++) {
        if (streams[number] >= 0 && dup2(streams[number], number) < 0) return -1;
    }
    return 0;
}

// Between _Fork and exec only calls that are safe in a signal handler are made: other threads may have held any lock.
// The child may change `streams`: its memory is a copy.
static void become(char *const arguments[], char *const environment[], int32_t streams[], int count, int flags,
                   pid_t parent, int report) {
    int diesWithParent = flags & clinux_spawn_dies_with_parent;
    if (report < count) {
        int moved = fcntl(report, F_DUPFD_CLOEXEC, count);
        if (moved < 0) goto failed;
        report = moved;
    }
    if (diesWithParent && prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) goto failed;
    if (diesWithParent && getppid() != parent) _exit(127);  // it died before the request was in force
    if (flags & clinux_spawn_own_group && setpgid(0, 0) != 0) goto failed;
    if (place(streams, count) != 0) goto failed;
    // Before Linux 5.11, which has no such flag, descriptors without close-on-exec stay open.
    if (flags & clinux_spawn_only_streams) syscall(SYS_close_range, count, UINT_MAX, CLOSE_RANGE_CLOEXEC);
    for (int number = 1; number < NSIG; number++) {
        // An ignored SIGPIPE would be inherited; what nohup(1) ignores is.
        if (!clinux_ignores_from_start(number)) signal(number, SIG_DFL);
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    // A key that was pressed before the fork has reached the parent only.
    if (flags & clinux_spawn_takes_keys && clinux_noted_key() != 0) raise(clinux_noted_key());
    if (environment) {
        execvpe(arguments[0], arguments, environment);
    } else {
        execvp(arguments[0], arguments);
    }
failed:;
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(127);
}

// The errno that the child reports before it is another program; 0 once it is.
static int await_report(int report[2]) {
    close(report[1]);
    int error = 0;
    ssize_t got;
    do got = read(report[0], &error, sizeof error);
    while (got < 0 && errno == EINTR);
    close(report[0]);
    return got == (ssize_t)sizeof error ? error : 0;
}

static void reap(pid_t pid) {
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
}

int clinux_spawn(char *const arguments[], char *const environment[], int32_t streams[], int count, int flags,
                 int32_t *child) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return errno;
    pid_t parent = getpid();
    pid_t pid = _Fork();
    if (pid == 0) become(arguments, environment, streams, count, flags, parent, report[1]);
    int failed = pid < 0 ? errno : 0;
    int error = await_report(report);
    if (failed) return failed;
    if (error) {
        reap(pid);
        return error;
    }
    *child = pid;
    return 0;
}

int clinux_spawn_detached(char *const arguments[], int32_t streams[3]) {
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) return errno;
    pid_t pid = _Fork();
    if (pid == 0) {
        setsid();
        pid_t grandchild = _Fork();
        if (grandchild == 0) become(arguments, NULL, streams, 3, 0, 0, report[1]);
        int error = grandchild < 0 ? errno : 0;
        if (error) {
            ssize_t written = write(report[1], &error, sizeof error);
            (void)written;
        }
        _exit(0);
    }
    int failed = pid < 0 ? errno : 0;
    int error = await_report(report);
    if (failed) return failed;
    reap(pid);
    return error;
}

int clinux_process_descriptor(int32_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

int clinux_wait_child(int32_t child, int64_t nanoseconds, int *status) {
    for (int looks = 0; looks < 2; looks++) {
        pid_t ended = waitpid(child, status, WNOHANG);
        if (ended != 0) return ended < 0 ? -1 : 1;
        if (looks == 1) break;
        int descriptor = clinux_process_descriptor(child);
        if (descriptor < 0) return -1;
        struct pollfd entry = {.fd = descriptor, .events = POLLIN};
        struct timespec limit = {nanoseconds / 1000000000, nanoseconds % 1000000000};
        int ready = ppoll(&entry, 1, &limit, NULL);
        int error = errno;
        close(descriptor);
        if (ready < 0 && error != EINTR) {
            errno = error;
            return -1;
        }
    }
    return 0;
}

int clinux_child_has_ended(int32_t child, int waits) {
    siginfo_t information = {.si_pid = 0};
    int answer;
    do answer = waitid(P_PID, (id_t)child, &information, WEXITED | WNOWAIT | (waits ? 0 : WNOHANG));
    while (answer != 0 && errno == EINTR);
    return answer != 0 || information.si_pid != 0;
}

int clinux_adopt_orphans(void) { return prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

int clinux_child_event(int32_t child, int32_t *number) {
    siginfo_t information = {.si_pid = 0};
    if (waitid(P_PID, (id_t)child, &information, WEXITED | WSTOPPED | WNOHANG) != 0) return -1;
    if (information.si_pid == 0) return 0;
    *number = information.si_status;
    switch (information.si_code) {
        case CLD_EXITED: return 1;
        case CLD_KILLED:
        case CLD_DUMPED: return 2;
        default: return 3;
    }
}
