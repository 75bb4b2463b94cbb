import GroupSystemCalls

/// The right of one writer to append first, for a writer that has lost the race for the log's end again and again: a
/// word in the segment's first page names that writer. The other writers wait until the word is cleared, but only for a
/// limited time, so that a stopped process stops no other. A writer whose time has run out takes the priority again,
/// for longer.
struct AppendPriority: Equatable, Sendable {
    private let word: UInt64
    /// The number of requests before this one.
    private let round: Int

    private static let shortest: Int64 = 20_000_000
    private static let rounds = 6

    /// Makes a request. The word has a random half, so that it differs for each request, in all processes.
    init(writer: Int, round: Int) {
        self.round = min(round, Self.rounds - 1)
        word = (randomWord() & 0xffff_ffff) << 32 | UInt64(self.round) << 16 | UInt64(writer + 1)
    }

    private static func patience(of word: UInt64) -> Int64 { shortest << Int64(min(word >> 16 & 0xff, 5)) }

    var next: AppendPriority { AppendPriority(writer: Int(word & 0xffff) - 1, round: round + 1) }

    /// Returns whether another writer has the priority in this segment. Cost: one load.
    static func isOthers(in segment: Segment, than own: AppendPriority?) -> Bool {
        let word = segment.map.load64(SegmentHeader.priority)
        return word != 0 && word != own?.word
    }

    /// Waits while another writer has the priority; mostly only one load. System calls: futex(FUTEX_WAIT), only if it
    /// waits.
    static func letOthersPass(in segment: Segment, except own: AppendPriority?) {
        let word = segment.map.load64(SegmentHeader.priority)
        if word == 0 || word == own?.word { return }
        guard let map = segment.writableMap else { return }
        let deadline = monotonicNanoseconds() + patience(of: word)
        while map.load64(SegmentHeader.priority) == word {
            let left = deadline - monotonicNanoseconds()
            if left <= 0 {
                _ = map.exchange64(SegmentHeader.priority, word, 0)
                return
            }
            // The upper half is the random one.
            map.wait(whileWord: SegmentHeader.priority + 4, is: UInt32(word >> 32), nanoseconds: left)
        }
    }

    /// Takes the priority. Returns false if another writer has it, or if the segment is mapped only for reading.
    func take(in segment: Segment) -> Bool {
        guard let map = segment.writableMap else { return false }
        return map.load64(SegmentHeader.priority) == word || map.exchange64(SegmentHeader.priority, 0, word)
    }

    /// Gives the priority back. System calls: futex(FUTEX_WAKE)
    func end(in segment: Segment) {
        guard let map = segment.writableMap, map.exchange64(SegmentHeader.priority, word, 0) else { return }
        map.wakeAll(at: SegmentHeader.priority + 4)
    }
}

/// The attempts to append a record exactly at the end that was read: a writer that loses the race too often, for too
/// long, takes the priority.
package struct AppendAttempt: ~Copyable {
    /// The number of losses so far.
    package private(set) var losses = 0
    /// The time when the count of losses first reached `Self.losses`.
    private var lostSince: Int64?
    /// The time when so many records were first read without reaching the end.
    private var behindSince: Int64?
    private var priority: AppendPriority?
    private var prioritySegment: Segment?
    /// Races of a microsecond are won and lost at random, so a few losses mean nothing: a priority stops all other
    /// writers.
    private static let losses = 8
    private static let patience: Int64 = 1_000_000
    /// A writer that was away while others appended reads those records in a moment, and makes no other writer wait.
    private static let patienceBehind: Int64 = 4_000_000

    package init() {}

    /// Returns whether another writer has the priority in this segment. Cost: one load.
    package func isOthersPriority(in segment: Segment) -> Bool { AppendPriority.isOthers(in: segment, than: priority) }

    /// Waits while another writer has the priority.
    package func letOthersPass(in segment: Segment) { AppendPriority.letOthersPass(in: segment, except: priority) }

    /// Counts a decision that was made anew, or an attempt that is repeated. After some losses, takes the priority.
    package mutating func noteLoss(by writer: Int, in segment: Segment) {
        losses += 1
        guard losses.isMultiple(of: Self.losses) || priority != nil else { return }
        let now = monotonicNanoseconds()
        guard let lostSince else {
            lostSince = now
            return
        }
        if now - lostSince >= Self.patience { takePriority(by: writer, in: segment) }
    }

    /// Notes that many records were read and there are more. If that goes on, others append faster than this writer
    /// reads.
    package mutating func noteLag(by writer: Int, in segment: Segment) {
        let now = monotonicNanoseconds()
        guard let behindSince else {
            behindSince = now
            return
        }
        if now - behindSince >= Self.patienceBehind { takePriority(by: writer, in: segment) }
    }

    private mutating func takePriority(by writer: Int, in segment: Segment) {
        let mine = priority ?? AppendPriority(writer: writer, round: 0)
        if priority != nil, prioritySegment === segment, mine.take(in: segment) { return }
        // The time of the last request has run out, so the next one is longer.
        let next = priority == nil ? mine : mine.next
        if next.take(in: segment) { (priority, prioritySegment) = (next, segment) }
    }

    /// Gives the priority back, so that the other writers go on.
    package mutating func end() {
        if let priority, let prioritySegment { priority.end(in: prioritySegment) }
        (priority, prioritySegment) = (nil, nil)
    }
}
