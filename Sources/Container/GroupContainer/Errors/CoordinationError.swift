public import FoundationEssentials
import GroupLocking
import GroupSystemCalls

/// An error of a call: which operation failed, on which item of which container, why, which processes are in the way,
/// and what the caller can do.
public struct CoordinationError: Error, Sendable, CustomStringConvertible {
    /// A code for `switch` statements; versions to come may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name that `--json` prints.
        public let rawValue: String
        /// Creates a code of another version from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An identifier, a path or an option is malformed.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// There is no such container or item.
        public static let notFound = Code(rawValue: "notFound")
        /// A path leads out of the container, into its own `.group` directory, or into another container inside it.
        public static let outsideContainer = Code(rawValue: "outsideContainer")
        /// The system does not permit the operation.
        public static let notPermitted = Code(rawValue: "notPermitted")
        /// The item is of another type than needed: a directory, a socket, a file in place of a directory.
        public static let wrongType = Code(rawValue: "wrongType")
        /// A directory is not empty, and the call did not request removing its contents.
        public static let notEmpty = Code(rawValue: "notEmpty")
        /// The lock was not granted before the deadline; `holders` lists its holders.
        public static let lockTimedOut = Code(rawValue: "lockTimedOut")
        /// The lock could never be granted: the caller holds it already, or holds a lock that its holder waits for.
        public static let deadlock = Code(rawValue: "deadlock")
        /// The request was cancelled, or its task.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The item was changed in between, or moved twice while its lock was awaited; or an item is where none may be;
        /// or another process listens to a channel under that name.
        public static let conflict = Code(rawValue: "conflict")
        /// A file below `.group` is not what this library writes.
        public static let damaged = Code(rawValue: "damaged")
        /// The container was made by a newer version.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The container was made by an older version, whose format this one does not read.
        public static let olderFormat = Code(rawValue: "olderFormat")
        /// The file system lacks a feature that is needed (byte locks that exclude, shared maps), or an item is on
        /// another file system than the container's own files.
        public static let unsupportedFileSystem = Code(rawValue: "unsupportedFileSystem")
        /// There is no room on the disk or in the quota; nothing was changed.
        public static let noSpace = Code(rawValue: "noSpace")
        /// Reading or writing failed.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The change is visible, but the disk did not confirm it: it may be gone after a power cut.
        public static let notDurable = Code(rawValue: "notDurable")
        /// A transaction is committed, but a part of it could not be put into place, and the rest could not be undone.
        /// Its items stay locked until it is completed by this process's next request, or by another process after this
        /// one ended.
        public static let unfinished = Code(rawValue: "unfinished")
        /// A limit of the container is reached: of members, of items in a request, or of the contents of a suite or a
        /// channel.
        public static let limitReached = Code(rawValue: "limitReached")
        /// The process is a forked child of the one that opened the container, and must open it itself.
        public static let forked = Code(rawValue: "forked")
        /// A presenter of the item could not save or let go of it; `holders` has its process, and `reason` its error.
        public static let presenterFailed = Code(rawValue: "presenterFailed")
        /// A presenter of the item did not answer in time, and the coordinator wants each one's answer.
        public static let presenterUnresponsive = Code(rawValue: "presenterUnresponsive")
        /// A program that was to decide about a change, or to take it, was not reached; nothing was changed.
        public static let unavailable = Code(rawValue: "unavailable")
        /// The answer of the program that decides about a change was lost: it may be made or not. `pendingOperation` is
        /// its name, by which can be asked later what became of it.
        public static let unknown = Code(rawValue: "unknown")
        /// The content does not decode, or does not encode.
        public static let invalidContent = Code(rawValue: "invalidContent")
    }

    /// A member that is in the way.
    public struct Holder: Hashable, Sendable {
        /// The identifier of the member's process.
        public var processIdentifier: Int32
        /// The PID namespace of the holder's process: nil where a signal to `processIdentifier` reaches the process.
        /// Otherwise the process is in another PID namespace, could not be found from this one, and has that number
        /// there. The value is the inode of that namespace (`lsns -t pid`), or 0 where it is not known.
        public var pidNamespace: UInt64?
        /// The member's purpose, as it opened the container.
        public var purpose: String
        /// The time when the lock was granted.
        public var since: Date { Date(nanoseconds: sinceNanoseconds) }
        /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
        package var sinceNanoseconds: Int64
        /// The item that the member holds, cut after 87 bytes.
        public var item: String
        /// Whether the lock is exclusive instead of shared.
        public var isWriting: Bool
        /// Whether the member presents the item, and holds no lock on it.
        public var isPresenting = false
        /// The command line of the process, cut after 4,096 bytes; nil where the system does not provide it.
        public var command: String?
        /// The state of the process; nil where the system does not provide it.
        public var condition: Condition?

        package init(
            processIdentifier: Int32, pidNamespace: UInt64? = nil, purpose: String, since: Date, item: String,
            isWriting: Bool, command: String? = nil, condition: Condition? = nil
        ) {
            self.processIdentifier = processIdentifier
            self.pidNamespace = pidNamespace
            self.purpose = purpose
            sinceNanoseconds = since.nanoseconds
            self.item = item
            self.isWriting = isWriting
            self.command = command
            self.condition = condition
        }

        /// The state of a process.
        public enum Condition: String, Hashable, Sendable {
            /// Running, or sleeping.
            case running
            /// Stopped by a signal or a debugger: the process holds the lock until it is continued or ended.
            case stopped
            /// The process's first thread has ended; other threads still hold the lock.
            case zombie
        }
    }

    /// The kind of error.
    public var code: Code
    /// The operation: "read", "write", "open".
    public var operation: String
    /// The item, file or container concerned; escaped where it is not UTF-8.
    public var item: String?
    /// The path of the container, as it was opened; nil where the error concerns none, or is about the container
    /// itself.
    public var containerPath: String?
    /// The reason.
    public var reason: String
    /// The members that are in the way.
    public var holders: [Holder]
    /// The present generation of the item, or of the key, where the condition of a write does not hold; nil where there
    /// is no item.
    public var generation: Generation?
    /// The name of a change that may be made or not, by which can be asked later what became of it.
    public var pendingOperation: String?
    /// What the caller can do; nil where nothing can be done, or where `code` and `holders` show it.
    public var remedy: Remedy?
    /// The error below this one: the system's, a `DecodingError`, or the one that a closure threw.
    public var cause: (any Error)?

    /// Creates an error, for modules above this one.
    public init(
        _ code: Code, operation: String, item: String? = nil, containerPath: String? = nil, reason: String,
        holders: [Holder] = [], generation: Generation? = nil, remedy: Remedy? = nil, cause: (any Error)? = nil
    ) {
        self.code = code
        self.operation = operation
        self.item = item
        self.containerPath = containerPath
        self.reason = reason
        self.holders = holders
        self.generation = generation
        self.remedy = remedy
        self.cause = cause
    }

    /// A sentence with all of these parts but `generation`, `pendingOperation` and `cause`.
    public var description: String { description(advising: remedy?.text) }

    /// The sentence with another advice than the remedy: commands name their own options.
    package func description(advising advice: String?) -> String {
        var text = "cannot \(Self.phrases[operation] ?? operation)"
        if let item { text += " '\(Self.shortened(item))'" }
        if let containerPath { text += " in '\(containerPath)'" }
        text += ": \(reason)"
        for holder in holders { text += "; " + holder.clause(of: self) }
        if let advice { text += "; \(advice)" }
        return text
    }

    /// The longest name in a sentence, in characters; a path of 4,095 bytes would hide what the sentence says.
    private static let longestName = 400

    private static func shortened(_ name: String) -> String {
        if name.count <= longestName { return name }
        return name.prefix(longestName / 2) + "…" + name.suffix(longestName / 4)
    }

    /// Phrases for operations whose names, which are printed for scripts, do not fit before an item.
    static let phrases = [
        "acknowledge": "acknowledge messages of", "append": "append to", "be present": "be present as",
        "listen": "listen to", "post": "post to", "transaction": "carry out the transaction of",
    ]
}

extension CoordinationError: Equatable {
    /// Compares all parts but `cause`, whose type need not be equatable.
    public static func == (one: CoordinationError, other: CoordinationError) -> Bool {
        (one.code, one.operation, one.item, one.containerPath) == (
            other.code, other.operation, other.item, other.containerPath
        )
            && (one.reason, one.holders, one.generation, one.remedy, one.pendingOperation)
                == (other.reason, other.holders, other.generation, other.remedy, other.pendingOperation)
    }
}

extension CoordinationError.Holder: CustomStringConvertible {
    /// A description such as `process 812 (todo-app, stopped, '/usr/bin/todo --edit')`.
    public var description: String {
        var parts = [purpose]
        if let condition, condition != .running { parts.append("\(condition)") }
        if let command, !command.isEmpty {
            parts.append("'" + (command.count > 60 ? String(command.prefix(59)) + "…" : command) + "'")
        }
        return "\(MemberProcess.text(processIdentifier, pidNamespace)) (\(parts.joined(separator: ", ")))"
    }

    /// Returns the clause of an error's sentence about this holder: what it holds, and since when.
    fileprivate func clause(of error: CoordinationError) -> String {
        let held =
            if isPresenting {
                error.item == item ? "presented it" : "presented '\(item)'"
            } else if error.remedy?.code == .endMembers {
                "had the container open"
            } else {
                // The sentence names the lock before: "it" is the lock on the error's item.
                error.item == item ? "held it" : "held the lock on '\(item)'"
            }
        return "\(self) has \(held) since \(Self.timeOfDay(sinceNanoseconds))"
    }

    init(_ process: MemberProcess, purpose: String, sinceNanoseconds: Int64, item: String, isWriting: Bool) {
        self.init(
            processIdentifier: process.identifier, pidNamespace: process.pidNamespace, purpose: purpose,
            since: Date(nanoseconds: sinceNanoseconds), item: item, isWriting: isWriting, command: process.command,
            condition: process.condition.map(Condition.init))
        self.sinceNanoseconds = sinceNanoseconds
    }

    /// Returns a time such as `10:00:00Z`, without the day, because a lock is held for seconds.
    private static func timeOfDay(_ nanoseconds: Int64) -> String {
        let time = CalendarTime(secondsSince1970: nanoseconds / 1_000_000_000)
        return [time.hour, time.minute, time.second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":") + "Z"
    }
}
