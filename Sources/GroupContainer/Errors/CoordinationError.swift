import GroupSystemCalls

/// What went wrong: what happened to which item, in which operation, why, who is in the way, and what to do.
public struct CoordinationError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Can be switched over; new ones may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The name that `--json` prints.
        public let rawValue: String
        /// A code of another version, by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// An identifier, a path or an option is malformed.
        public static let invalidArgument = Code(rawValue: "invalidArgument")
        /// There is no such container or item.
        public static let notFound = Code(rawValue: "notFound")
        /// A path leads out of the container, into its own `.group` directory, or into another container inside it.
        public static let outsideContainer = Code(rawValue: "outsideContainer")
        /// The system does not permit it.
        public static let notPermitted = Code(rawValue: "notPermitted")
        /// Something else stands where the item should: a directory, a socket, a file in place of a directory.
        public static let wrongType = Code(rawValue: "wrongType")
        /// A directory has something in it, and nobody said that this goes, too.
        public static let notEmpty = Code(rawValue: "notEmpty")
        /// The lock was not granted before the deadline; `holders` says who has it.
        public static let lockTimedOut = Code(rawValue: "lockTimedOut")
        /// Granting it would never come to pass: the caller holds it already, or holds what its holder waits for.
        public static let deadlock = Code(rawValue: "deadlock")
        /// The task was cancelled.
        public static let cancelled = Code(rawValue: "cancelled")
        /// The item changed in between, or moved twice while its lock was awaited, or something stands where nothing
        /// should, or another process listens to a channel under that name.
        public static let conflict = Code(rawValue: "conflict")
        /// A file below `.group` is not what this library writes.
        public static let damaged = Code(rawValue: "damaged")
        /// The container was made by a newer version.
        public static let newerFormat = Code(rawValue: "newerFormat")
        /// The container was made by an older version, whose format this one does not read.
        public static let olderFormat = Code(rawValue: "olderFormat")
        /// The file system lacks what is needed: byte locks that exclude, maps that are shared; or an item lies on
        /// another one than the container's own files.
        public static let unsupportedFileSystem = Code(rawValue: "unsupportedFileSystem")
        /// No room on the disk or in the quota; nothing was changed.
        public static let noSpace = Code(rawValue: "noSpace")
        /// Reading or writing failed.
        public static let inputOutput = Code(rawValue: "inputOutput")
        /// The change is visible, but the disk did not confirm it: it may be gone after a power cut.
        public static let notDurable = Code(rawValue: "notDurable")
        /// A transaction is committed, but a part of it could not be put into place; nor could the rest be taken back.
        /// Its items stay locked until this process's next request, or another process after its end, has completed it.
        public static let unfinished = Code(rawValue: "unfinished")
        /// A limit of the container is reached: members, items a request, what a suite or a channel holds.
        public static let limitReached = Code(rawValue: "limitReached")
        /// The process is a forked child of the one that opened the container, and must open it itself.
        public static let forked = Code(rawValue: "forked")
        /// The content does not decode, or does not encode.
        public static let invalidContent = Code(rawValue: "invalidContent")
    }

    /// A member that is in the way.
    public struct Holder: Hashable, Sendable {
        /// Its process.
        public var processIdentifier: Int32
        /// Nil where a signal to `processIdentifier` reaches the holder. Else the holder lives in another PID namespace
        /// and could not be found from here: the number counts there. The inode of that namespace (`lsns -t pid`), or 0
        /// where it is not known.
        public var pidNamespace: UInt64?
        /// What it says it is.
        public var purpose: String
        /// When it was granted what it holds, in nanoseconds since 1970.
        public var since: Int64
        /// The item that it holds, cut after 87 bytes.
        public var item: String
        /// Alone, rather than shared with readers.
        public var isWriting: Bool
        /// How its process was called, cut after 4,096 bytes; nil where the system will not say.
        public var command: String?
        /// What its process is doing; nil where the system will not say.
        public var condition: Condition?

        /// What a process is doing.
        public enum Condition: String, Hashable, Sendable {
            /// Running, or sleeping.
            case running
            /// By a signal or a debugger: it holds on until it is continued or ended.
            case stopped
            /// Its first thread has ended; others hold on.
            case zombie
        }
    }

    /// What happened.
    public var code: Code
    /// To which item, file or container; escaped where it is not UTF-8.
    public var item: String?
    /// In which operation: "read", "write", "open".
    public var operation: String
    /// Why.
    public var cause: String
    /// Who is in the way.
    public var holders: [Holder]
    /// What to do.
    public var advice: String?
    /// Where a `WriteCondition` does not hold: the generation that the item is at; nil where nothing stands there.
    public var generation: UInt64?

    init(
        _ code: Code, item: String? = nil, operation: String, cause: String, holders: [Holder] = [],
        advice: String? = nil
    ) {
        (self.code, self.item, self.operation) = (code, item, operation)
        (self.cause, self.holders, self.advice) = (cause, holders, advice)
    }

    /// One sentence that says all of it.
    public var description: String {
        var text = "cannot \(Self.phrases[operation] ?? operation)"
        if let item { text += " '\(item)'" }
        text += ": \(cause)"
        if !holders.isEmpty {
            text += "; held by " + holders.map(\.description).joined(separator: ", ")
        }
        if let advice { text += "; \(advice)" }
        return text
    }

    /// Operations whose names, which scripts get, are no phrase before an item.
    static let phrases = [
        "acknowledge": "acknowledge messages of", "append": "append to", "be present": "be present as",
        "listen": "listen to", "post": "post to", "transaction": "carry out the transaction of",
    ]
}

extension CoordinationError.Holder: CustomStringConvertible {
    /// `todo-app (process 812, stopped, '/usr/bin/todo --edit') since 10:00:00Z`
    public var description: String {
        var process = MemberProcess.text(processIdentifier, pidNamespace)
        if let condition, condition != .running { process += ", \(condition)" }
        if let command, !command.isEmpty {
            process += ", '" + (command.count > 60 ? String(command.prefix(59)) + "…" : command) + "'"
        }
        return "\(purpose) (\(process)) since \(Self.timeOfDay(since))"
    }

    init(_ access: MemberTable.PublishedLock, in table: inout ProcessTable) {
        self.init(
            table.process(of: access.member), purpose: access.purpose, since: access.since, item: access.path,
            isWriting: access.claim.part.mode != .reading)
    }

    init(_ process: MemberProcess, purpose: String, since: Int64, item: String, isWriting: Bool) {
        self.init(
            processIdentifier: process.identifier, pidNamespace: process.pidNamespace, purpose: purpose, since: since,
            item: item, isWriting: isWriting, command: process.command, condition: process.condition)
    }

    /// `10:00:00Z`: a lock is held for seconds, so the day goes without saying.
    private static func timeOfDay(_ nanoseconds: Int64) -> String {
        let time = CalendarTime(secondsSince1970: nanoseconds / 1_000_000_000)
        return [time.hour, time.minute, time.second].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":") + "Z"
    }
}
