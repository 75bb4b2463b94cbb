// Imports nothing: no file, clock or process.

/// The state of a widget's process, for display.
package enum Lifecycle: String, Hashable, Sendable, CaseIterable {
    /// There is no process.
    case notRunning
    /// The process was started, and has not sent its first message.
    case starting
    /// The process runs.
    case active
    /// The process has time to release its locks.
    case suspending
    /// The process is stopped: it uses no processor time, and holds no lock.
    case suspended
    /// The process was requested to end, or killed, and has not exited yet.
    case ending
}
