public import FoundationEssentials

/// A file that is loaded from a server into the container, or sent from it to a server.
public struct Transfer: Codable, Hashable, Sendable, Identifiable {
    /// The name of a transfer, which is not used again.
    public typealias ID = String

    /// The direction of a transfer.
    public enum Direction: String, Codable, Sendable {
        /// From the server to an item.
        case download
        /// From a copy of a file to the server, by the method PUT.
        case upload
    }

    /// What has become of a transfer.
    public enum State: String, Codable, Sendable {
        /// The transfer waits for its turn, or for another attempt.
        case waiting
        /// Bytes are being transferred.
        case running
        /// The whole file is there, and is about to become the item.
        case placing
        /// The item, or the server, has the whole file.
        case completed
        /// The transfer was given up; `reason` says why.
        case failed
        /// A process has cancelled the transfer.
        case cancelled

        /// Whether nothing more happens to the transfer.
        public var isOver: Bool { self == .completed || self == .failed || self == .cancelled }
    }

    /// The identifier.
    public let id: ID
    /// The direction.
    public let direction: Direction
    /// The address on the server.
    public let url: String
    /// The item that a download becomes; the name of an upload's source, for people.
    public let path: String
    /// The SHA-256 of the file in hexadecimal digits, if it was given.
    public let sha256: String?
    /// The length that was given.
    public let expectedLength: UInt64?
    /// The URL that starts the app, if it is to be started when the transfer is over.
    public let opening: String?
    /// The fields of its requests.
    public let fields: [Field]
    /// When the transfer was queued.
    public package(set) var queuedAt: Date
    /// When the transfer is given up.
    public package(set) var deadline: Date

    /// What has become of the transfer.
    public package(set) var state = State.waiting
    /// The bytes that were transferred.
    public package(set) var received: UInt64 = 0
    /// The length of the file, once the server has stated it.
    public package(set) var total: UInt64?
    /// The speed of the last second or so.
    public package(set) var bytesPerSecond: UInt64 = 0
    /// Why the last attempt failed, or the transfer.
    public package(set) var reason: String?

    /// The number of attempts since the last one that brought `received` beyond `mostReceived`.
    package var failures = 0
    /// The most bytes that were ever there; nil before the first. A server that always begins from zero sends the same
    /// bytes again in each attempt, which is no progress.
    package var mostReceived: UInt64?
    /// The number of times that the file had to be started over.
    package var restarts = 0
    /// The time of the next attempt, in nanoseconds since 1970.
    package var nextAttempt: Int64 = 0
    /// The boot in which the times were recorded, and the clock of then.
    package var recordedIn: TransferClock.Boot?
    /// The strong validator of the bytes that are there (RFC 9110, 8.8.3).
    package var tag: String?
    /// The number of bytes that are on the disk, for a boot other than `boot`.
    package var durable: UInt64 = 0
    /// The boot in which the bytes were written.
    package var boot: String?
    /// The inode of the file that is about to become the item.
    package var inode: UInt64?
    /// The number of the last message of the channel before that of this transfer; nil until it is to be posted.
    package var messageAfter: UInt64?
    /// Whether the message was posted, and the app started.
    package var isReported = false

    package init(
        _ direction: Direction, url: String, path: String, sha256: String?, length: UInt64?, opening: String?,
        fields: [Field] = [], id: ID, now: TransferClock = TransferClock(),
        timeout: Duration
    ) {
        self.direction = direction
        self.url = url
        self.path = path
        self.sha256 = sha256
        self.expectedLength = length
        self.opening = opening
        self.id = id
        self.fields = fields
        queuedAt = Self.time(Double(now.wall) / 1e9)
        deadline = Self.time(queuedAt.timeIntervalSince1970 + Double(timeout.components.seconds))
        recordedIn = now.boot
    }

    /// The message that is posted when the transfer is over.
    package var result: TransferResult {
        TransferResult(id: id, url: url, path: path, direction: direction, state: state, reason: reason)
    }

    /// Notes how many bytes are there. Only more than ever before end a row of failures.
    package mutating func note(received count: UInt64) {
        received = count
        if count > mostReceived ?? 0 { (mostReceived, failures) = (count, 0) }
    }
}

/// What a transfer has come to, as its message has it.
public struct TransferResult: Codable, Hashable, Sendable {
    /// The identifier of the transfer.
    public let id: Transfer.ID
    /// The address on the server.
    public let url: String
    /// The item that a download became, or the name of an upload's source.
    public let path: String
    /// The direction.
    public let direction: Transfer.Direction
    /// `completed` or `failed`.
    public let state: Transfer.State
    /// Why it failed.
    public let reason: String?
}
