/// What becomes of a widget's process, as somebody looks at it.
package enum Lifecycle: String, Hashable, Sendable, CaseIterable {
    /// There is no process.
    case notRunning
    /// It has been started, and has not said what it is.
    case starting
    /// It runs.
    case active
    /// It has a moment to give back what it holds.
    case suspending
    /// Stopped: it uses no processor, and holds nothing.
    case suspended
    /// It has been told to end, or killed, and is not gone yet.
    case ending
}
