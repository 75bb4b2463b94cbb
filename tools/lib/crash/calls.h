// Which system calls may change a file system.
#pragma once
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

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
