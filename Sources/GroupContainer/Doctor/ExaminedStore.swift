import GroupSystemCalls

/// The log of a suite or of a channel, as the doctor looks at it: every file of it, read from outside.
struct ExaminedStore {
    let kind: StoreFacts.Kind
    let name: String
    /// What is in its directory.
    let names: [[UInt8]]
    /// What can be read, ascending; and what was read.
    private(set) var files: [(salvage: LogSalvage, reading: LogSalvage.Reading)] = []
    /// Of every file that there is, ascending.
    private(set) var numbers: [UInt64] = []
    /// Of those, the newest that is one of this log.
    private(set) var newest: UInt64?
    private(set) var facts: StoreFacts

    /// Linear in the log. Error: the directory cannot be read.
    init(
        _ kind: StoreFacts.Kind, _ name: String, in directory: GroupDirectory, container: [UInt8], incarnation: [UInt8],
        isAlone: Bool
    ) throws(CoordinationError) {
        (self.kind, self.name) = (kind, name)
        facts = StoreFacts(kind: kind, name: name, isAlone: isAlone)
        guard let own = try directory.existingDirectory("\(kind.directory)/\(name)") else {
            throw CoordinationError(Errno.noSuchEntry, item: facts.label, operation: "open")
        }
        names = try translating(facts.label, "list") { () throws(Errno) in try own.entryNames() }
        numbers = names.compactMap(MappedLog.fileNumber).sorted()
        // From the newest on: it says where the one before it ends.
        var end: Int?
        for number in numbers.reversed() {
            end = look(at: number, in: own, container, incarnation, endingAt: end)
        }
        facts.files.reverse()
        files.reverse()
        facts.separated = separated.map { "\(facts.label)/\($0).log" }
    }

    /// Those that a gap separates from the newest.
    var separated: ArraySlice<UInt64> {
        let gap = numbers.indices.dropFirst().last { numbers[$0] <= newest ?? 0 && numbers[$0 - 1] + 1 != numbers[$0] }
        return numbers[..<(gap ?? 0)]
    }

    /// Where the file before it ends.
    private mutating func look(
        at number: UInt64, in directory: borrowing FileDescriptor, _ container: [UInt8], _ incarnation: [UInt8],
        endingAt end: Int?
    ) -> Int? {
        let isNewest = newest == nil
        var file = StoreFacts.File(name: "\(facts.label)/\(number).log", isNewest: isNewest)
        defer { facts.files.append(file) }
        let salvage: LogSalvage
        do {
            salvage = try LogSalvage(
                number, of: facts.label, in: directory, container: container, incarnation: incarnation, endingAt: end,
                isControl: kind.isControl)
        } catch {
            switch error.code {
            case .newerFormat: (file.newer, newest) = (error.cause, newest ?? number)
            case .damaged: (file.causes, file.lost, newest) = ([error.cause], 1, newest ?? number)
            // Dropped meanwhile, as others went on.
            case .notFound: break
            default: (file.failed, newest) = (error.cause, newest ?? number)
            }
            return nil
        }
        if let fault = salvage.fault { file.causes.append(fault.cause) }
        // The file before it is the newest one, then.
        if salvage.isForeign { return nil }
        newest = newest ?? number
        let reading = salvage.read { _, _, _ in }
        file.causes += reading.faults.map(\.cause)
        // What is missing at its end cannot be known.
        file.lost = reading.lost + (salvage.fault != nil && !reading.isComplete ? 1 : 0)
        (file.isTorn, file.isPoisoned) = (reading.isTorn, salvage.isPoisoned)
        files.append((salvage, reading))
        let previousEnd = Int(clamping: salvage.header.previousEnd)
        return salvage.fault == nil && previousEnd >= LogFileHeader.size ? previousEnd : nil
    }

    /// Nothing in its newest file, or before it, can be mended by a version that does not know it, or may not read it.
    var isBeyondReach: Bool { facts.files.contains { $0.newer != nil || $0.failed != nil } }
}

extension StoresFacts {
    /// Linear in all logs.
    init(_ container: ExaminedContainer) {
        self.init()
        for kind in StoreFacts.Kind.allCases {
            // It is said there, and put aside.
            if container.parts.misplaced.contains(where: { $0.item == ".group/\(kind.directory)" }) { continue }
            do {
                try look(at: kind, container)
            } catch {
                failed.append((error.item ?? ".group/\(kind.directory)", error.cause))
            }
        }
    }

    private mutating func look(at kind: StoreFacts.Kind, _ container: ExaminedContainer) throws(CoordinationError) {
        guard let directory = try container.directory.existingDirectory(kind.directory) else { return }
        let label = ".group/\(kind.directory)"
        try checkPermissions(of: directory, label, container.directory)
        let entries = try translating(label, "list") { () throws(Errno) in try directory.entryNames() }
        for entry in entries.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            let item = "\(label)/\(printable(entry))"
            guard let name = String(validating: entry, as: UTF8.self),
                (try? StoreName.check(name, of: kind.rawValue, operation: "open")) != nil,
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
                failed.append((item, error.cause))
            }
        }
    }

    private mutating func look(at store: ExaminedStore, _ directory: GroupDirectory) throws(CoordinationError) {
        let label = store.facts.label
        guard let own = try directory.existingDirectory("\(store.kind.directory)/\(store.name)") else { return }
        try checkPermissions(of: own, label, directory)
        for name in store.names {
            let item = "\(label)/\(printable(name))"
            if MappedLog.fileNumber(name) != nil {
                guard let file = try? FileDescriptor.open(name, in: own, .placeOnly) else { continue }
                try checkPermissions(of: file, item, directory)
            } else if StagedName(unfinished: name, of: nil, size: 0) == nil, !name.starts(with: "damaged-".utf8) {
                strange.append(item)
            }
        }
    }

    private mutating func checkPermissions(
        of file: borrowing FileDescriptor, _ item: String, _ directory: GroupDirectory
    ) throws(CoordinationError) {
        let (status, group) = try translating(item, "read") { () throws(Errno) in
            (try file.status(), try directory.group.status())
        }
        if let wrong = directory.wrongPermissions(status, group) {
            permissions.append(Permission(item: item, what: wrong))
        }
    }
}

extension GroupDirectory {
    /// What is wrong with who owns and who may use something of the container's own; nil where it is right. More than
    /// is needed does no harm, as nobody else gets into `.group`.
    func wrongPermissions(_ status: FileStatus, _ group: FileStatus) -> String? {
        let needed = (status.isDirectory ? directoryMode : fileMode) & 0o777
        if status.permissions & needed != needed {
            return "it has mode \(PlaceFacts.octal(status.permissions)), and needs \(PlaceFacts.octal(needed))"
        }
        if isShared {
            return status.group == group.group
                ? nil : "it belongs to group \(status.group), and the container to \(group.group)"
        }
        return status.owner == group.owner
            ? nil : "it belongs to user \(status.owner), and the container to \(group.owner)"
    }
}

extension ExaminedContainer {
    /// Nil where the container itself cannot be told.
    func store(_ kind: StoreFacts.Kind, _ name: String) throws(CoordinationError) -> ExaminedStore? {
        guard let container = format?.originBytes, let memberTable else { return nil }
        // After another boot, nothing is of the incarnation that is drawn then.
        let incarnation = awaitsRecovery ? [] : memberTable.map.bytes(MemberTableLayout.incarnation, count: 16)
        return try ExaminedStore(
            kind, name, in: directory, container: container, incarnation: incarnation,
            isAlone: memberTable.liveMembers().isEmpty)
    }
}

extension GroupDirectory {
    /// The names of suites and channels.
    func storeNames() -> [(kind: StoreFacts.Kind, name: String)] {
        StoreFacts.Kind.allCases.flatMap { kind in storeNames(of: kind).map { (kind, $0) } }
    }

    /// The same of one kind, ascending.
    func storeNames(of kind: StoreFacts.Kind) -> [String] {
        guard let directory = try? existingDirectory(kind.directory), let names = try? directory.entryNames() else {
            return []
        }
        return names.compactMap { String(validating: $0, as: UTF8.self) }.sorted().filter {
            (try? StoreName.check($0, of: kind.rawValue, operation: "open")) != nil
        }
    }
}

extension StoreFacts.Kind {
    /// Whether a record that stands behind what its file begins with is one of the log's own keeping.
    fileprivate var isControl: @Sendable ([UInt8]) -> Bool {
        switch self {
        case .suite: { _ in false }
        case .channel: { (try? ChannelRecord(decoding: $0).isControl) ?? false }
        }
    }
}
