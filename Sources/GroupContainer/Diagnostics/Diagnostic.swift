/// Something that an operator wants to know of this process's part in a container.
public struct Diagnostic: Hashable, Sendable, CustomStringConvertible {
    /// Can be switched over; new ones may be added.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// Its name, for a log.
        public let rawValue: String
        /// A code of another version, by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// This process looks after changes made without coordination from now on.
        public static let leadershipTaken = Code(rawValue: "leadershipTaken")
        /// This process does no longer, because no reader in it follows any more.
        public static let leadershipEnded = Code(rawValue: "leadershipEnded")
        /// Another process has taken over, since this one did not answer for too long.
        public static let leadershipSuperseded = Code(rawValue: "leadershipSuperseded")
        /// This process cannot go on looking after them; it tries again, and so does every other process that follows.
        public static let leadershipFailed = Code(rawValue: "leadershipFailed")
        /// Not everything can be watched: why, and what would mend it. The same is in the changes, as `degraded`.
        public static let watchingDegraded = Code(rawValue: "watchingDegraded")
        /// Everything is watched again.
        public static let watchingComplete = Code(rawValue: "watchingComplete")
        /// What a member that died has left half done was settled and recorded.
        public static let memberRepaired = Code(rawValue: "memberRepaired")
        /// The oldest files of the journal went; cursors from before end in a `rescan`.
        public static let journalFilesDropped = Code(rawValue: "journalFilesDropped")
        /// After a restart of the machine: the journal was recovered.
        public static let journalRecovered = Code(rawValue: "journalRecovered")
        /// A checkpoint was written, so that the journal need not be read from its beginning.
        public static let checkpointWritten = Code(rawValue: "checkpointWritten")
        /// It could not be made; it is tried again later, and the journal stays longer meanwhile.
        public static let checkpointFailed = Code(rawValue: "checkpointFailed")
        /// A record is not what was written. `groupctl doctor` looks at all of them.
        public static let damageMet = Code(rawValue: "damageMet")
        /// A file of the journal ends before such a record now, and the journal goes on in the next one.
        public static let journalCut = Code(rawValue: "journalCut")
        /// The disk refused to keep the journal: no change is durable until it was made anew.
        public static let journalNotDurable = Code(rawValue: "journalNotDurable")
        /// What the disk had refused was written again, and was kept.
        public static let journalRenewed = Code(rawValue: "journalRenewed")
        /// A suite of the defaults cannot be read on: its values are those from before.
        public static let defaultsUnreadable = Code(rawValue: "defaultsUnreadable")
        /// So many (`count`) records of a suite are not what was written, and were left out when it was compacted.
        public static let defaultsDamaged = Code(rawValue: "defaultsDamaged")
        /// So many (`count`) records of a channel are not what was written, and were passed over; a listener that
        /// misses one of its messages is told so, too.
        public static let channelDamaged = Code(rawValue: "channelDamaged")
        /// So many (`count`) are missing here: the reader of the diagnostics was too slow.
        public static let eventsDropped = Code(rawValue: "eventsDropped")
    }

    /// What happened.
    public var code: Code
    /// To which file, directory or process; nil where it is about the container.
    public var item: String?
    /// The same as a sentence.
    public var text: String
    /// Of changes, files or events, where the code is about a number of them; else 1.
    public var count: Int
    /// When, in nanoseconds since 1970.
    public var time: Int64

    /// The item and the sentence.
    public var description: String { (item.map { $0 + ": " } ?? "") + text }
}
