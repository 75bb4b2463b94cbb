import GroupSystemCalls

extension Roster.Member {
    /// How its process was called, and what it is doing. Nil where the system will not say, or its number means another
    /// process by now, or in this namespace.
    var process: (command: String, condition: CoordinationError.Holder.Condition)? {
        guard let view = ProcessView(of: processIdentifier), view.started == processStart else { return nil }
        let condition: CoordinationError.Holder.Condition =
            switch view.condition {
            case .running: .running
            case .stopped: .stopped
            case .zombie: .zombie
            }
        return (printable(view.command), condition)
    }
}
