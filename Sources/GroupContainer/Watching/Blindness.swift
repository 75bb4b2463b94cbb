import GroupSystemCalls

/// Says why watching is incomplete, and what would mend it.
enum Blindness {
    /// The directory (empty: the container) and the reason; no reason where everything is watched again.
    static func text(_ news: BlindSpots.News) -> (path: [UInt8], reason: String) {
        guard case .blind(let directory, let reason) = news else { return ([], "") }
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

    /// Which one it is, and a number that would do.
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
    /// Nil for what is not about an entry.
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
