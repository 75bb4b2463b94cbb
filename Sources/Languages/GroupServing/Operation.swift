// Imports nothing: no file, clock or process.

/// What a request can ask for. docs/guide/serve.md describes each for the authors of clients.
enum Operation: String, CaseIterable, Sendable {
    case hello, status
    case read, write, remove, move, copy, createDirectory, list
    case lock, unlock, transaction, check
    case get, set, increment, keys
    case post, acknowledge
    case follow, followKeys, listen
    case refresh, finish
    case cancel

    /// The names of its members, besides `id` and `do`.
    var members: Set<String> {
        switch self {
        case .hello: ["purpose"]
        case .status: []
        case .read: Self.item.union(["timeout", "lock"])
        case .write: Self.item.union(Self.change).union(["text", "bytes", "mode", "ifGeneration"])
        case .remove: Self.item.union(Self.change).union(["recursively", "ifGeneration"])
        case .move: Self.item.union(Self.change).union(Self.destination).union(["replacing", "ifGeneration"])
        case .copy: Self.item.union(Self.change).union(Self.destination).union(["replacing", "recursively"])
        case .createDirectory: Self.item.union(Self.change)
        case .list: Self.item
        case .lock: ["reading", "writing", "readingBytes", "writingBytes", "timeout", "durable", "lock"]
        case .unlock: ["lock"]
        case .transaction: ["changes", "timeout", "durable"]
        case .check: Self.item.union(["ifGeneration"])
        case .get: ["suite", "key"]
        case .set: ["suite", "key", "value", "type", "ifGeneration", "durable"]
        case .increment: ["suite", "key", "by", "durable"]
        case .keys: ["suite"]
        case .post: ["channel", "text", "bytes", "durable"]
        case .acknowledge: ["listen", "number", "durable"]
        case .follow:
            [
                "since", "include", "exclude", "kind", "excludePurpose", "settle", "settleMax",
                "snapshotAfterRescan",
            ]
        case .followKeys: ["suite", "keys", "since"]
        case .listen: ["channel", "name", "since"]
        case .refresh: ["widget", "interests", "reload", "timeout"]
        case .finish: ["refresh", "text", "bytes"]
        case .cancel: ["request"]
        }
    }

    /// Whether it begins in its turn, and then waits beside other requests.
    var hasLane: Bool { self == .lock || self == .refresh }

    /// Whether something is left after its answer.
    var leavesSomething: Bool { hasLane || [.follow, .followKeys, .listen].contains(self) }

    private static let item: Set<String> = ["path", "pathBytes"]
    private static let destination: Set<String> = ["to", "toBytes"]
    private static let change: Set<String> = ["timeout", "durable", "lock"]
}
