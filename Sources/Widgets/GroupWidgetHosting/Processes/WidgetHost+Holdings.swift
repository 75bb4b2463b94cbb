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
        // This check comes before that of the locks: a stopped process takes no more locks. The widget's own process is
        // not checked, as the host uses the result only after the kernel has reported the stop of that process.
        let isGoingOn = !all.allSatisfy { $0 == widget.identifier || ProcessView.isStill($0) }
        var holdings = Holdings(items: container.accessedItems { all.contains($0) }, isGoingOn: isGoingOn)
        if !holdings.items.isEmpty { holdings.isAwaited = container.isAwaited { all.contains($0) } }
        for process in all {
            let locks = FileLock.held(by: process)
            let databases = Set(locks.compactMap(\.databaseOfLog))
            for lock in locks
            where ContainerLock.keepsOthersWaiting(path: lock.path, start: lock.start)
                && !lock.isOfOpenDatabase(databases)
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

/// In the mode WAL a connection of SQLite has two shared locks as long as it is open: one on the index of the log, and
/// one on the database. No process waits for these: one that wants more tries once.
extension FileLock {
    /// The path of the database, if this lock shows that a connection has the index of its log open.
    fileprivate var databaseOfLog: [UInt8]? {
        let name = Array("-shm".utf8)
        if !path.suffix(name.count).elementsEqual(name) { return nil }
        return ContainerLock.keepsOthersWaiting(path: path, start: start) ? nil : Array(path.dropLast(name.count))
    }

    /// Returns whether this is the lock on a database that a connection in the mode WAL has. Without that mode the same
    /// lock is that of a transaction that reads.
    fileprivate func isOfOpenDatabase(_ databases: Set<[UInt8]>) -> Bool {
        !isExclusive && start == Self.firstShared && databases.contains(path)
    }

    /// SHARED_FIRST of SQLite.
    private static let firstShared: Int64 = 0x4000_0002

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
