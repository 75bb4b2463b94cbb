// Imports nothing: no file, clock or process.

/// A finding of `groupctl doctor`: what is wrong, with which item or process, why that matters, and what would repair
/// it.
package struct Finding: Equatable, Sendable {
    /// The severity of a finding. Notes are worth knowing; a container whose findings are all notes is healthy.
    package enum Severity: String, Sendable {
        case error
        case warning
        case note
    }

    /// The kind of a finding. Scripts depend on the names; `docs/reference/doctor.md` lists them all.
    package enum Code: String, Sendable, CaseIterable {
        case channelDamaged, checkpointDamaged, checkpointLost, clockBehind, containerCopied, containerMissing
        case deadMember, deletionInterrupted, directoryUnreadable
        case fileSystemTemporary, fileSystemUnsupported, formatNewer, formatOlder
        case inotifyInstances, inotifyWatches
        case journalCut, journalDamaged, journalNotDurable
        case leaderMissing, leaderSilent, leaderStopped, leftovers, limitReached, lockFileReplaced, lockHeldLong,
            lockHolderStopped, logMissing, logNotDurable, logTorn
        case membersFull, memberTableReplaced
        case notPermitted, notWritable
        case openingBlocked
        case partDamaged, permissionsWrong, presenterLeftovers, procMissing
        case readOnly
        case spaceLow, strangeName, suiteDamaged
        case watchingDegraded
        /// What a service has recorded about itself; `service` is the finding's name.
        case service
    }

    package var code: Code
    /// The name of a service's finding.
    package var service: String?
    package var severity: Severity
    /// The file, directory or item; nil where the finding is about the container as a whole.
    package var item: String?
    /// The process that the finding is about.
    package var process: Int32?
    /// A description of what is wrong.
    package var what: String
    /// The reason why it matters.
    package var why: String
    /// The action that would repair it.
    package var remedy: String
    /// The result of `--repair`, once it is done; nil where `--repair` can do nothing about the finding.
    package var repaired: String?

    init(
        _ code: Code, _ severity: Severity, item: String? = nil, process: Int32? = nil, _ what: String, why: String,
        remedy: String, repaired: String? = nil
    ) {
        self.code = code
        self.severity = severity
        self.item = item
        self.process = process
        self.what = what
        self.why = why
        self.remedy = remedy
        self.repaired = repaired
    }

    init(
        service name: String, _ severity: Severity, item: String?, process: Int32?, _ what: String, why: String,
        remedy: String
    ) {
        self.init(.service, severity, item: item, process: process, what, why: why, remedy: remedy)
        service = name
    }

    /// The name, for scripts.
    package var name: String { service ?? code.rawValue }

    /// Returns whether another finding is the same one, made at another time.
    package func isAbout(_ other: Finding) -> Bool {
        (name, item, process) == (other.name, other.item, other.process)
    }

    static let repair = "'groupctl doctor --repair'"
}

/// A duration in words.
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

/// A number of bytes in words.
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
