// Imports nothing: no file, clock or process.

/// A widget's process, as far as the host decides about it. Deadlines are of the monotonic clock.
struct HostedProcess: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// The process was started, and has until this moment to send its first message.
        case starting(until: Int64)
        case active
        /// The process has time to release its locks, and is checked then.
        case suspending(id: Int, until: Int64)
        /// The process is checked while it still runs; a process that holds nothing is then stopped.
        case looking
        /// The process is being stopped, and is then checked again, as it may have taken a lock meanwhile.
        case stopping(until: Int64)
        case suspended
        /// The process has until this moment to end, and is then killed; nil if it was killed.
        case ending(until: Int64?)
    }

    /// An update without an answer yet.
    struct Update: Hashable, Sendable {
        let id: Int
        let until: Int64
        let environment: WidgetEnvironment
        let isReload: Bool
        /// Whether the answer has to have a timeline, also where nothing is new.
        let shows: Bool
    }

    let run: WidgetRun
    let startedAt: Int64
    var phase: Phase
    var update: Update?
    /// The lines that the widget may write to the log without a request: 200 at once, and then 20 a second.
    var logBucket = TokenBucket(TokenBucket.Rate(tokens: 20, period: 1_000_000_000, capacity: 200))
    /// The number of the last suspension. An answer to it that comes too late is no fault.
    var lastSuspension = 0
    /// Whether that suspension was answered.
    var hasAnswered = false
    /// The moment until which the process may hold locks, and goes on running.
    var graceUntil: Int64 = .max
    /// How often in a row the process held locks on other files after its grace, and the last note about them.
    var hindrances = 0
    var hindrance: PanelNote?
    /// When to check again, as some of the processes still ran after they were stopped.
    var lookAgain: Int64 = .max
    /// The moment by which the process has to end, as it has closed its output.
    var silentUntil: Int64?

    var lifecycle: Lifecycle {
        switch phase {
        case .starting: .starting
        case .active: .active
        case .suspending, .looking, .stopping: .suspending
        case .suspended: .suspended
        case .ending: .ending
        }
    }

    var isEnding: Bool { lifecycle == .ending }
}
