import TestSupport

/// The errors that each system call may return, so that each of them is tried at each such call.
enum PossibleErrors {
    private static let opening = ["EIO", "ENOSPC", "EINTR", "EMFILE", "EACCES"]
    private static let transferring = ["EIO", "EINTR"]
    private static let writing = ["EIO", "ENOSPC", "EINTR"]
    private static let naming = ["EIO", "ENOSPC", "EACCES"]

    /// From the calls' manual pages; `EINTR` where signal(7) has it, and for renames, which network file systems may
    /// interrupt. Errors that only another argument or another file system would bring are left out.
    private static let table: [String: [String]] = [
        "openat": opening, "openat2": opening, "open": opening, "readlinkat": ["EIO", "EACCES"],
        "readlink": ["EIO", "EACCES"], "read": transferring, "pread64": transferring, "write": writing,
        "pwrite64": writing, "pwritev2": writing, "fsync": writing, "fdatasync": writing, "sync_file_range": writing,
        "fallocate": writing,
        "ftruncate": transferring,
        "copy_file_range": writing, "sendfile": writing, "renameat": naming + ["EINTR"],
        "renameat2": naming + ["EINTR"], "linkat": naming, "mkdirat": naming, "unlinkat": ["EIO", "EACCES"],
        "statx": ["EIO", "EACCES"], "faccessat2": ["EIO"], "newfstatat": ["EIO"], "fstatfs": transferring,
        "getdents64": ["EIO"],
        "fchmod": ["EIO", "EPERM"], "fchmodat": ["EIO", "EPERM"], "fchown": ["EIO", "EPERM"],
        "utimensat": ["EIO", "EPERM"], "listxattr": ["EIO"], "llistxattr": ["EIO"], "getxattr": ["EIO"],
        "setxattr": ["EIO", "ENOSPC"],
        "fsetxattr": ["EIO", "ENOSPC"], "fgetxattr": ["EIO"], "flistxattr": ["EIO"], "inotify_init1": ["EMFILE"],
        "inotify_add_watch": ["ENOSPC", "EACCES"], "epoll_create1": ["EMFILE"], "eventfd2": ["EMFILE"],
        "pipe2": ["EMFILE"], "socketpair": ["EMFILE"], "sendmsg": ["EINTR", "ENOMEM"], "recvfrom": ["EINTR"],
        "signalfd4": ["EMFILE"], "epoll_wait": ["EINTR"], "poll": ["EINTR"], "futex_waitv": ["EINTR"],
        "clock_nanosleep": ["EINTR"], "epoll_ctl": ["ENOSPC"], "ioctl": ["EIO"], "socket": ["EMFILE"],
    ]

    /// Calls that do not fail if their arguments are right; those for memory may fail, and then the runtime ends the
    /// process. `close` has released the descriptor whatever it returns, and local file systems return no error.
    private static let infallible: Set<String> = [
        "brk", "close", "clone3", "exit", "exit_group", "futex", "getegid", "geteuid", "getgid", "getpid", "getrandom",
        "gettid", "getuid", "madvise", "mprotect", "mremap", "munmap", "prctl", "prlimit64", "restart_syscall", "rseq",
        "rt_sigaction", "rt_sigprocmask", "sched_getaffinity", "sched_yield", "set_robust_list", "sigaltstack", "umask",
        "clock_gettime", "uname", "sysinfo", "getppid", "wait4", "lseek", "execve", "getcwd", "rt_sigreturn", "kill",
    ]

    /// Nil for a call that is in no table.
    static func of(_ call: Strace.Call) -> [String]? {
        switch call.name {
        // A map that is not of a file is the runtime's memory.
        case "mmap": call.arguments.contains("MAP_SHARED") ? ["ENOMEM"] : []
        // Locks of ranges, and copies of descriptors.
        case "fcntl":
            if call.arguments.contains("F_DUPFD") {
                ["EMFILE"]
            } else if call.arguments.contains("F_OFD_SETLK") {
                ["ENOLCK", "EINTR"]
            } else if call.arguments.contains("F_OFD_GETLK") {
                ["EINTR"]
            } else {
                []
            }
        default: infallible.contains(call.name) ? [] : table[call.name]
        }
    }
}
