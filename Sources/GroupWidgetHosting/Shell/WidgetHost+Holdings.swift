import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// What a widget's processes hold. Whatever is signalled with it is looked at, and nothing else: the rest is not
/// stopped.
extension WidgetHost where FrontEnd: ~Copyable {
    func holdings(of run: WidgetRun) -> Holdings {
        guard let widget = processes[run.kind], widget.run == run else { return Holdings() }
        let all = widget.process.signalled
        // Before its locks are looked at: what stands still takes none any more. The kernel has told of the widget
        // itself.
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
    /// For people.
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
