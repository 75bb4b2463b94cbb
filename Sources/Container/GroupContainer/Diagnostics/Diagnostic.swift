public import FoundationEssentials

/// An event for operators, about this process's part in a container.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// The kind of an event. Codes can be switched over; new ones may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The code's name, for a log.
        public let rawValue: String
        /// Makes a code of another version from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// This process watches for external changes from now on.
        public static let leadershipTaken = Code(rawValue: "leadershipTaken")
        /// This process no longer watches, because no reader in it follows any more.
        public static let leadershipEnded = Code(rawValue: "leadershipEnded")
        /// Another process has taken over, since this one did not reply for too long.
        public static let leadershipSuperseded = Code(rawValue: "leadershipSuperseded")
        /// This process cannot go on watching; it tries again, and so does every other process that follows.
        public static let leadershipFailed = Code(rawValue: "leadershipFailed")
        /// Not everything can be watched: why, and what would repair it. The changes contain the same, as `degraded`.
        public static let watchingDegraded = Code(rawValue: "watchingDegraded")
        /// Everything is watched again.
        public static let watchingComplete = Code(rawValue: "watchingComplete")
        /// What a dead member left half done was settled and recorded.
        public static let memberRepaired = Code(rawValue: "memberRepaired")
        /// The oldest files of the journal were deleted; cursors from before end in a `rescan`.
        public static let journalFilesDropped = Code(rawValue: "journalFilesDropped")
        /// The journal was recovered after a restart of the machine.
        public static let journalRecovered = Code(rawValue: "journalRecovered")
        /// A checkpoint was written, so that the journal need not be read from its beginning.
        public static let checkpointWritten = Code(rawValue: "checkpointWritten")
        /// A checkpoint could not be written. Another attempt follows later; older journal files stay until then.
        public static let checkpointFailed = Code(rawValue: "checkpointFailed")
        /// A record is not what was written. `groupctl doctor` examines all records.
        public static let damageMet = Code(rawValue: "damageMet")
        /// A file of the journal now ends before a damaged record, and the journal goes on in the next one.
        public static let journalCut = Code(rawValue: "journalCut")
        /// The disk refused to keep the journal: no change is durable until it was written anew.
        public static let journalNotDurable = Code(rawValue: "journalNotDurable")
        /// What the disk had refused was written again, and was kept.
        public static let journalRenewed = Code(rawValue: "journalRenewed")
        /// A suite of the defaults can be read no further: its values are those from before.
        public static let defaultsUnreadable = Code(rawValue: "defaultsUnreadable")
        /// A number (`count`) of a suite's records are not what was written, and were left out when the suite was
        /// compacted.
        public static let defaultsDamaged = Code(rawValue: "defaultsDamaged")
        /// A number (`count`) of a channel's records are not what was written, and were passed over; a listener that
        /// misses one of its messages gets the error `damaged`, too.
        public static let channelDamaged = Code(rawValue: "channelDamaged")
        /// A database was opened by a version of SQLite that may lose a commit where another program than a member
        /// resets SQLite's log. Members are not affected among themselves.
        public static let databaseAtRisk = Code(rawValue: "databaseAtRisk")
        /// A directory of another user stays in `.group/staging`, where it takes room, since this user may not empty
        /// it.
        public static let leftInStaging = Code(rawValue: "leftInStaging")
        /// A presenter did not answer within the grace, and a request went on without it.
        public static let presenterUnresponsive = Code(rawValue: "presenterUnresponsive")
        /// A number (`count`) of events are missing here: the reader of the diagnostics was too slow.
        public static let eventsDropped = Code(rawValue: "eventsDropped")
    }

    /// The kind of the event.
    public var code: Code
    /// The file, directory or process that the event is about; nil for the container.
    public var item: String?
    /// The event as a sentence.
    public var text: String
    /// The number of changes, files or events, if the code is about several; otherwise 1.
    public var count: Int
    /// The time of the event.
    public var time: Date { Date(nanoseconds: timeNanoseconds) }
    /// That time in nanoseconds since 1970, which a `Date` has only to about 120 ns.
    package var timeNanoseconds: Int64

    /// The item and the sentence.
    public var description: String { (item.map { $0 + ": " } ?? "") + text }
}
