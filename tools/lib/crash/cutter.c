// Runs a program and cuts the power of the file system that it works on, at one of its steps.
//
// A step is the entry of a system call that may change a file system, or the program's end. What was stored to mapped
// memory since the step before is part of the state at it.
//
//   cutter list REPORT -- PROGRAM...
//       Runs the program to its end. REPORT has a line a step: its number, the call, `synced` if a call that waits for the
//       disk has returned since the step before (or one that only prints), else `-`, and how many bytes the program had
//       printed.
//   cutter cut REPORT STEP flush|lose DIRECTORY SEED -- PROGRAM...
//       At that step: some pages of the files, drawn by lot, are written back, in any order, as a kernel might have done
//       (none with seed 0); then DIRECTORY's file system is shut down, with what its log has in memory flushed to the disk or
//       lost; then the program is killed. REPORT has that step's line; none, if it ended before.
//   cutter copy REPORT IMAGE PREFIX -- PROGRAM...
//       At each step what IMAGE has by then goes into PREFIX and the step's number: what a power cut would leave. (Where
//       another thread is in such a call, no copy is made, and the line is left out.)
//
// The program's own exit status is ignored; 0 if everything here could be done.
#include <signal.h>
#include <sys/wait.h>

#include "calls.h"
#include "power.h"

/// One thread of the program, between two stops of it.
static struct thread {
    pid_t id;
    const struct call *inside;
} threads[512];

static struct thread *thread_of(pid_t id) {
    struct thread *free = NULL;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        if (threads[i].id == id) return &threads[i];
        if (threads[i].id == 0 && free == NULL) free = &threads[i];
    }
    if (free == NULL) {
        fprintf(stderr, "cutter: too many threads\n");
        exit(1);
    }
    *free = (struct thread){.id = id};
    return free;
}

static off_t printed(void) {
    struct stat status;
    return fstat(STDOUT_FILENO, &status) == 0 ? status.st_size : 0;
}

static bool is_other_inside(const struct thread *one) {
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        if (threads[i].id != 0 && &threads[i] != one && threads[i].inside != NULL) return true;
    }
    return false;
}

int main(int count, char **words) {
    int end = 1;
    while (end < count && strcmp(words[end], "--") != 0) end++;
    const char *mode = count > 1 ? words[1] : "";
    bool is_cutting = strcmp(mode, "cut") == 0 && end == 7, is_copying = strcmp(mode, "copy") == 0 && end == 5;
    if (!(is_cutting || is_copying || (strcmp(mode, "list") == 0 && end == 3)) || end + 1 >= count) {
        fprintf(stderr, "usage: see cutter.c\n");
        return 64;
    }
    FILE *report = fopen(words[2], "we");
    if (report == NULL) fail(words[2]);
    unsigned long last = is_cutting ? strtoul(words[3], NULL, 10) : 0;

    pid_t child = fork();
    if (child < 0) fail("fork");
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execv(words[end + 1], words + end + 1);
        fail(words[end + 1]);
    }
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) fail("wait");
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
                   | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SETOPTIONS, child, NULL, options) < 0 || ptrace(PTRACE_SYSCALL, child, NULL, NULL) < 0) {
        fail("ptrace");
    }

    unsigned step = 0;
    bool has_synced = false;
    pid_t id;
    while ((id = waitpid(-1, &status, __WALL)) > 0) {
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            thread_of(id)->id = 0;
            continue;
        }
        struct thread *thread = thread_of(id);
        int signal = WSTOPSIG(status);
        if (signal == (SIGTRAP | 0x80)) {
            signal = 0;
            struct __ptrace_syscall_info info;
            if (ptrace(PTRACE_GET_SYSCALL_INFO, id, sizeof info, &info) <= 0) continue;
            if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
                const struct call *call = call_of(id, &info);
                if (call != NULL) {
                    step++;
                    bool is_alone = !is_other_inside(thread);
                    // An acknowledgement, by which no file system is changed.
                    bool is_saying = info.entry.nr == SYS_write && info.entry.args[0] == STDOUT_FILENO;
                    if (is_copying && is_alone) copy(words[3], words[4], step);
                    if ((!is_copying || is_alone) && (!is_cutting || step == last)) {
                        fprintf(report, "%u %s %s %lld\n", step, call->name, has_synced && !is_saying ? "synced" : "-",
                                (long long)printed());
                    }
                    has_synced = has_synced && is_saying;
                    if (is_cutting && step == last) {
                        cut(words[5], strcmp(words[4], "flush") == 0, strtoull(words[6], NULL, 10));
                        kill(child, SIGKILL);
                        last = 0;
                    }
                    thread->inside = call;
                }
            } else if (info.op == PTRACE_SYSCALL_INFO_EXIT) {
                if (thread->inside != NULL && thread->inside->waits) has_synced = true;
                thread->inside = NULL;
            }
        } else if (status >> 16 != 0 || signal == SIGSTOP) {
            // ptrace's own: an event, or a thread's beginning.
            signal = 0;
        }
        ptrace(PTRACE_SYSCALL, id, NULL, (void *)(intptr_t)signal);
    }
    return fclose(report) == 0 ? 0 : 1;
}
