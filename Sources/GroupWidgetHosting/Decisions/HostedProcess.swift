/// A widget's process, as far as the host has to decide about it. Deadlines are of the clock that does not jump.
struct HostedProcess: Hashable, Sendable {
    enum Phase: Hashable, Sendable {
        /// Until it has said what it is.
        case starting(until: Int64)
        case active
        /// It gives back what it holds.
        case suspending(id: Int, until: Int64)
        /// It is being stopped, and then looked at. `graceUntil`: it may go on until then, if it still holds something.
        case stopping(until: Int64, graceUntil: Int64)
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
    }

    let run: WidgetRun
    let startedAt: Int64
    var phase: Phase
    var update: Update?
    var chatter = Chatter()
    /// The number of the last suspension that it was told; an answer that comes too late is no fault.
    var lastSuspension = 0
    /// It has closed its output, and is to be gone by then.
    var silentUntil: Int64?

    var lifecycle: Lifecycle {
        switch phase {
        case .starting: .starting
        case .active: .active
        case .suspending, .stopping: .suspending
        case .suspended: .suspended
        case .ending: .ending
        }
    }

    var isEnding: Bool { lifecycle == .ending }
}
