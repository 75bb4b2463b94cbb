import GroupLocking
import GroupBytes
import GroupLog
import GroupSystemCalls

/// The facts about the log of a suite or of a channel.
struct LogFacts: Equatable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case suite, channel

        /// The directory below `.group` in which the log is kept.
        var directory: String { self == .suite ? "defaults" : "channels" }
    }

    struct SegmentFacts: Equatable, Sendable {
        var name: String
        /// Whether this is the newest file. Only its state counts; the others are kept for slow followers.
        var isNewest: Bool
        /// The faults of the file, in their order.
        var causes: [String] = []
        /// The number of places at which something could not be read.
        var lost = 0
        /// Whether the file ends in a record that was not finished.
        var isTorn = false
        var hasFailedSync = false
        /// The reason why only a newer version can read the file.
        var newer: String?
        /// The reason why the file could not be examined.
        var failed: String?
    }

    var kind: Kind
    var name: String
    var segments: [SegmentFacts] = []
    /// Files that a gap separates from the newest one: a process died while it removed them.
    var separated: [String] = []
    /// Whether no other process has the container open, so that none writes to it.
    var isAlone = true

    var label: String { ".group/\(kind.directory)/\(name)" }

    var findings: [Finding] {
        if segments.isEmpty { return [missing] }
        return segments.flatMap { segment in
            [damage(of: segment), torn(segment), undurable(segment), strange(segment)].compactMap(\.self)
        } + separated.map(leftover)
    }

    private func damage(of segment: SegmentFacts) -> Finding? {
        guard let first = segment.causes.first else { return nil }
        let rest = segment.causes.count - 1
        let what = first + (rest == 0 ? "" : ", and \(rest == 1 ? "one place" : "\(rest) places") more")
        let code: Finding.Code = kind == .suite ? .suiteDamaged : .channelDamaged
        if !segment.isNewest {
            return Finding(
                code, .warning, item: segment.name, what,
                why:
                    "the file after it begins with the state that it came to; a slow follower that comes to it compares everything",
                remedy: remedy("drops it"), repaired: isAlone ? "it was dropped" : nil)
        }
        let isLoss = segment.lost > 0
        return Finding(
            code, .error, item: segment.name, what,
            why: kind == .suite
                ? "what was set there is not seen, or the suite cannot be used at all"
                : "messages and acknowledgements that stood there are not seen, or the channel cannot be used at all",
            remedy: remedy("begins a new file with everything that can be read") + "; look after the disk, too",
            repaired: isAlone
                ? "a new file begins with everything that could be read"
                    + (isLoss ? loss(at: segment.lost) : ", and nothing is lost") : nil)
    }

    private func loss(at places: Int) -> String {
        let count = places == 1 ? "one place" : "\(places) places"
        return kind == .suite
            ? "; what was set at \(count) is lost, and has the values from before"
            : "; what stood at \(count) is lost, and listeners get an error; messages behind that may come to them again"
    }

    private func remedy(_ what: String) -> String {
        isAlone
            ? "\(Finding.repair) \(what)"
            : "end the container's members (groupctl status names them), then \(Finding.repair) \(what)"
    }

    /// Reports an unfinished record, but not while a member lives: the record may be in the middle of a write.
    private func torn(_ segment: SegmentFacts) -> Finding? {
        guard segment.isTorn, segment.isNewest, isAlone else { return nil }
        return Finding(
            .logTorn, .note, item: segment.name, "it ends in a record that was not finished",
            why: "its writer died, or the machine did; the next writer ends the log there",
            remedy: "nothing needs to be done", repaired: "it ends before that")
    }

    private func undurable(_ segment: SegmentFacts) -> Finding? {
        guard segment.hasFailedSync, segment.isNewest, segment.newer == nil else { return nil }
        return Finding(
            .logNotDurable, .error, item: segment.name, "the disk refused to keep it (fdatasync failed)",
            why: "nothing in it is durable until the disk takes it again",
            remedy: remedy("writes everything into a new file") + "; look after the disk: dmesg, smartctl",
            repaired: isAlone ? "everything was written into a new file, which the disk has kept" : nil)
    }

    private func strange(_ segment: SegmentFacts) -> Finding? {
        if let newer = segment.newer {
            return Finding(
                .formatNewer, .error, item: segment.name, newer,
                why: "this version would misunderstand what is in it; nothing was changed",
                remedy: "use a newer version of this program")
        }
        return segment.failed.map { cause in
            Finding(
                .partDamaged, .error, item: segment.name, cause, why: "the \(kind.rawValue) cannot be used",
                remedy: "look after its permissions, and after the disk")
        }
    }

    private func leftover(_ segment: String) -> Finding {
        Finding(
            .leftovers, .note, item: segment, "the file that follows it is gone, so no process reads it",
            why: "it only takes room", remedy: remedy("removes it"), repaired: isAlone ? "it was removed" : nil)
    }

    private var missing: Finding {
        Finding(
            .logMissing, .note, item: label, "it has no file",
            why:
                "it was never begun, or its files were removed; the next writer of the \(kind.rawValue) begins anew",
            remedy: isAlone
                ? "if there were any, put its files back from a backup; else \(Finding.repair) removes the directory"
                : "if there were any, put its files back from a backup", repaired: isAlone ? "it was removed" : nil)
    }
}

/// The facts about the directories of suites and channels.
struct LogsFacts: Sendable {
    struct Permission: Equatable, Sendable {
        var item: String
        /// The permissions of the item, and those that it should have.
        var what: String
    }

    var stores: [LogFacts] = []
    /// Entries that do not belong to the library.
    var strange: [String] = []
    var permissions: [Permission] = []
    /// The directories that could not be examined, and why.
    var failed: [(item: String, cause: String)] = []

    var findings: [Finding] {
        stores.flatMap(\.findings)
            + permissions.map { permission in
                Finding(
                    .permissionsWrong, .warning, item: permission.item, permission.what,
                    why: "members of other users, or of the container's Unix group, cannot use it",
                    remedy: "\(Finding.repair), as its owner or as root", repaired: "it has what the others have")
            }
            + strange.map { item in
                Finding(
                    .strangeName, .note, item: item, "nothing of that name belongs here",
                    why: "no process reads it", remedy: "find out where it comes from; remove it, if nothing needs it")
            }
            + failed.map { item, cause in
                Finding(
                    .partDamaged, .error, item: item, cause, why: "what is in it cannot be used",
                    remedy: "look after its permissions, and after the disk")
            }
    }
}

/// The log of a suite or of a channel, as the doctor examines it: every file, read from outside.
struct CheckedLog {
    let kind: LogFacts.Kind
    let name: String
    /// The names of all entries of its directory.
    let names: [[UInt8]]
    /// The files that can be read, in ascending order, with what was read.
    private(set) var segments: [(salvage: SegmentSalvage, reading: SegmentSalvage.Reading)] = []
    /// The numbers of all files, in ascending order.
    private(set) var numbers: [UInt64] = []
    /// The number of the newest file that belongs to this log.
    private(set) var newest: UInt64?
    private(set) var facts: LogFacts

    /// Reads every file of the log. Linear in the log. Error: the directory cannot be read.
    init(
        _ kind: LogFacts.Kind, _ name: String, in directory: ContainerDirectories, container: [UInt8],
        incarnation: [UInt8],
        isAlone: Bool
    ) throws(CoordinationError) {
        self.kind = kind
        self.name = name
        facts = LogFacts(kind: kind, name: name, isAlone: isAlone)
        guard let own = try directory.existingDirectory("\(kind.directory)/\(name)") else {
            throw CoordinationError(Errno.noSuchEntry, operation: "open", item: facts.label)
        }
        names = try translating("list", item: facts.label) { () throws(Errno) in try own.entryNames() }
        numbers = names.compactMap(SegmentedLog.segmentNumber).sorted()
        // Begins with the newest file: each file records where the one before it ends.
        var end: Int?
        for number in numbers.reversed() {
            end = look(at: number, in: own, container, incarnation, endingAt: end)
        }
        facts.segments.reverse()
        segments.reverse()
        facts.separated = separated.map { "\(facts.label)/\($0).log" }
    }

    /// The numbers of the files that a gap separates from the newest one.
    var separated: ArraySlice<UInt64> {
        let gap = numbers.indices.dropFirst().last { numbers[$0] <= newest ?? 0 && numbers[$0 - 1] + 1 != numbers[$0] }
        return numbers[..<(gap ?? 0)]
    }

    /// Examines a file, and returns where the file before it ends.
    private mutating func look(
        at number: UInt64, in directory: borrowing FileDescriptor, _ container: [UInt8], _ incarnation: [UInt8],
        endingAt end: Int?
    ) -> Int? {
        let isNewest = newest == nil
        var segment = LogFacts.SegmentFacts(name: "\(facts.label)/\(number).log", isNewest: isNewest)
        defer { facts.segments.append(segment) }
        let salvage: SegmentSalvage
        do {
            salvage = try SegmentSalvage(
                number, of: facts.label, in: directory, identity: container, incarnation: incarnation, endingAt: end,
                isControl: kind.isControl)
        } catch {
            let error = CoordinationError(error)
            switch error.code {
            case .newerFormat: (segment.newer, newest) = (error.reason, newest ?? number)
            case .damaged: (segment.causes, segment.lost, newest) = ([error.reason], 1, newest ?? number)
            // The file was dropped meanwhile by a process that went on.
            case .notFound: break
            default: (segment.failed, newest) = (error.reason, newest ?? number)
            }
            return nil
        }
        if let fault = salvage.fault { segment.causes.append(fault.kind.cause) }
        // The file belongs to another log, so the file before it is the newest one.
        if salvage.isForeign { return nil }
        newest = newest ?? number
        let reading = salvage.read { _, _, _ in }
        segment.causes += reading.faults.map(\.kind.cause)
        // The number of records that are missing at the end of the file is unknown.
        segment.lost = reading.lost + (salvage.fault != nil && !reading.isComplete ? 1 : 0)
        (segment.isTorn, segment.hasFailedSync) = (reading.isTorn, salvage.hasFailedSync)
        segments.append((salvage, reading))
        let previousEnd = Int(clamping: salvage.header.previousEnd)
        return salvage.fault == nil && previousEnd >= SegmentHeader.size ? previousEnd : nil
    }

    /// Whether a file cannot be repaired because only a newer version can read it, or this process may not.
    var isBeyondReach: Bool { facts.segments.contains { $0.newer != nil || $0.failed != nil } }
}

extension LogsFacts {
    /// Examines all logs of suites and channels. Linear in all logs.
    init(_ container: CheckedContainer) {
        self.init()
        for kind in LogFacts.Kind.allCases {
            // `PartsFacts` reports a misplaced directory, and the repair puts it aside.
            if container.parts.misplaced.contains(where: { $0.item == ".group/\(kind.directory)" }) { continue }
            do {
                try look(at: kind, container)
            } catch {
                failed.append((error.item ?? ".group/\(kind.directory)", error.reason))
            }
        }
    }

    private mutating func look(at kind: LogFacts.Kind, _ container: CheckedContainer) throws(CoordinationError) {
        guard let directory = try container.directory.existingDirectory(kind.directory) else { return }
        let label = ".group/\(kind.directory)"
        try checkPermissions(of: directory, label, container.directory)
        let entries = try translating("list", item: label) { () throws(Errno) in try directory.entryNames() }
        for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let item = "\(label)/\(printable(entry))"
            guard let name = String(validating: entry, as: UTF8.self),
                (try? LogName.check(name, of: kind.rawValue, operation: "open")) != nil,
                (try? directory.status(of: entry))?.isDirectory == true
            else {
                strange.append(item)
                continue
            }
            do {
                if let store = try container.store(kind, name) {
                    stores.append(store.facts)
                    try look(at: store, container.directory)
                }
            } catch {
                failed.append((item, error.reason))
            }
        }
    }

    private mutating func look(at store: CheckedLog, _ directory: ContainerDirectories) throws(CoordinationError) {
        let label = store.facts.label
        guard let own = try directory.existingDirectory("\(store.kind.directory)/\(store.name)") else { return }
        try checkPermissions(of: own, label, directory)
        for name in store.names {
            let item = "\(label)/\(printable(name))"
            if SegmentedLog.segmentNumber(name) != nil {
                guard let file = try? FileDescriptor.open(name, in: own, .pathOnly) else { continue }
                try checkPermissions(of: file, item, directory)
            } else if StagedName(unfinished: name, of: nil, size: 0) == nil, !name.starts(with: "damaged-".utf8) {
                strange.append(item)
            }
        }
    }

    private mutating func checkPermissions(
        of file: borrowing FileDescriptor, _ item: String, _ directory: ContainerDirectories
    ) throws(CoordinationError) {
        let (status, group) = try translating("read", item: item) { () throws(Errno) in
            (try file.status(), try directory.group.status())
        }
        if let wrong = directory.wrongPermissions(status, group) {
            permissions.append(Permission(item: item, what: wrong))
        }
    }
}

extension ContainerDirectories {
    /// Returns what is wrong with the owner and the permissions of one of the container's own files; nil where they are
    /// right. More permissions than needed do no harm, as other users cannot enter `.group`.
    func wrongPermissions(_ status: FileStatus, _ group: FileStatus) -> String? {
        let needed = (status.isDirectory ? directoryMode : fileMode) & 0o777
        if status.permissions & needed != needed {
            return "it has mode \(PathObstacle.octal(status.permissions)), and needs \(PathObstacle.octal(needed))"
        }
        if isShared {
            return status.group == group.group
                ? nil : "it belongs to group \(status.group), and the container to \(group.group)"
        }
        return status.owner == group.owner
            ? nil : "it belongs to user \(status.owner), and the container to \(group.owner)"
    }
}

extension CheckedContainer {
    /// Returns the log of a suite or of a channel; nil where the container's identity or its member table cannot be
    /// read.
    func store(_ kind: LogFacts.Kind, _ name: String) throws(CoordinationError) -> CheckedLog? {
        guard let container = format?.originBytes, let memberTable else { return nil }
        // After another boot, no file is of the incarnation that is drawn then.
        let incarnation = awaitsRecovery ? [] : memberTable.map.bytes(MemberTableLayout.incarnation, count: 16)
        return try CheckedLog(
            kind, name, in: directory, container: container, incarnation: incarnation,
            isAlone: memberTable.liveMembers().isEmpty)
    }
}

extension ContainerDirectories {
    /// Returns the names of all suites and channels.
    func storeNames() -> [(kind: LogFacts.Kind, name: String)] {
        LogFacts.Kind.allCases.flatMap { kind in storeNames(of: kind).map { (kind, $0) } }
    }

    /// Returns the names of all suites, or of all channels, in ascending order.
    func storeNames(of kind: LogFacts.Kind) -> [String] {
        guard let directory = try? existingDirectory(kind.directory), let names = try? directory.entryNames() else {
            return []
        }
        return names.compactMap { String(validating: $0, as: UTF8.self) }.sorted().filter {
            (try? LogName.check($0, of: kind.rawValue, operation: "open")) != nil
        }
    }
}

extension LogFacts.Kind {
    /// Whether a record after the preamble is a control record, which the log does not count.
    fileprivate var isControl: @Sendable ([UInt8]) -> Bool {
        switch self {
        case .suite: { _ in false }
        case .channel: { (try? ChannelRecord(decoding: $0).isControl) ?? false }
        }
    }
}
