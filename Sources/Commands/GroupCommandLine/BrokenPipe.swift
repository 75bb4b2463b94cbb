import Glibc

/// Makes a write to a closed pipe fail with EPIPE instead of ending the process. Process-wide; to be called first.
///
/// The handler is empty; SIG_IGN is not used, because a COMMAND would inherit it: execve(2) resets handlers to the
/// default, and a COMMAND that writes to `head` must end as it would under the shell.
///
/// System calls: signal(2).
package func ignoreBrokenPipe() {
    _ = signal(SIGPIPE) { _ in }
}
