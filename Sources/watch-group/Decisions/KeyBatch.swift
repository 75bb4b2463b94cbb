/// What a COMMAND is to be told of keys: those that changed since it last succeeded, each once, and when it is time. Times
/// are nanoseconds.
struct KeyBatch: Equatable, Sendable {
    private(set) var keys: [String] = []
    private var known: Set<String> = []
    private(set) var isRescan = false
    private(set) var isCleared = false
    private var first: Int64?
    private var last: Int64 = 0
    private let quiet: Int64
    private let atMost: Int64

    /// It settles once nothing came for `quiet`, at the latest `atMost` after the first change.
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

    /// How long until it has settled; 0: it has. Of an empty one: for ever.
    func wait(from now: Int64) -> Int64 {
        guard let first else { return .max }
        return max(0, min(quiet - (now - last), atMost - (now - first)))
    }

    /// An empty one that settles alike.
    var successor: KeyBatch { KeyBatch(quiet: quiet, atMost: atMost) }
}
