import Glibc

/// Lets a write to a closed pipe fail with EPIPE instead of ending the process. Process-wide; call it first.
///
/// A handler that does nothing rather than SIG_IGN, which a COMMAND would inherit: execve(2) sets handlers
/// back to the default, and a COMMAND that writes to `head` must end as it would under the shell.
///
/// System calls: signal(2).
package func ignoreBrokenPipe() {
    _ = signal(SIGPIPE) { _ in }
}
