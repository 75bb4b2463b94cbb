/// The input of a COMMAND that watches keys: the keys that changed since its last success, each once, and when to run.
/// Times are in nanoseconds.
struct KeyBatch: Equatable, Sendable {
    private(set) var keys: [String] = []
    private var known: Set<String> = []
    private(set) var isRescan = false
    private(set) var isCleared = false
    private var first: Int64?
    private var last: Int64 = 0
    private let quiet: Int64
    private let atMost: Int64

    /// Creates a batch that settles when nothing came for `quiet`, at the latest `atMost` after the first change.
    init(quiet: Int64, atMost: Int64) { (self.quiet, self.atMost) = (quiet, atMost) }

    var isEmpty: Bool { first == nil }

    mutating func note(key: String, at now: Int64) {
        if known.insert(key).inserted { keys.append(key) }
        noteTime(now)
    }

    mutating func noteCleared(at now: Int64) {
        isCleared = true
        noteTime(now)
    }

    mutating func noteRescan(at now: Int64) {
        isRescan = true
        noteTime(now)
    }

    private mutating func noteTime(_ now: Int64) { (first, last) = (first ?? now, now) }

    /// Returns how long until the batch has settled: 0 if it has, `.max` if it is empty.
    func wait(from now: Int64) -> Int64 {
        guard let first else { return .max }
        return max(0, min(quiet - (now - last), atMost - (now - first)))
    }

    /// Returns whether the batch has waited as long as it may, whatever else comes.
    func isOverdue(at now: Int64) -> Bool { first.map { now - $0 >= atMost } ?? false }

    /// An empty batch with the same times.
    var successor: KeyBatch { KeyBatch(quiet: quiet, atMost: atMost) }
}
