#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Makes a write to a closed pipe fail with EPIPE instead of ending the process. Process-wide; to be called first.
///
/// The handler is empty; SIG_IGN is not used, because a COMMAND would inherit it: execve(2) resets handlers to the
/// default, and a COMMAND that writes to `head` must end as it would under the shell.
///
/// System calls: signal(2).
package func ignoreBrokenPipe() {
    _ = signal(SIGPIPE) { _ in }
}

/// Runs `body`, in which a write to a closed socket is an error and no SIGPIPE, whatever the process does with that
/// signal: for libraries that write without MSG_NOSIGNAL. System calls: rt_sigprocmask(2), rt_sigpending(2),
/// rt_sigtimedwait(2)
package func withoutBrokenPipeSignals<Answer, Failure: Error>(_ body: () throws(Failure) -> Answer) throws(Failure)
    -> Answer
{
    var pipe = sigset_t()
    var before = sigset_t()
    var pending = sigset_t()
    unsafe sigemptyset(&pipe)
    unsafe sigaddset(&pipe, SIGPIPE)
    unsafe pthread_sigmask(SIG_BLOCK, &pipe, &before)
    unsafe sigpending(&pending)
    // One that was pending, or would not have been received now, is not this function's.
    let wasThere = unsafe sigismember(&pending, SIGPIPE) == 1
    defer {
        if !wasThere {
            unsafe sigpending(&pending)
            if unsafe sigismember(&pending, SIGPIPE) == 1 {
                var atOnce = timespec()
                unsafe sigtimedwait(&pipe, nil, &atOnce)
            }
        }
        unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
    }
    return try body()
}
