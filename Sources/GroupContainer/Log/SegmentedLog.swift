import GroupSystemCalls

/// A log that many processes append to without a lock: a stopped or killed member stops no other. Its segments are
/// preallocated files that every member maps. `docs/format.md` describes every byte; the protocol is that of
/// `RecordHeader`, after the reserve-and-commit rings of shared-memory queues.
final class SegmentedLog: Sendable {
    /// The properties of a log's container and member that the log needs.
    struct Surroundings: Sendable {
        var container: [UInt8]
        var incarnation: [UInt8]
        /// The member's slot; nil if the log may only be read.
        var slot: Int?
        /// The member's nonce: with the slot, it is part of the names of unfinished files.
        var nonce: UInt64 = 0
        var fileMode: UInt32
        var capacity = 4 << 20
        /// Returns whether the process that began an unfinished file is gone.
        var isAbandoned: @Sendable (UnfinishedName) -> Bool = { _ in false }
        /// Whether `recover` has not been done: no member lives, and the last one was of another boot or mount.
        var awaitsRecovery = false
        var diagnostics = DiagnosticFeed()
        /// Makes the preamble of the next segment from the one before it, for a compacted log; nil for other logs. With
        /// it, old segments are dropped by themselves.
        var carrying: (@Sendable (Segment, _ end: Int, _ needed: Int) throws(CoordinationError) -> SegmentPreamble)?
    }

    private static let mapped = 8

    /// The name for errors: ".group/journal".
    let name: String
    let directory: FileDescriptor
    let surroundings: Surroundings
    /// The segments opened so far, and the number of the last one. No I/O while this is locked.
    private let known = Guarded((files: [UInt64: Segment](), last: UInt64(0)))
    /// Whether this member has created a segment after another since this was last read.
    let hasMadeFile = Guarded(false)
    /// For a log that may only be read: the segment whose end may be torn, because no member has recovered it yet.
    let unrecovered: UInt64?

    /// Opens the log in `directory`, which holds the files `<n>.log`. A log without any segment gets its first one,
    /// unless the log may only be read.
    init(name: String, directory: consuming FileDescriptor, _ surroundings: Surroundings) throws(CoordinationError) {
        self.name = ".group/\(name)"
        self.directory = directory
        self.surroundings = surroundings
        let names = try Self.names(in: self.directory, self.name)
        if surroundings.slot != nil { self.directory.removeUnfinished(among: names, where: surroundings.isAbandoned) }
        let last = Self.fileNumbers(among: names).max() ?? 0
        unrecovered = surroundings.awaitsRecovery ? last : nil
        known.withLock { $0.last = last }
        if last > 0 { return }
        if isOnlyForReading { throw .damaged(self.name, operation: "open", "it has no file") }
        _ = try makeFile(after: nil)
    }

    /// Returns the numbers of the kept segments, ascending, without a gap.
    func fileNumbers() throws(CoordinationError) -> [UInt64] {
        Self.fileNumbers(among: try Self.names(in: directory, name))
    }

    private static func names(
        in directory: borrowing FileDescriptor, _ name: String
    ) throws(CoordinationError) -> [[UInt8]] {
        try translating(name, "list") { () throws(Errno) in try directory.entryNames() }
    }

    /// Returns the number in a name `<n>.log`, if the name is written as its creator writes it. No log reaches larger
    /// numbers, and a cursor has no room for them.
    static func fileNumber(_ name: [UInt8]) -> UInt64? {
        let text = String(decoding: name, as: UTF8.self)
        guard text.hasSuffix(".log"), let number = UInt32(text.dropLast(4)), number > 0, text == "\(number).log" else {
            return nil
        }
        return UInt64(number)
    }

    private static func fileNumbers(among names: [[UInt8]]) -> [UInt64] {
        let numbers = names.compactMap(fileNumber).sorted()
        // Segments that a gap separates from the last one are about to be dropped.
        let first = numbers.indices.last { $0 == 0 || numbers[$0 - 1] &+ 1 != numbers[$0] }
        return Array(numbers[(first ?? 0)...])
    }

    func last() throws(CoordinationError) -> Segment {
        let number = known.withLock { $0.last }
        if let file = try file(number) { return file }
        // The segment was dropped while this member was idle.
        guard let newest = try fileNumbers().last, newest > number, let file = try file(newest) else {
            throw .damaged("\(name)/\(number).log", operation: "open", "the file is gone")
        }
        return file
    }

    /// Returns a segment; nil if it does not exist, because it was dropped or never created.
    func file(_ number: UInt64) throws(CoordinationError) -> Segment? {
        if let file = known.withLock({ $0.files[number] }) { return file }
        let label = "\(name)/\(number).log"
        guard let descriptor = try open(number) else { return nil }
        // The next segment's header has the end of this one, which has no seal if it ended by a recovery. A fault of
        // the next segment is reported when a reader reaches it.
        var end: Int?
        if let next = try open(number &+ 1), let next = try? logFile(number &+ 1, next, end: nil) {
            end = Int(clamping: next.header.previousEnd)
        }
        let file = try logFile(number, descriptor, end: end)
        guard file.header.number == number, file.header.container == surroundings.container else {
            throw .damaged(label, operation: "open", "it belongs to another place or container")
        }
        // A member was stopped while it created this segment, until its number had come and gone: no process uses it.
        // (The order of these checks matters: a segment in use is sealed before a later one exists, so it is not empty
        // then.)
        if let end, end > SegmentHeader.size, file.isEmpty { return nil }
        if end == nil, try fileNumbers().last ?? number > number, file.isEmpty { return nil }
        return known.withLock { known in
            if let other = known.files[number] { return other }
            known.files[number] = file
            known.last = max(known.last, number)
            // A reader far behind maps one old segment after the other; maps are not kept for ever.
            if known.files.count > Self.mapped, let oldest = known.files.keys.min(), oldest != number {
                known.files[oldest] = nil
            }
            return file
        }
    }

    /// Throws if the last segment was unlinked: nothing appended to a file without a name reaches other members.
    /// Errors: `damaged`. System calls: fstat
    func checkLastStands(_ operation: String) throws(CoordinationError) {
        let (file, number) = known.withLock { ($0.files[$0.last], $0.last) }
        guard let file, (try? file.descriptor.status().links) == 0 else { return }
        // The segment was dropped while this member was idle.
        if let newest = try fileNumbers().last, newest > number { return }
        throw .damaged(file.name, operation: operation, "it was removed while members are alive")
    }

    /// Forgets all open segments, so that they are opened again.
    func forgetAll(last: UInt64) { known.withLock { $0 = (files: [:], last: last) } }

    /// Forgets a segment, so that it is opened again: its end has changed.
    func forget(_ file: Segment) { forget(file.header.number) }

    func forget(_ number: UInt64) { known.withLock { $0.files[number] = nil } }

    private func logFile(
        _ number: UInt64, _ descriptor: consuming FileDescriptor, end: Int?
    ) throws(CoordinationError) -> Segment {
        try Segment(
            name: "\(name)/\(number).log", descriptor: descriptor, end: end, isOnlyForReading: isOnlyForReading)
    }

    func open(_ number: UInt64) throws(CoordinationError) -> FileDescriptor? {
        do throws(Errno) {
            let access: FileDescriptor.OpenMode = isOnlyForReading ? .reading : .readingAndWriting
            return try FileDescriptor.open(Array("\(number).log".utf8), in: directory, [access, .nonBlocking])
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, item: "\(name)/\(number).log", operation: "open")
        }
    }

    /// Returns the segment after one that is sealed at an offset; creates it if no other member has. The seal makes
    /// this safe: nothing can be appended to the old segment any more. In a compacted log, the segment has room for a
    /// record of `needed` bytes.
    func successor(
        of file: Segment, sealedAt offset: Int, needed: Int = 0,
        carrying: SegmentPreamble.Maker = SegmentPreamble.unknown
    ) throws(CoordinationError) -> Segment {
        let number = file.header.number
        if let next = try self.file(number &+ 1) { return next }
        // If the successor was dropped meanwhile, a new one would be a file that no other process uses.
        if let newest = try fileNumbers().last, newest > number {
            if let last = try self.file(newest) { return last }
        }
        let end = try file.resolve(upTo: offset)
        guard let readPreamble = surroundings.carrying else {
            // Recovery looks at the last segment only, so all earlier ones must be whole on the disk.
            try secure(file, through: end)
            return try makeFile(after: end, leap: file.leap)
        }
        // The compacted state is in the next segment, which is on the disk before it has its name: syncing this one
        // would only make all members wait. See `settleFiles`.
        if file.isPoisoned { try secure(file, through: end) }
        let next = try compactedSuccessor(of: file, end) { () throws(CoordinationError) in
            if let preamble = try carrying(file, end.offset, needed) { return preamble }
            return try readPreamble(file, end.offset, needed)
        }
        // The other members go on meanwhile.
        dropFiles(before: next.header.number)
        return next
    }

    /// Creates the next segment of a compacted log. All members come here at once, and one of them is enough. If that
    /// one takes too long, the next one creates it, too.
    private func compactedSuccessor(
        of file: Segment, _ end: LogPosition, _ preamble: () throws(CoordinationError) -> SegmentPreamble
    ) throws(CoordinationError) -> Segment {
        let turn = AppendPriority(slot: try writerSlot("create"), round: 2)
        while !turn.take(in: file) {
            AppendPriority.letOthersPass(in: file, except: nil)
            if let next = try self.file(end.file &+ 1) { return next }
        }
        defer { turn.end(in: file) }
        // The segment may have been created, and the priority given back, since the first look.
        if let next = try self.file(end.file &+ 1) { return next }
        return try makeFile(after: end, leap: file.leap, preamble: preamble())
    }
}

/// A log that may only be read: its member has no slot, its maps cannot be written, and it waits for no writer. A
/// reservation that its owner left behind, and the torn end of a log that is not recovered yet, are its end for now.
extension SegmentedLog {
    var isOnlyForReading: Bool { surroundings.slot == nil }

    /// Returns the member's slot. Errors: `notPermitted` if the log may only be read, which has no slot.
    func writerSlot(_ operation: String) throws(CoordinationError) -> Int {
        if let slot = surroundings.slot { return slot }
        throw CoordinationError(
            .notPermitted, item: name, operation: operation, cause: "the container was opened only for reading")
    }

    /// Forgets every open segment, so that it is opened again. On overlayfs a file's map shows the file as it was
    /// before it was first opened for writing; and a segment that was recovered meanwhile ends elsewhere.
    func lookAnew() throws(CoordinationError) {
        guard let last = try fileNumbers().last else { throw .damaged(name, operation: "open", "it has no file") }
        forgetAll(last: last)
    }

    /// Returns whether a broken record here never happened, because the member that recovers the log will cut it here.
    /// Below the durable mark the record is damage.
    func isTorn(_ file: Segment, at offset: Int) -> Bool {
        file.header.number == unrecovered && file.end == nil
            && UInt64(offset) >= file.map.load64(SegmentHeader.durableMark)
    }

    /// Returns the end of the whole records. Linear in the segment's length, with every record's checksum.
    func endOfUnrecovered(_ file: Segment) throws(CoordinationError) -> LogPosition {
        var place = LogPosition.start(of: file.header)
        while case .entry(let entry) = try knownStep(behind: place) { place = entry.position }
        return place
    }
}
