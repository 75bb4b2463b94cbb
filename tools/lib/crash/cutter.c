// Runs a program and cuts the power of the file system that it works on, at one of its steps.
//
// A step is the entry of a system call that may change a file system, or the program's end. What was stored to mapped
// memory since the step before is part of the state at it.
//
//   cutter list REPORT -- PROGRAM...
//       Runs the program to its end. REPORT has a line a step: its number, the call, `synced` if a call that waits for the
//       disk has returned since the step before, else `-`, and how many bytes the program had printed.
//   cutter cut REPORT STEP flush|lose FOLDER SEED -- PROGRAM...
//       At that step: some pages of the files, drawn by lot, are written back, in any order, as a kernel might have done
//       (none with seed 0); then FOLDER's file system is shut down, with what its log has in memory flushed to the disk or
//       lost; then the program is killed. REPORT has that step's line; none, if it ended before.
//   cutter copy REPORT IMAGE PREFIX -- PROGRAM...
//       At each step what IMAGE has by then goes into PREFIX and the step's number: what a power cut would leave. (Where
//       another thread is in such a call, no copy is made, and the line is left out.)
//
// The program's own exit status is ignored; 0 if everything here could be done.
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHUT_DOWN _IOR('X', 125, uint32_t)
enum { FLUSH_LOG = 1, LOSE_LOG = 2 };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "cutter: %s: %s\n", what, strerror(errno));
    exit(1);
}

static const struct call {
    long number;
    const char *name;
    bool waits;
} calls[] = {
    {SYS_write, "write", false},         {SYS_pwrite64, "pwrite64", false},   {SYS_writev, "writev", false},
    {SYS_fsync, "fsync", true},          {SYS_fdatasync, "fdatasync", true},  {SYS_msync, "msync", true},
    {SYS_syncfs, "syncfs", true},        {SYS_sync_file_range, "sync_file_range", true},
    {SYS_renameat, "renameat", false},   {SYS_renameat2, "renameat2", false}, {SYS_rename, "rename", false},
    {SYS_unlinkat, "unlinkat", false},   {SYS_unlink, "unlink", false},       {SYS_linkat, "linkat", false},
    {SYS_mkdirat, "mkdirat", false},     {SYS_mkdir, "mkdir", false},         {SYS_rmdir, "rmdir", false},
    {SYS_ftruncate, "ftruncate", false}, {SYS_fallocate, "fallocate", false}, {SYS_fsetxattr, "fsetxattr", false},
    {SYS_fchmod, "fchmod", false},       {SYS_fchown, "fchown", false},       {SYS_fchmodat, "fchmodat", false},
    {SYS_utimensat, "utimensat", false}, {SYS_copy_file_range, "copy_file_range", false},
    {SYS_exit_group, "exit_group", false},
};

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

/// The call that a thread enters, if it may change a file system. One that opens a file counts where it may make it.
static const struct call *call_of(pid_t id, const struct __ptrace_syscall_info *info) {
    static const struct call creating = {0, "open", false};
    if (info->entry.nr == SYS_openat) return info->entry.args[2] & O_CREAT ? &creating : NULL;
    if (info->entry.nr == SYS_openat2) {
        // The flags are what struct open_how begins with.
        long flags = ptrace(PTRACE_PEEKDATA, id, (void *)(uintptr_t)info->entry.args[2], NULL);
        return flags & O_CREAT ? &creating : NULL;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (calls[i].number == (long)info->entry.nr) return &calls[i];
    }
    return NULL;
}

// SplitMix64 (Steele, Lea, Flood).
static uint64_t lot_state;
static uint64_t lot(void) {
    uint64_t mixed = lot_state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static unsigned share;

static int write_back_some(const char *path, const struct stat *status, int kind, struct FTW *place) {
    (void)place;
    if (kind != FTW_F || !S_ISREG(status->st_mode)) return 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    for (off_t at = 0; at < status->st_size && at < 8 << 20; at += 4096) {
        if (lot() % 100 < share) {
            sync_file_range(file, at, 4096,
                            SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
        }
    }
    close(file);
    return 0;
}

static void cut(const char *folder, bool is_flushing, uint64_t seed) {
    if (seed != 0) {
        lot_state = seed;
        share = (unsigned)(lot() % 101);
        nftw(folder, write_back_some, 16, FTW_PHYS | FTW_MOUNT);
    }
    int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint32_t how = is_flushing ? FLUSH_LOG : LOSE_LOG;
    if (root < 0 || ioctl(root, SHUT_DOWN, &how) < 0) fail("shut down");
    close(root);
}

/// What a file has, without its holes.
static void copy(const char *from, const char *prefix, unsigned step) {
    char name[4096];
    snprintf(name, sizeof name, "%s%u", prefix, step);
    int in = open(from, O_RDONLY | O_CLOEXEC), out = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct stat status;
    if (in < 0 || out < 0 || fstat(in, &status) < 0 || ftruncate(out, status.st_size) < 0) fail(name);
    static char block[1 << 20];
    for (off_t at = 0, end; (at = lseek(in, at, SEEK_DATA)) >= 0; at = end) {
        end = lseek(in, at, SEEK_HOLE);
        for (off_t place = at; place < end;) {
            size_t wanted = end - place < (off_t)sizeof block ? (size_t)(end - place) : sizeof block;
            ssize_t count = pread(in, block, wanted, place);
            if (count <= 0 || pwrite(out, block, (size_t)count, place) != count) fail(name);
            place += count;
        }
    }
    if (errno != ENXIO) fail(from);
    close(in);
    close(out);
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
                    if (is_copying && is_alone) copy(words[3], words[4], step);
                    if ((!is_copying || is_alone) && (!is_cutting || step == last)) {
                        fprintf(report, "%u %s %s %lld\n", step, call->name, has_synced ? "synced" : "-",
                                (long long)printed());
                    }
                    has_synced = false;
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
