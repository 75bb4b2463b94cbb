import GroupSystemCalls

/// A log that many processes append to without a lock: a stopped or killed member stops nobody. Its files are
/// preallocated and mapped by all. `docs/format.md` says every byte; the protocol is the one of `RecordHeader`, after
/// the reserve-and-commit rings of shared-memory queues.
final class SegmentedLog: Sendable {
    /// What a log needs to know of its container and its member.
    struct Surroundings: Sendable {
        var container: [UInt8]
        var incarnation: [UInt8]
        /// Nil for who may only read.
        var slot: Int?
        /// The member's: with the slot it names those files that it makes.
        var nonce: UInt64 = 0
        var fileMode: UInt32
        var capacity = 4 << 20
        /// Whether the maker of an unfinished file is gone.
        var isAbandoned: @Sendable (UnfinishedName) -> Bool = { _ in false }
        /// No member lives, and the last one was of another boot or mount: `recover` has not been done.
        var awaitsRecovery = false
        var diagnostics = DiagnosticFeed()
        /// Of a log that is compacted: what the next file begins with, by what is in the one before it. Then old files
        /// go by themselves.
        var carrying: (@Sendable (Segment, _ end: Int, _ needed: Int) throws(CoordinationError) -> SegmentPreamble)?
    }

    private static let mapped = 8

    /// For errors: "journal".
    let name: String
    let directory: FileDescriptor
    let surroundings: Surroundings
    /// The files opened so far, and the number of the last one. Guards itself; no I/O under it.
    private let known = Guarded((files: [UInt64: Segment](), last: UInt64(0)))
    /// This member made a file after another, since it was last asked.
    let hasMadeFile = Guarded(false)
    /// For who may only read: the file whose end may be torn, because nobody has recovered it yet.
    let unrecovered: UInt64?

    /// `directory` holds `<n>.log`. A log without any file gets its first one, unless it is only to be read.
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

    /// Those that are kept, ascending, without a gap.
    func fileNumbers() throws(CoordinationError) -> [UInt64] {
        Self.fileNumbers(among: try Self.names(in: directory, name))
    }

    private static func names(
        in directory: borrowing FileDescriptor, _ name: String
    ) throws(CoordinationError) -> [[UInt8]] {
        try translating(name, "list") { () throws(Errno) in try directory.entryNames() }
    }

    /// Of `<n>.log`, as its maker writes it. No log comes to larger numbers, and a cursor has no room for them.
    static func fileNumber(_ name: [UInt8]) -> UInt64? {
        let text = String(decoding: name, as: UTF8.self)
        guard text.hasSuffix(".log"), let number = UInt32(text.dropLast(4)), number > 0, text == "\(number).log" else {
            return nil
        }
        return UInt64(number)
    }

    private static func fileNumbers(among names: [[UInt8]]) -> [UInt64] {
        let numbers = names.compactMap(fileNumber).sorted()
        // What a gap separates from the last one is on its way out.
        let first = numbers.indices.last { $0 == 0 || numbers[$0 - 1] &+ 1 != numbers[$0] }
        return Array(numbers[(first ?? 0)...])
    }

    func last() throws(CoordinationError) -> Segment {
        let number = known.withLock { $0.last }
        if let file = try file(number) { return file }
        // Dropped, while this member was idle.
        guard let newest = try fileNumbers().last, newest > number, let file = try file(newest) else {
            throw .damaged("\(name)/\(number).log", operation: "open", "the file is gone")
        }
        return file
    }

    /// Nil where it does not exist: dropped long ago, or never made.
    func file(_ number: UInt64) throws(CoordinationError) -> Segment? {
        if let file = known.withLock({ $0.files[number] }) { return file }
        let label = "\(name)/\(number).log"
        guard let descriptor = try open(number) else { return nil }
        // The file after it says where it ends, as far as it ended by a recovery. What is wrong with that one is said
        // by who reads on into it.
        var end: Int?
        if let next = try open(number &+ 1), let next = try? logFile(number &+ 1, next, end: nil) {
            end = Int(clamping: next.header.previousEnd)
        }
        let file = try logFile(number, descriptor, end: end)
        guard file.header.number == number, file.header.container == surroundings.container else {
            throw .damaged(label, operation: "open", "it belongs to another place or container")
        }
        // Made by one who was stopped in the middle of it, until its number had come and gone: nobody's.
        // (In this order: a file that is used is sealed before there is a later one, so that it is not empty then.)
        if let end, end > SegmentHeader.size, file.isEmpty { return nil }
        if end == nil, try fileNumbers().last ?? number > number, file.isEmpty { return nil }
        return known.withLock { known in
            if let other = known.files[number] { return other }
            known.files[number] = file
            known.last = max(known.last, number)
            // A reader far behind maps the old files one after the other; maps are not kept for ever.
            if known.files.count > Self.mapped, let oldest = known.files.keys.min(), oldest != number {
                known.files[oldest] = nil
            }
            return file
        }
    }

    /// Who appends to a file without a name is alone with it. Errors: `damaged`. System calls: fstat
    func checkLastStands(_ operation: String) throws(CoordinationError) {
        let (file, number) = known.withLock { ($0.files[$0.last], $0.last) }
        guard let file, (try? file.descriptor.status().links) == 0 else { return }
        // Dropped, while this member was idle.
        if let newest = try fileNumbers().last, newest > number { return }
        throw .damaged(file.name, operation: operation, "it was removed while members are alive")
    }

    /// Has all of them opened anew.
    func forgetAll(last: UInt64) { known.withLock { $0 = (files: [:], last: last) } }

    /// Has it opened anew: it ends elsewhere now.
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

    /// The file behind one that is sealed at a place; made, if nobody has yet. The seal is what makes it safe: nothing
    /// can be appended to the old file any more.
    /// It has room for a record of `needed` bytes, where the log is compacted.
    func successor(
        of file: Segment, sealedAt offset: Int, needed: Int = 0,
        carrying: SegmentPreamble.Maker = SegmentPreamble.unknown
    ) throws(CoordinationError) -> Segment {
        let number = file.header.number
        if let next = try self.file(number &+ 1) { return next }
        // Its successor was dropped meanwhile: making it again would be writing into nothing.
        if let newest = try fileNumbers().last, newest > number {
            if let last = try self.file(newest) { return last }
        }
        let end = try file.resolve(upTo: offset)
        guard let readPreamble = surroundings.carrying else {
            // Recovery looks at the last file only, so all before it must be whole on the disk.
            try secure(file, through: end)
            return try makeFile(after: end, leap: file.leap)
        }
        // What is compacted is in the next file, which is on the disk before it has its name: syncing this one would
        // only have everybody wait. See `dropUnsecured`.
        if file.isPoisoned { try secure(file, through: end) }
        let next = try compactedSuccessor(of: file, end) { () throws(CoordinationError) in
            if let preamble = try carrying(file, end.offset, needed) { return preamble }
            return try readPreamble(file, end.offset, needed)
        }
        // The others go on meanwhile.
        dropFiles(before: next.header.number)
        return next
    }

    /// All come here at once, and one is enough. Where that one takes too long, so does the next.
    private func compactedSuccessor(
        of file: Segment, _ end: LogPosition, _ preamble: () throws(CoordinationError) -> SegmentPreamble
    ) throws(CoordinationError) -> Segment {
        let turn = AppendPriority(slot: try writerSlot("create"), round: 2)
        while !turn.take(in: file) {
            AppendPriority.letOthersPass(in: file, except: nil)
            if let next = try self.file(end.file &+ 1) { return next }
        }
        defer { turn.end(in: file) }
        // It may have come into being, and the turn have ended, since the first look.
        if let next = try self.file(end.file &+ 1) { return next }
        return try makeFile(after: end, leap: file.leap, preamble: preamble())
    }
}

/// A log that may only be read: its member has no slot, its maps cannot be written, and it waits for no writer. A
/// reservation that its owner left behind, and the torn end of a log that is not recovered yet, are its end for now.
extension SegmentedLog {
    var isOnlyForReading: Bool { surroundings.slot == nil }

    /// A writer has a slot.
    func writerSlot(_ operation: String) throws(CoordinationError) -> Int {
        if let slot = surroundings.slot { return slot }
        throw CoordinationError(
            .notPermitted, item: name, operation: operation, cause: "the container was opened only for reading")
    }

    /// Has every file opened anew. On overlayfs a file's map shows the file as it was before somebody first opened it
    /// for writing; and where a log was recovered meanwhile, its file ends elsewhere.
    func lookAnew() throws(CoordinationError) {
        guard let last = try fileNumbers().last else { throw .damaged(name, operation: "open", "it has no file") }
        forgetAll(last: last)
    }

    /// What is broken here never happened: the member that recovers the log cuts it here. Below the durable mark the
    /// same is damage.
    func isTorn(_ file: Segment, at offset: Int) -> Bool {
        file.header.number == unrecovered && file.end == nil
            && UInt64(offset) >= file.map.load64(SegmentHeader.durableMark)
    }

    /// The end of the good prefix. Linear in the file's length, with every record's checksum.
    func endOfUnrecovered(_ file: Segment) throws(CoordinationError) -> LogPosition {
        var place = LogPosition.start(of: file.header)
        while case .entry(let entry) = try knownStep(behind: place) { place = entry.position }
        return place
    }
}
