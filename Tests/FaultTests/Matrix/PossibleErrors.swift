import TestSupport

/// Which errors a system call may answer, so that each of them is tried at each call that may.
enum PossibleErrors {
    private static let opening = ["EIO", "ENOSPC", "EINTR", "EMFILE", "EACCES"]
    private static let transferring = ["EIO", "EINTR"]
    private static let writing = ["EIO", "ENOSPC", "EINTR"]
    private static let naming = ["EIO", "ENOSPC", "EACCES"]

    /// By the calls' manual pages; `EINTR` where signal(7) has it, and of renames, which network file systems may
    /// interrupt. What only another argument or another file system would bring is left out.
    private static let table: [String: [String]] = [
        "openat": opening, "openat2": opening, "open": opening, "readlinkat": ["EIO", "EACCES"],
        "readlink": ["EIO", "EACCES"], "read": transferring, "pread64": transferring, "write": writing,
        "pwrite64": writing, "fsync": writing, "fdatasync": writing, "fallocate": writing, "ftruncate": transferring,
        "copy_file_range": writing, "sendfile": writing, "renameat": naming + ["EINTR"],
        "renameat2": naming + ["EINTR"], "linkat": naming, "mkdirat": naming, "unlinkat": ["EIO", "EACCES"],
        "statx": ["EIO", "EACCES"], "newfstatat": ["EIO"], "fstatfs": transferring, "getdents64": ["EIO"],
        "fchmod": ["EIO", "EPERM"], "fchmodat": ["EIO", "EPERM"], "fchown": ["EIO", "EPERM"],
        "utimensat": ["EIO", "EPERM"], "listxattr": ["EIO"], "getxattr": ["EIO"], "setxattr": ["EIO", "ENOSPC"],
        "fsetxattr": ["EIO", "ENOSPC"], "fgetxattr": ["EIO"], "flistxattr": ["EIO"], "inotify_init1": ["EMFILE"],
        "inotify_add_watch": ["ENOSPC", "EACCES"], "epoll_create1": ["EMFILE"], "eventfd2": ["EMFILE"],
        "pipe2": ["EMFILE"], "socketpair": ["EMFILE"], "sendmsg": ["EINTR", "ENOMEM"], "recvfrom": ["EINTR"],
        "signalfd4": ["EMFILE"], "epoll_wait": ["EINTR"], "poll": ["EINTR"],
        "clock_nanosleep": ["EINTR"], "epoll_ctl": ["ENOSPC"], "ioctl": ["EIO"], "socket": ["EMFILE"],
    ]

    /// They do not fail where their arguments are right; those for memory do, and then the runtime ends the process.
    /// `close` has let go of the descriptor whatever it answers, and local file systems answer nothing else.
    private static let infallible: Set<String> = [
        "brk", "close", "clone3", "exit", "exit_group", "futex", "getegid", "geteuid", "getgid", "getpid", "getrandom",
        "gettid", "getuid", "madvise", "mprotect", "mremap", "munmap", "prctl", "prlimit64", "restart_syscall", "rseq",
        "rt_sigaction", "rt_sigprocmask", "sched_getaffinity", "sched_yield", "set_robust_list", "sigaltstack", "umask",
        "clock_gettime", "uname", "sysinfo", "getppid", "wait4", "lseek", "execve", "getcwd", "rt_sigreturn", "kill",
    ]

    /// Nil for a call that nobody has thought of yet.
    static func of(_ call: Strace.Call) -> [String]? {
        switch call.name {
        // What is not of a file is the runtime's memory.
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
