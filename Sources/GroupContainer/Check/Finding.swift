// Imports nothing: no file, clock or process.

/// One thing that `groupctl doctor` found: what is wrong with what, why that matters, and what would mend it.
package struct Finding: Equatable, Sendable {
    /// How bad it is. Notes are worth knowing; a container that has nothing else is healthy.
    package enum Severity: String, Sendable {
        case error
        case warning
        case note
    }

    /// What kind of thing it is; scripts depend on the names. `docs/doctor.md` has them all.
    package enum Code: String, Sendable, CaseIterable {
        case checkpointDamaged, checkpointLost, checkpointNewer, channelDamaged, clockBehind, containerCopied,
            containerMissing
        case deadMember, deletionInterrupted
        case fileSystemTemporary, fileSystemUnsupported, directoryUnreadable, formatDamaged, formatNewer, formatOlder
        case inotifyInstances
        case inotifyWatches, journalCut, journalDamaged, journalNotDurable, lockHeldLong, lockHolderStopped
        case leftovers, lockFileMissing, lockFileReplaced, logMissing, logNotDurable, logTorn, membersFull
        case notPermitted, openingBlocked, partDamaged, partWrongType, permissionsWrong, readOnly, memberTableDamaged
        case memberTableReplaced, spaceLow, stagingMissing
        case leaderMissing, leaderSilent, leaderStopped, strangeName, suiteDamaged, watchingDegraded
    }

    package var code: Code
    package var severity: Severity
    /// A file, a directory, an item; nil where it is about the container as a whole.
    package var item: String?
    /// Whose process it is about.
    package var process: Int32?
    /// What is wrong.
    package var what: String
    /// Why it matters.
    package var why: String
    /// What would mend it.
    package var remedy: String
    /// What `--repair` does about it, once it is done; nil where it can do nothing.
    package var mended: String?

    init(
        _ code: Code, _ severity: Severity, item: String? = nil, process: Int32? = nil, _ what: String, why: String,
        remedy: String, mended: String? = nil
    ) {
        (self.code, self.severity, self.item, self.process) = (code, severity, item, process)
        (self.what, self.why, self.remedy, self.mended) = (what, why, remedy, mended)
    }

    /// Whether it is the same thing, seen at another time.
    package func isAbout(_ other: Finding) -> Bool {
        (code, item, process) == (other.code, other.item, other.process)
    }

    static let repair = "'groupctl doctor --repair'"
}

/// How long something has lasted, in words.
enum RoughTime {
    static func text(_ nanoseconds: Int64) -> String {
        let seconds = max(0, nanoseconds) / 1_000_000_000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}

/// How much something is, in words.
enum RoughSize {
    static func text(_ bytes: UInt64) -> String {
        switch bytes {
        case ..<10_240: "\(bytes) bytes"
        case ..<10_485_760: "\(bytes >> 10) KiB"
        case ..<10_737_418_240: "\(bytes >> 20) MiB"
        default: "\(bytes >> 30) GiB"
        }
    }
}
