import GroupBytes
import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// Finds what a widget's processes hold. Exactly the processes that are signalled with the widget are checked, as only
/// they are stopped.
extension WidgetHost where FrontEnd: ~Copyable {
    func holdings(of run: WidgetRun) -> Holdings {
        guard let widget = processes[run.kind], widget.run == run else { return Holdings() }
        let all = widget.process.signalled
        // This check comes before that of the locks: a stopped process takes no more locks. For the widget's own
        // process, the kernel has reported the stop.
        let isGoingOn = !all.allSatisfy { $0 == widget.identifier || ProcessView.isStill($0) }
        var holdings = Holdings(items: container.accessedItems { all.contains($0) }, isGoingOn: isGoingOn)
        for process in all {
            for lock in FileLock.held(by: process)
            where ContainerLock.keepsOthersWaiting(path: lock.path, start: lock.start)
                && (holdings.items.isEmpty || !ContainerLock.isOnItemLocks(path: lock.path))
            {
                let text = Self.text(lock, of: process)
                if !holdings.locks.contains(text) { holdings.locks.append(text) }
            }
        }
        return holdings
    }

    private static func text(_ lock: FileLock, of process: Int32) -> String {
        let command = ProcessView(of: process).map { " ('\(PipeText.escaped(Array($0.command.prefix(100))))')" } ?? ""
        let file = lock.path.isEmpty ? "a file" : "'\(PipeText.escaped(lock.path))'"
        return "process \(process)\(command) holds \(lock.words) on \(file)"
    }
}

extension FileLock {
    /// The lock in words, for people.
    fileprivate var words: String {
        let name =
            switch family {
            case "OFDLCK": "open file description lock"
            case "FLOCK": "flock lock"
            case "LEASE": "file lease"
            default: "\(family) lock"
            }
        return (isExclusive ? "an exclusive " : "a shared ") + name
    }
}
