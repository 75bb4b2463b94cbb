package import GroupContainer
import GroupSystemCalls

/// Returns what the user of a command can do about an error, in the words of the commands: their names, their options,
/// and the system's commands. Nil where the error's own remedy is enough, or where there is none.
package func hint(for error: CoordinationError) -> String? {
    if error.code == .lockTimedOut && error.remedy == nil { return hintForWaiting(error.holders) }
    guard let remedy = error.remedy else { return nil }
    switch remedy.code {
    case .tryAgain where error.code == .lockTimedOut: return "try again; groupctl status shows what the members do"
    case .replace: return "leave out -n to replace it"
    case .adoptContents: return "--adopt makes them items of the container"
    case .recurse where error.operation == "remove": return "-r removes it with everything in it"
    case .recurse: return "-r copies it with everything in it"
    case .handleSeparately where error.code == .outsideContainer:
        return "\(remedy.text) (cp -a)"
    case .changeWithoutCoordination: return hintForUncoordinated(error, remedy)
    case .checkPath where error.containerPath != nil: return "groupctl list shows what is there"
    case .nameByPath where error.code == .invalidArgument: return "write a path with a '/' in it to name a directory"
    case .checkUnixGroup: return "getent group shows the groups"
    case .createContainer: return "groupctl create makes it"
    case .finishDeletion: return "'groupctl delete-group --yes \(error.item ?? "GROUP")' finishes it"
    case .checkContainer:
        let isMessage = error.operation == "listen"
        return (isMessage ? "the messages that follow are whole" : "nothing was changed")
            + "; groupctl doctor shows what can be done"
    case .repairContainer where error.item == ".group/checkpoint": return "groupctl doctor --repair rebuilds it"
    case .repairContainer: return "groupctl doctor --repair keeps what can be read"
    case .restoreDatabase: return "\(remedy.text) (sqlite3 FILE .recover)"
    case .endMembers: return "\(remedy.text) (groupctl status shows them)"
    case .endProcess where remedy.process == nil: return "groupctl doctor shows that process; end it, and try again"
    case .continueProcess: return remedy.process.map { "continue it (kill -CONT \($0)), or end it" }
    case .askOwnerToShare: return "\(remedy.text) (groupctl create --unix-group)"
    case .mountProc: return "mount it: mount -t proc proc /proc"
    case .raiseOpenFiles where error.cause as? Errno == .tooManyFilesInSystem:
        return "\(remedy.text): sysctl fs.file-max"
    case .raiseOpenFiles: return "\(remedy.text): ulimit -n"
    case .raiseProcesses: return "\(remedy.text): ulimit -u, ulimit -v"
    case .raiseMemory: return "\(remedy.text): ulimit -v"
    case .raiseFileSize: return "\(remedy.text): ulimit -f"
    default: return nil
    }
}

/// Returns an error as a command prints it: its sentence, with the hint in place of the library's remedy.
package func message(of error: any Error) -> String {
    guard let error = error as? CoordinationError else { return "\(error)" }
    return error.description(advising: hint(for: error) ?? error.remedy?.text)
}

private func hintForWaiting(_ holders: [CoordinationError.Holder]) -> String {
    // A process number of another PID namespace may be another process's number in this one.
    if holders.isEmpty || holders.contains(where: { $0.pidNamespace != nil }) { return "raise --timeout" }
    let stopped = holders.filter { $0.condition == .stopped }
    let numbers = { (holders: [CoordinationError.Holder]) in
        Set(holders.map(\.processIdentifier)).sorted().map(String.init).joined(separator: " ")
    }
    if !stopped.isEmpty { return "continue it (kill -CONT \(numbers(stopped))), or raise --timeout" }
    return "raise --timeout, or end it (kill \(numbers(holders)))"
}

private func hintForUncoordinated(_ error: CoordinationError, _ remedy: CoordinationError.Remedy) -> String? {
    switch error.operation {
    case "move": "copy it, and remove the original with rm: a copy and a removal are two changes"
    case "remove": "remove it with rm, without coordination: followers get the change all the same"
    case "copy" where error.code == .limitReached:
        "copy it with cp -a, without coordination: followers get each item of it"
    case _ where error.code == .outsideContainer: "set it with chmod"
    default: nil
    }
}
