import GroupSystemCalls

/// A member's process, as far as this process can tell which it is.
struct MemberProcess: Equatable, Sendable {
    /// Its number in this process's PID namespace, or in `pidNamespace`.
    var identifier: Int32
    /// Where the number is another namespace's: that one's inode, or 0 where nobody knows which. Nil where a signal to
    /// `identifier` reaches the member.
    var pidNamespace: UInt64?
    /// How it was called; nil where the system will not say.
    var command: String?
    var condition: CoordinationError.Holder.Condition?

    /// Its number where a signal to it reaches the member.
    var signalled: Int32? { pidNamespace == nil ? identifier : nil }

    /// `process 7`, or `process 7 of PID namespace 4026532001`
    var description: String { Self.text(identifier, pidNamespace) }

    static func text(_ identifier: Int32, _ pidNamespace: UInt64?) -> String {
        switch pidNamespace {
        case nil: "process \(identifier)"
        case 0: "process \(identifier) of a PID namespace that is not known"
        case let namespace?: "process \(identifier) of PID namespace \(namespace)"
        }
    }
}

extension ProcessTable {
    mutating func process(of member: MemberTable.Member) -> MemberProcess {
        let found = find(member.mark)
        let condition = found.view.map { view -> CoordinationError.Holder.Condition in
            switch view.condition {
            case .running: .running
            case .stopped: .stopped
            case .zombie: .zombie
            }
        }
        return MemberProcess(
            identifier: found.identifier ?? member.mark.identifier,
            pidNamespace: found.identifier == nil ? member.mark.namespace : nil,
            command: found.view.map { printable($0.command) }, condition: condition)
    }
}

extension MemberTable.Member {
    /// Where several members are asked for, one `ProcessTable` answers for all of them.
    var process: MemberProcess {
        var table = ProcessTable()
        return table.process(of: self)
    }
}
