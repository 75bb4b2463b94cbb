/// A widget's process, as far as the host has to decide about it. Deadlines are of the clock that does not jump.
struct HostedProcess: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// Until it has said what it is.
        case starting(until: Int64)
        case active
        /// It gives back what it holds, and is looked at then.
        case suspending(id: Int, until: Int64)
        /// It is looked at, still running: what holds nothing then is stopped.
        case looking
        /// It is being stopped, and then looked at once more: it may have taken something meanwhile.
        case stopping(until: Int64)
        case suspended
        /// It is to be gone by then, or is killed; nil: it was.
        case ending(until: Int64?)
    }

    /// What it was asked and has not answered.
    struct Update: Hashable, Sendable {
        let id: Int
        let until: Int64
        let environment: WidgetEnvironment
        let isReload: Bool
        /// It is to say what it shows, also where that is as it was.
        let shows: Bool
    }

    let run: WidgetRun
    let startedAt: Int64
    var phase: Phase
    var update: Update?
    /// What the widget may write to the log without being asked: 200 lines at once, and then 20 a second.
    var unasked = TokenBucket(TokenBucket.Rate(tokens: 20, period: 1_000_000_000, capacity: 200))
    /// The number of the last suspension that it was told; an answer that comes too late is no fault.
    var lastSuspension = 0
    /// Whether it has answered that one.
    var hasAnswered = false
    /// Until then it may hold something, and goes on.
    var graceUntil: Int64 = .max
    /// How often in a row it was found with locks of others behind its grace, and what was said of that.
    var hindrances = 0
    var hindrance: PanelNote?
    /// Some of it still ran when it was stopped: looked at again then.
    var lookAgain: Int64 = .max
    /// It has closed its output, and is to be gone by then.
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
