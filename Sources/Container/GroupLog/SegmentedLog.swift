import GroupBytes
package import GroupSystemCalls

// The log protocol
// ================
//
// Many processes append to one log, and any of them may be stopped or killed at any instruction. With a lock, a stopped
// process would stop all others. So the log has none: before each record stands a 64-bit header word, and every step is
// a compare-and-swap of such a word in the mapped segment. A step that others wait for can be done by each of them.
//
//     a header word    empty ──reserve──▶ reserved ──commit, by its writer only──▶ committed
//                        │                    └──────abort, by any process─────▶ aborted
//                        └──seal, by any process──▶ seal
//
//     a segment        last ──a seal, a cut, or an end found by recovery──▶ ended ──▶ dropped
//                              (the successor's header records that end)
//
// Append   At the first empty word, reserve as many bytes as the record takes; write the length, the body and the
//          checksum; wake one reader that sleeps; commit; wake the others. Where the record does not fit, seal, create
//          the successor, and begin again there.
// Wake     A reader sleeps only if it finds an empty word after it has set its flag. The writer reads the flag after it
//          has reserved. So a writer that is killed before it wakes one leaves no committed record, one that is killed
//          before it commits leaves a reader that is awake and aborts its reservation, and one that is killed before it
//          wakes the others leaves that reader to do it: none sleeps beside a committed record.
// Abort    A reader or writer that needs the records after a reservation waits for it, about 2 ms, then aborts it. Its
//          writer finds that at the commit, and appends the record again with `tries` one higher, which doubles the
//          time that it gets.
// Read     Go from header to header, skip what is aborted. The sequence number of a record is the segment's base plus
//          the committed records up to it, control records excepted; so it is known once all words before it are
//          committed or aborted.
// Seal     The segment is full, or the disk refused it. Everything before the seal is settled and synced before the
//          successor exists. The successor is built under a private name and renamed to its number without replacing,
//          so of several processes that create it one wins.
//
// Invariants, until the next power cut: (1) A word leaves `empty` once, and the length in it never changes afterwards,
// so all processes see the same chain of headers. (2) `committed`, `aborted` and `seal` never change, so all processes
// see the same records with the same numbers. And for ever: (3) An ended segment ends in one place, and what is behind
// that position does not belong to the log.
//
// Why the dangerous cases are harmless:
//
// - A writer is stopped after it has reserved, and the record is aborted meanwhile. Its bytes are not given to another
//   record, and no process reads the body of an aborted record; so the writer may go on writing into them. Its commit
//   fails. The record is never in the log twice.
// - A writer is stopped before it reserves, and others append. The word is not empty any more, so its reservation
//   fails. So it does at a seal, also in a segment that was dropped: a writer with an old map appends nothing there.
// - A writer is killed between two steps. What it leaves is a reservation, which the next process aborts; or a seal
//   without a successor, which the next writer creates. A reader at such a seal is at the end of the log.
// - A process is stopped while it creates a successor, until that number has come and gone. Its segment is empty and a
//   later one exists, so no process takes it for one of the log (`segment(_:)`).
// - A header is damaged. No process can know where the next record begins, so the segment is cut there: the word `cut`
//   in its first page ends it. A writer reads that word before it looks for the end and again after its commit; a
//   commit behind the cut does not count.
//
// A power cut, or an unmount, leaves the pages of the last segment in any order on the disk: there may be a hole, with
// valid records behind it. The present incarnation differs then from the one in the segment's header, and each
// process that opens the log recovers it first (`recover`):
//
//     reservations are aborted; E is the first position without a whole record
//        │
//        ├─ E lies before the durable mark ─────────────▶ `damaged`: what was on the disk is broken now
//        ├─ only zeros from E to the segment's end ─────▶ goes on: the log is appended to at E
//        └─ else: a hole, a seal, a cut, a failed sync ─▶ ends: the successor's header has E as its end
//
// A segment with a hole is not appended to, because new records could reach up to the old ones behind the hole, which
// would then be valid again. Only the last segment is recovered: the others were on the disk before their successors
// existed. (A compacted log does not sync a full segment: the successor begins with the state that it came to. See
// `settleSegments`.) Several processes may recover at once, and one may append while another still looks. So the
// decision is one compare-and-swap of the word `recoveryDecision`, and all keep to the first one. The word contains the
// incarnation, so it does not count after the next power cut. Decisions 0001, 0009, 0015, 0021 and 0027 have the
// reasons.

/// What a log has to know of its user: a container's journal, a suite, a channel.
package struct LogConfiguration: Sendable {
    /// Sixteen bytes of the log's owner, in the header of each segment.
    package var identity: [UInt8]
    /// Sixteen bytes that are drawn anew after each boot or mount: a log of another incarnation is recovered first.
    package var incarnation: [UInt8]
    /// The number of this process among the log's writers, below `RecordHeader.writerCount`; nil if the log may only be
    /// read.
    package var writer: Int?
    package var fileMode: UInt32
    /// The size of a new segment without a preamble, in bytes.
    package var capacity = 4 << 20
    /// The largest size that a segment of this log has: a file that claims to be larger is damaged.
    package var largestCapacity = Int(UInt32.max)
    /// Returns a new name for a segment that is being created. No other process may use the name.
    package var unfinishedName: @Sendable () -> [UInt8] = {
        Array("new-\(Hexadecimal.encode(randomBytes(16)))".utf8)
    }
    /// Returns whether a name is that of an unfinished segment whose creator is gone.
    package var isAbandoned: @Sendable (_ name: [UInt8]) -> Bool = { _ in false }
    /// Whether the log is of another incarnation, and no process has recovered it: its end may be torn.
    package var awaitsRecovery = false
    package var report: @Sendable (LogEvent) -> Void = { _ in }
    /// Wakes one of the processes that wait for a record. Called for each record after it was reserved and written, and
    /// before it is committed: see `Wake` above.
    package var wakeFirstReader: @Sendable () -> Void = {}
    /// Wakes the others, and those in `awaitCommit`, after it was committed.
    package var wakeOtherReaders: @Sendable () -> Void = {}
    /// Sleeps until a record that is reserved may be committed, unless it is; at most some nanoseconds.
    package var awaitCommit: @Sendable (_ limit: Int64, _ isDecided: () -> Bool) -> Void = { limit, _ in
        pause(nanoseconds: min(limit, 20_000))
    }
    /// Makes the preamble of the next segment from the one before it, for a compacted log; nil for other logs. With
    /// it, old segments are dropped by themselves.
    package var makePreamble: (@Sendable (Segment, _ end: Int, _ needed: Int) throws(LogFailure) -> SegmentPreamble)?

    package init(identity: [UInt8], incarnation: [UInt8], writer: Int?, fileMode: UInt32) {
        self.identity = identity
        self.incarnation = incarnation
        self.writer = writer
        self.fileMode = fileMode
    }
}

/// A log that many processes append to without a lock: a stopped or killed process stops no other. Its segments are
/// preallocated files that every process maps. `docs/reference/format.md` describes every byte. The protocol, which is
/// described above, is that of the reserve-and-commit rings of shared-memory queues.
package final class SegmentedLog: Sendable {
    private static let mapped = 8

    /// The name for errors.
    package let name: String
    let directory: FileDescriptor
    package let configuration: LogConfiguration
    /// The segments opened so far, and the number of the last one. No I/O while this is locked.
    private let known = Guarded((segments: [UInt64: Segment](), last: UInt64(0)))
    /// Whether this process has created a segment after another since `takeHasMadeSegment` was called.
    private let hasMadeSegment = Guarded(false)
    /// The number of the segment for whose successor there is a spare file, as far as this process has looked.
    let spareFollows = Guarded(UInt64(0))
    /// For a log that may only be read: the segment whose end may be torn, because no process has recovered it yet.
    let unrecovered: UInt64?

    /// Opens the log in `directory`, which holds the files `<n>.log`. A log without any segment gets its first one,
    /// unless the log may only be read.
    package init(name: String, directory: consuming FileDescriptor, _ configuration: LogConfiguration)
        throws(LogFailure)
    {
        self.name = name
        self.directory = directory
        self.configuration = configuration
        let names = try Self.names(in: self.directory, self.name)
        if configuration.writer != nil {
            self.directory.removeUnfinished(among: names, where: configuration.isAbandoned)
        }
        let last = Self.segmentNumbers(among: names).max() ?? 0
        unrecovered = configuration.awaitsRecovery ? last : nil
        known.withLock { $0.last = last }
        if last > 0 { return }
        if isOnlyForReading { throw .damaged(self.name, operation: "open", .noSegment) }
        _ = try makeSegment(after: nil)
    }

    /// Returns the numbers of the kept segments, ascending, without a gap.
    package func segmentNumbers() throws(LogFailure) -> [UInt64] {
        Self.segmentNumbers(among: try Self.names(in: directory, name))
    }

    /// Returns the numbers of all segments in the directory, also of those before a gap.
    func allSegmentNumbers() throws(LogFailure) -> [UInt64] {
        try Self.names(in: directory, name).compactMap(Self.segmentNumber)
    }

    private static func names(
        in directory: borrowing FileDescriptor, _ name: String
    ) throws(LogFailure) -> [[UInt8]] {
        try translating("list", file: name) { () throws(Errno) in try directory.entryNames() }
    }

    /// Returns the number in a name `<n>.log`, if the name is written as its creator writes it. No log reaches larger
    /// numbers, and a cursor has no room for them.
    package static func segmentNumber(_ name: [UInt8]) -> UInt64? {
        let text = String(decoding: name, as: UTF8.self)
        guard text.hasSuffix(".log"), let number = UInt32(text.dropLast(4)), number > 0, text == "\(number).log" else {
            return nil
        }
        return UInt64(number)
    }

    private static func segmentNumbers(among names: [[UInt8]]) -> [UInt64] {
        let numbers = names.compactMap(segmentNumber).sorted()
        // Segments that a gap separates from the last one are about to be dropped.
        let first = numbers.indices.last { $0 == 0 || numbers[$0 - 1] &+ 1 != numbers[$0] }
        return Array(numbers[(first ?? 0)...])
    }

    package func last() throws(LogFailure) -> Segment {
        let (known, number) = known.withLock { ($0.segments[$0.last], $0.last) }
        if let known { return known }
        if let segment = try segment(number) { return segment }
        // The segment was dropped while this process was idle.
        guard let newest = try segmentNumbers().last, newest > number, let segment = try segment(newest) else {
            throw .damaged("\(name)/\(number).log", operation: "open", .missing)
        }
        return segment
    }

    /// Returns a segment; nil if it does not exist, because it was dropped or never created.
    package func segment(_ number: UInt64) throws(LogFailure) -> Segment? {
        if let segment = known.withLock({ $0.segments[number] }) { return segment }
        let label = "\(name)/\(number).log"
        guard let descriptor = try open(number) else { return nil }
        // The next segment's header has the end of this one, which has no seal if it ended by a recovery. A fault of
        // the next segment is reported when a reader reaches it.
        var end: Int?
        if let next = try open(number &+ 1), let next = try? mappedSegment(number &+ 1, next, end: nil),
            next.header.number == number &+ 1, next.header.identity == configuration.identity
        {
            end = Int(clamping: next.header.previousEnd)
        }
        let segment = try mappedSegment(number, descriptor, end: end)
        guard segment.header.number == number, segment.header.identity == configuration.identity else {
            throw .damaged(label, operation: "open", .foreign)
        }
        // A process was stopped while it created this segment, until its number had come and gone: no process uses it.
        // (The order of these checks matters: a segment in use is sealed before a later one exists, so it is not empty
        // then.)
        if let end, end > SegmentHeader.size, segment.isEmpty { return nil }
        if end == nil, try segmentNumbers().last ?? number > number, segment.isEmpty { return nil }
        releasePages(before: number)
        return known.withLock { known in
            if let other = known.segments[number] { return other }
            known.segments[number] = segment
            known.last = max(known.last, number)
            // A reader far behind maps one old segment after the other; maps are not kept for ever.
            if known.segments.count > Self.mapped, let oldest = known.segments.keys.min(), oldest != number {
                known.segments[oldest] = nil
            }
            return segment
        }
    }

    /// Gives back the memory of the segments that were read or written, which counts as this process's for as long as
    /// they are mapped. System calls: madvise
    package func releasePages(before number: UInt64 = .max) {
        let segments = known.withLock { $0.segments.values.filter { $0.header.number < number } }
        for segment in segments { segment.map.releasePages() }
    }

    /// Throws if the last segment was unlinked: nothing appended to a file without a name reaches other processes.
    /// Errors: `damaged`. System calls: fstat
    package func checkLastExists(_ operation: String) throws(LogFailure) {
        let (segment, number) = known.withLock { ($0.segments[$0.last], $0.last) }
        guard let segment, (try? segment.descriptor.status().links) == 0 else { return }
        // The segment was dropped while this process was idle.
        if let newest = try segmentNumbers().last, newest > number { return }
        throw .damaged(segment.name, operation: operation, .removedInUse)
    }

    /// Forgets all open segments, so that they are opened again.
    func forgetAll(last: UInt64) { known.withLock { $0 = (segments: [:], last: last) } }

    /// Forgets a segment, so that it is opened again: its end has changed.
    func forget(_ segment: Segment) { forget(segment.header.number) }

    /// Notes that a later segment exists than this process has opened.
    func noteLast(_ number: UInt64) { known.withLock { $0.last = max($0.last, number) } }

    func forget(_ number: UInt64) { known.withLock { $0.segments[number] = nil } }

    private func mappedSegment(
        _ number: UInt64, _ descriptor: consuming FileDescriptor, end: Int?
    ) throws(LogFailure) -> Segment {
        try Segment(
            name: "\(name)/\(number).log", descriptor: descriptor, end: end,
            largestCapacity: configuration.largestCapacity, isOnlyForReading: isOnlyForReading)
    }

    func open(_ number: UInt64) throws(LogFailure) -> FileDescriptor? {
        if number > SegmentHeader.lastNumber { return nil }
        do throws(Errno) {
            let access: FileDescriptor.OpenMode = isOnlyForReading ? .reading : .readingAndWriting
            return try FileDescriptor.open(Array("\(number).log".utf8), in: directory, [access, .nonBlocking])
        } catch {
            if error == .noSuchEntry { return nil }
            throw LogFailure(error, file: "\(name)/\(number).log", operation: "open")
        }
    }

    /// Returns the segment after one that is sealed at an offset; creates it if no other process has. The seal makes
    /// this safe: nothing can be appended to the old segment any more. In a compacted log, the segment has room for a
    /// record of `needed` bytes.
    package func successor(
        of segment: Segment, sealedAt offset: Int, needed: Int = 0,
        carrying: SegmentPreamble.Maker = SegmentPreamble.unknown
    ) throws(LogFailure) -> Segment {
        let number = segment.header.number
        if let next = try self.segment(number &+ 1) { return next }
        // If the successor was dropped meanwhile, a new one would be a file that no other process uses.
        if let newest = try segmentNumbers().last, newest > number {
            if let last = try self.segment(newest) { return last }
        }
        let end = try segment.resolve(upTo: offset)
        guard let readPreamble = configuration.makePreamble else {
            // Recovery looks at the last segment only, so all earlier ones must be whole on the disk.
            try secure(segment, through: end)
            return try makeSegment(after: end, leap: segment.leap)
        }
        // The compacted state is in the next segment, which is on the disk before it has its name: syncing this one
        // would only make all processes wait. See `settleSegments`.
        if segment.hasFailedSync { try secure(segment, through: end) }
        let next = try compactedSuccessor(of: segment, end) { () throws(LogFailure) in
            if let preamble = try carrying(segment, end.offset, needed) { return preamble }
            return try readPreamble(segment, end.offset, needed)
        }
        // The other processes go on meanwhile.
        dropSegments(before: next.header.number)
        return next
    }

    /// Creates the next segment of a compacted log. All processes come here at once, and one of them is enough. If that
    /// one takes too long, the next one creates it, too.
    private func compactedSuccessor(
        of segment: Segment, _ end: LogPosition, _ preamble: () throws(LogFailure) -> SegmentPreamble
    ) throws(LogFailure) -> Segment {
        let priority = AppendPriority(writer: try requireWriter("create"), round: 2)
        while !priority.take(in: segment) {
            AppendPriority.letOthersPass(in: segment, except: nil)
            if let next = try self.segment(end.segment &+ 1) { return next }
        }
        defer { priority.end(in: segment) }
        // The segment may have been created, and the priority given back, since the first look.
        if let next = try self.segment(end.segment &+ 1) { return next }
        return try makeSegment(after: end, leap: segment.leap, preamble: preamble())
    }
}

/// A log that may only be read: its maps cannot be written, and it waits for no writer. A reservation that its writer
/// left behind, and the torn end of a log that is not recovered yet, are its end for now.
extension SegmentedLog {
    package var isOnlyForReading: Bool { configuration.writer == nil }

    /// Returns the writer's number. Errors: `onlyForReading` if there is none.
    func requireWriter(_ operation: String) throws(LogFailure) -> Int {
        if let writer = configuration.writer { return writer }
        throw LogFailure(.onlyForReading, file: name, operation: operation)
    }

    /// Forgets every open segment, so that it is opened again. On overlayfs a file's map shows the file as it was
    /// before it was first opened for writing; and a segment that was recovered meanwhile ends elsewhere.
    package func lookAnew() throws(LogFailure) {
        guard let last = try segmentNumbers().last else { throw .damaged(name, operation: "open", .noSegment) }
        forgetAll(last: last)
    }

    /// Returns whether a broken record here never happened, because the process that recovers the log will cut it here.
    /// Below the durable mark the record is damage.
    func isTorn(_ segment: Segment, at offset: Int) -> Bool {
        segment.header.number == unrecovered && segment.end == nil
            && UInt64(offset) >= segment.map.load64(SegmentHeader.durableMark)
    }

    /// Returns the end of the whole records. Linear in the segment's length, with every record's checksum.
    func endOfUnrecovered(_ segment: Segment) throws(LogFailure) -> LogPosition {
        var position = LogPosition.start(of: segment.header)
        while case .entry(let entry) = try knownStep(behind: position) { position = entry.position }
        return position
    }
}

/// A segment that is kept.
package struct KeptSegment: Equatable, Sendable {
    package var number: UInt64
    /// The size on the disk in bytes; the blocks after the end of a recovered segment were freed.
    package var size: UInt64
    /// The time when the next segment was created, in nanoseconds since 1970; nil for the last segment.
    package var ended: Int64?

    package init(number: UInt64, size: UInt64, ended: Int64?) {
        self.number = number
        self.size = size
        self.ended = ended
    }
}

/// The dropping of segments.
extension SegmentedLog {
    /// Returns whether this process has created a segment after another since the last call.
    package func takeHasMadeSegment() -> Bool {
        hasMadeSegment.withLock { hasMadeSegment in
            defer { hasMadeSegment = false }
            return hasMadeSegment
        }
    }

    /// Notes that this process has created a segment after another.
    func noteMadeSegment() { hasMadeSegment.withLock { $0 = true } }

    /// Returns the segments that are kept, the oldest first. Reads their first pages.
    package func keptSegments() throws(LogFailure) -> [KeptSegment] {
        var kept: [KeptSegment] = []
        for number in try segmentNumbers() {
            guard let (header, allocated) = try header(of: number) else { continue }
            if !kept.isEmpty { kept[kept.count - 1].ended = header.created }
            kept.append(KeptSegment(number: number, size: min(header.capacity, allocated), ended: nil))
        }
        return kept
    }

    private func header(of number: UInt64) throws(LogFailure) -> (SegmentHeader, allocated: UInt64)? {
        guard let descriptor = try open(number) else { return nil }
        var page = [UInt8](repeating: 0, count: SegmentHeader.size)
        let (count, allocated) = try translating("read", file: "\(name)/\(number).log") { () throws(Errno) in
            (try descriptor.read(into: &page), try descriptor.status().allocated)
        }
        do {
            return (try SegmentHeader(decoding: Array(page[..<count])), allocated)
        } catch {
            throw .damaged("\(name)/\(number).log", operation: "read", .brokenHeader)
        }
    }

    /// Removes a segment; a process that has mapped it can still read it. Returns false if that failed, or
    /// may not survive a power cut.
    package func drop(_ number: UInt64) -> Bool {
        do throws(Errno) {
            try directory.unlink(Array("\(number).log".utf8))
        } catch {
            return error == .noSuchEntry
        }
        forget(number)
        // A segment of a compacted log may reappear after a power cut; no process uses it then.
        return configuration.makePreamble != nil || (try? directory.synchronize()) != nil
    }

    /// Drops segments before `number` that are not needed any more. For processes that are still reading them, the
    /// segment before the last one is kept, and older ones as long as all of them together take at most half of the
    /// last one's capacity. The name of the segment that replaces them is on the disk first.
    func dropSegments(before number: UInt64) {
        guard let segments = try? keptSegments(), let room = try? last().capacity else { return }
        var kept: UInt64 = 0
        var dropped: [UInt64] = []
        for segment in segments.reversed() where segment.number < number {
            kept += segment.size
            if kept > UInt64(room / 2) && segment.number &+ 1 != number { dropped.append(segment.number) }
        }
        if dropped.isEmpty { return }
        do throws(Errno) { try directory.synchronize() } catch { return }
        // The oldest first, so that there is never a gap.
        for number in dropped.reversed() where !drop(number) { return }
    }
}

extension FileDescriptor {
    /// Removes the unfinished segments of processes that are gone from a log's directory. System calls: unlink(2)
    package func removeUnfinished(among names: [[UInt8]], where isAbandoned: (_ name: [UInt8]) -> Bool) {
        for name in names where isAbandoned(name) { try? unlink(name) }
    }
}
