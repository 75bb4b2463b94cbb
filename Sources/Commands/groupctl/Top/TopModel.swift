// Imports nothing: no file, clock or process.

/// What `groupctl top` shows of a container: its status as plain values. Times are in nanoseconds since 1970.
struct TopModel: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        enum Condition: Hashable, Sendable { case running, stopped, ended }

        var process: Int32
        var purpose: String
        var command = ""
        var user: UInt32 = 0
        var since: Int64 = 0
        var isLeader = false
        /// Whether the member is the process that shows the view.
        var isOwn = false
        var condition = Condition.running
        var locks: [Lock] = []
        /// The paths of the items that it presents.
        var presents: [String] = []
        var questions: [Question] = []
        /// The member whose process started this one's, while this one waits.
        var ancestor: Int?

        var isWaiting: Bool { locks.contains(where: \.isWaiting) }
    }

    struct Lock: Hashable, Sendable {
        struct Blocker: Hashable, Sendable {
            var member: Int
            var lock: Int
        }

        var path: String
        var isWriting = true
        var isWholeDirectory = false
        var isWaiting = false
        var since: Int64 = 0
        /// The number of the request that the lock belongs to, unique among all members.
        var request: Int
        var blockers: [Blocker] = []
    }

    /// A question to a presenter that is open.
    struct Question: Hashable, Sendable {
        var process: Int32
        var purpose: String
        var wanted: String
        var item: String
        var since: Int64
    }

    /// What another program reports about the container.
    struct Report: Hashable, Sendable {
        var isFault: Bool
        var text: String
        var remedy = ""
    }

    var path: String
    var isReadOnly = false
    var members: [Member] = []
    var changes: UInt64 = 0
    var journalFiles = 1
    var journalBytes: UInt64 = 0
    var freeBytes: UInt64?
    var reports: [Report] = []

    var leader: Member? { members.first(where: \.isLeader) }
    var presenterCount: Int { members.reduce(0) { $0 + $1.presents.count } }
    var questionCount: Int { members.reduce(0) { $0 + $1.questions.count } }
}
