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
        var until: Int64
        let environment: WidgetEnvironment
        let isReload: Bool
        /// Whether the answer has to have a timeline, also where nothing is new.
        let shows: Bool
        /// When to check the locks that the process holds, as the widget is hidden.
        var nextLockCheck: Int64 = .max
        /// Whether the widget was visible during the update.
        var wasVisible: Bool
        /// Whether the process got `suspend` before it answered.
        var isCutShort = false
    }

    /// A press without an answer yet.
    struct Press: Hashable, Sendable {
        let id: Int
        let until: Int64
    }

    let run: WidgetRun
    let startedAt: Int64
    var phase: Phase
    /// Whether an update has told the process that the widget has become visible.
    var hasAppeared = false
    var update: Update?
    /// The first of the widget's presses, as this process got it.
    var press: Press?
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
    /// The process is stopped: it uses no processor time, and holds no lock that other processes may wait for.
    case suspended
    /// The process was requested to end, or killed, and has not exited yet.
    case ending
}

/// How much of a widget's standard error the host reads: 1 MiB at once, and then 64 KiB a second. A widget that writes
/// more waits until the host reads on, as it would with a slow terminal.
struct ErrorStreamLimit: Hashable, Sendable {
    /// The bucket has a token for each byte, and uses the monotonic clock.
    private var bucket = TokenBucket(
        TokenBucket.Rate(tokens: 65_536, period: 1_000_000_000, capacity: 1_048_576))

    /// The moment until which the host reads nothing; nil if it reads.
    private(set) var pausedUntil: Int64?

    /// Records that a number of bytes were read.
    mutating func note(_ count: Int, at now: Int64) {
        bucket.spend(Int64(count), at: now)
        pausedUntil = bucket.debtEnd(after: now)
    }

    /// Ends a pause that is over. Returns true once for each pause.
    mutating func endsPause(at now: Int64) -> Bool {
        guard let pausedUntil, pausedUntil <= now else { return false }
        self.pausedUntil = nil
        return true
    }
}
