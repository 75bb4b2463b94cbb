import GroupSystemCalls

/// The directories that cannot be watched, and why. Each reason of a limit is reported once, however many directories
/// there are.
struct WatchGaps: Equatable, Sendable {
    enum Reason: Equatable, Sendable {
        /// The kernel gives no inotify instance: nothing is watched.
        case noInstanceLeft
        /// The user has no watch left, for this directory and perhaps for others.
        case noWatchLeft
        /// The directory may not be entered or listed.
        case unreadable
    }

    /// A report about watch gaps.
    enum News: Equatable, Sendable {
        case gap(ItemLocation?, Reason)
        /// Everything is watched again.
        case complete
    }

    private var reasons: [ItemLocation?: Reason] = [:]
    private var unreported: [News] = []
    /// Limits are reported once, not for each directory.
    private var hasReportedLimit = false

    /// Whether the tree is to be compared periodically. A directory that may not be entered could not be compared
    /// either.
    var needsComparing: Bool { reasons.values.contains { $0 != .unreadable } }

    mutating func note(_ directory: ItemLocation?, _ reason: Reason) {
        if reasons.updateValue(reason, forKey: directory) == reason { return }
        if reason != .unreadable {
            if hasReportedLimit { return }
            hasReportedLimit = true
        }
        unreported.append(.gap(directory, reason))
    }

    /// Notes that a directory was listed, and perhaps watched.
    mutating func noteListed(_ directory: ItemLocation?, isWatched: Bool) {
        guard let reason = reasons[directory], isWatched || reason == .unreadable else { return }
        reasons[directory] = nil
        if !reasons.isEmpty { return }
        hasReportedLimit = false
        unreported.append(.complete)
    }

    mutating func take() -> News? { unreported.isEmpty ? nil : unreported.removeFirst() }
}

/// The text about why watching is incomplete, and what would repair it.
enum WatchGapCause {
    /// Returns the directory (empty: the container) and the reason; an empty reason if everything is watched again.
    static func text(_ news: WatchGaps.News) -> (path: [UInt8], reason: String) {
        guard case .gap(let directory, let reason) = news else { return ([], "") }
        let path = directory?.bytes ?? []
        switch reason {
        case .unreadable:
            return (path, "the directory may not be read by the leader: nothing below it is seen; give it permission")
        case .noInstanceLeft:
            return (
                path,
                "no inotify instance is left\(limit("max_user_instances")): changes made without coordination are found by "
                    + "comparing every so often"
            )
        case .noWatchLeft:
            return (
                path,
                "no inotify watch is left\(limit("max_user_watches")): changes made without coordination are found by "
                    + "comparing every so often"
            )
        }
    }

    /// Returns the limit's value, and a number that would be enough.
    private static func limit(_ name: String) -> String {
        let path = Array("/proc/sys/fs/inotify/\(name)".utf8)
        let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 64)) ?? []
        guard let number = Int(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)) else {
            return ""
        }
        let enough = max(number * 4, name == "max_user_watches" ? 524_288 : 1_024)
        return " (fs.inotify.\(name) is \(number); 'sysctl fs.inotify.\(name)=\(enough)' would do)"
    }
}

extension DirectoryEvent {
    /// Makes a `DirectoryEvent`; nil for an event that is not about an entry.
    init?(_ event: InotifyEvent) {
        let kinds = event.kinds
        let kind: Kind
        if kinds.contains(.ignored) {
            kind = .ended
        } else if event.name.isEmpty {
            return nil
        } else if kinds.contains(.movedFrom) {
            kind = .left(event.cookie)
        } else if kinds.contains(.movedTo) {
            kind = .arrived(event.cookie)
        } else if kinds.contains(.created) {
            kind = .created
        } else if kinds.contains(.removed) {
            kind = .removed
        } else if !kinds.isDisjoint(with: [.modified, .closedAfterWriting]) {
            kind = .content
        } else if kinds.contains(.attributesChanged) {
            kind = .attributes
        } else {
            return nil
        }
        self.init(watch: event.watch, kind: kind, isDirectory: kinds.contains(.isDirectory), name: event.name)
    }
}
