/// The identity of a process on the whole machine. A process identifier alone is not enough: each PID namespace has its
/// own, and uses a number again after its process has ended.
package struct ProcessMark: Hashable, Sendable {
    /// The process identifier in the process's own PID namespace.
    package var identifier: Int32
    /// The inode of that PID namespace; 0 where it is not known.
    package var namespace: UInt64
    /// The start of the process, in the kernel's ticks since boot; 0 where it is not known.
    package var started: UInt64

    package init(identifier: Int32, namespace: UInt64, started: UInt64) {
        self.identifier = identifier
        self.namespace = namespace
        self.started = started
    }

    /// Returns the mark of the calling process. System calls: openat2(2), read(2) of /proc/self, which is this process
    /// also where /proc is another PID namespace's.
    package static func ofThisProcess() -> ProcessMark {
        ProcessMark(
            identifier: processIdentifier(), namespace: ProcessTable.namespace(of: "self") ?? 0,
            started: ProcessView(of: "self")?.started ?? 0)
    }
}

/// The processes that /proc shows, found by their marks.
package struct ProcessTable {
    /// The result of a search for a process.
    package struct Entry {
        /// The process identifier in this process's PID namespace, for signals; nil where it is not known.
        package var identifier: Int32?
        /// The state of the process; nil where /proc does not show it.
        package var view: ProcessView?
    }

    private let own = namespace(of: "self")
    /// Whether /proc numbers processes as this process does: it does not after `unshare --pid --fork` alone.
    package let isOwnProc =
        (try? OpenFiles.directory("/proc").linkTarget(of: Array("self".utf8)))
        .map { Int32(String(decoding: $0, as: UTF8.self)) == processIdentifier() } ?? false
    /// The processes of other namespaces, and those of this one under a /proc that is not its own, by their numbers
    /// there.
    private lazy var others = readOthers()

    private struct Name: Hashable {
        var namespace: UInt64
        var identifier: Int32
    }

    package init() {}

    /// Finds a process. Reads /proc/PID/stat and cmdline; once for each table, and only for a process of another PID
    /// namespace, also /proc/PID/ns/pid and status of every process.
    package mutating func find(_ mark: ProcessMark) -> Entry {
        if mark.namespace == 0 || mark.namespace == own, isOwnProc {
            let view = Self.view("\(mark.identifier)", mark)
            return Entry(identifier: mark.namespace == 0 && view == nil ? nil : mark.identifier, view: view)
        }
        let shown = others[Name(namespace: mark.namespace, identifier: mark.identifier)]
        let view = shown.flatMap { Self.view("\($0)", mark) }
        if mark.namespace != 0, mark.namespace == own { return Entry(identifier: mark.identifier, view: view) }
        return Entry(identifier: view == nil || !isOwnProc ? nil : shown, view: view)
    }

    private static func view(_ name: String, _ mark: ProcessMark) -> ProcessView? {
        ProcessView(of: name).flatMap { $0.started == mark.started ? $0 : nil }
    }

    private func readOthers() -> [Name: Int32] {
        var processes: [Name: Int32] = [:]
        for process in OpenFiles.processes(of: nil) {
            guard let namespace = Self.namespace(of: "\(process)"), !isOwnProc || namespace != own,
                let identifier = Self.innermostIdentifier(of: process)
            else { continue }
            processes[Name(namespace: namespace, identifier: identifier)] = process
        }
        return processes
    }

    /// Returns the inode of a process's PID namespace; nil where this user may not examine the process.
    fileprivate static func namespace(of process: String) -> UInt64? {
        try? FileDescriptor.open(path: Array("/proc/\(process)/ns/pid".utf8), .reading).status().inode
    }

    /// Returns the last number of the line `NSpid:`, which has one for each namespace that the process is in.
    private static func innermostIdentifier(of process: Int32) -> Int32? {
        let text =
            (try? FileDescriptor.open(path: Array("/proc/\(process)/status".utf8), .reading).readAll(limit: 65_536))
        return text?.split(separator: UInt8(ascii: "\n")).first { $0.starts(with: Array("NSpid:".utf8)) }?
            .split(separator: UInt8(ascii: "\t")).last.flatMap { Int32(String(decoding: $0, as: UTF8.self)) }
    }
}
