import GroupBytes
import GroupSystemCalls

/// The directories that cannot be watched, and why. A limit is reported once, however many directories there are.
struct WatchGaps: Equatable, Sendable {
    enum Reason: Equatable, Sendable {
        /// The kernel gives no inotify instance: nothing is watched.
        case noInstanceLeft
        /// The process, or the machine, may open no further file.
        case noDescriptorLeft
        /// The user has no watch left, for this directory and perhaps for others.
        case noWatchLeft
        /// The directory may not be entered or listed.
        case unreadable
        /// The file system fails, such as that of a mount whose server is gone.
        case failed(Errno)
        /// A mount shows the directory at a second location, and the kernel reports its changes at the first one only.
        case sameAs(ShownLocation)

        /// Returns the reason for an error of a call that opens, lists or watches one directory.
        init(_ error: Errno) {
            switch error {
            case .accessDenied, .notPermitted: self = .unreadable
            case .tooManyFiles, .tooManyFilesInSystem: self = .noDescriptorLeft
            case .noSpace: self = .noWatchLeft
            default: self = .failed(error)
            }
        }

        /// Whether other directories lack the same.
        var isLimit: Bool { [.noInstanceLeft, .noDescriptorLeft, .noWatchLeft].contains(self) }
    }

    /// A report about watch gaps.
    enum News: Equatable, Sendable {
        case gap(ItemLocation?, Reason)
        /// Everything is watched again.
        case complete
    }

    private var reasons: [ItemLocation?: Reason] = [:]
    private var unreported: [News] = []
    /// The limits that were reported.
    private var reportedLimits: [Reason] = []
    /// Whether the kernel gives no inotify instance.
    private(set) var lacksInstance = false

    /// Whether the tree is to be compared periodically. A directory that may not be entered could not be compared
    /// either; an event reports that it may be.
    var needsComparing: Bool { lacksInstance || reasons.contains { $0.key == nil || $0.value != .unreadable } }

    var isEmpty: Bool { reasons.isEmpty }

    /// Whether a directory could not be looked at because this process may open no further file.
    var lacksDescriptor: Bool { reasons.values.contains(.noDescriptorLeft) }

    /// The items with a gap that no limit explains, or with `limits` all of them.
    func locations(limits: Bool) -> [ItemLocation] {
        reasons.compactMap { limits || !$0.value.isLimit ? $0.key : nil }
    }

    /// Returns whether a directory, or one in it, has a gap.
    func concerns(_ directory: ItemLocation) -> Bool {
        reasons[directory] != nil || reasons.keys.contains { $0?.isBelow(directory) ?? false }
    }

    /// Notes that there is no inotify queue, and why.
    mutating func noteNoQueue(_ reason: Reason) {
        lacksInstance = true
        report(nil, reason)
    }

    mutating func note(_ directory: ItemLocation?, _ reason: Reason) {
        if reasons.updateValue(reason, forKey: directory) != reason { report(directory, reason) }
    }

    private mutating func report(_ directory: ItemLocation?, _ reason: Reason) {
        if reason.isLimit {
            if reportedLimits.contains(reason) { return }
            reportedLimits.append(reason)
        }
        unreported.append(.gap(directory, reason))
    }

    /// Notes that there is an inotify queue now. What is not watched by it has gaps of its own.
    mutating func noteQueue() {
        if !lacksInstance { return }
        lacksInstance = false
        reportedLimits = []
        if reasons.isEmpty { unreported.append(.complete) }
    }

    /// Notes that a directory is watched now or gone, or that another item was looked at.
    mutating func close(_ directory: ItemLocation?) {
        if case .sameAs = reasons[directory] { return }
        remove(directory)
    }

    /// Notes the other location of a directory; nil if there is none any more.
    mutating func noteOtherLocation(_ other: ShownLocation?, of directory: ItemLocation?) {
        if let other { return note(directory, .sameAs(other)) }
        if case .sameAs = reasons[directory] { remove(directory) }
    }

    private mutating func remove(_ directory: ItemLocation?) {
        guard reasons.removeValue(forKey: directory) != nil, reasons.isEmpty, !lacksInstance else { return }
        reportedLimits = []
        unreported.append(.complete)
    }

    mutating func take() -> News? { unreported.isEmpty ? nil : unreported.removeFirst() }
}

/// The text about why watching is incomplete, and what would repair it.
enum WatchGapCause {
    private static let late = "changes made without coordination are found by comparing every so often"

    /// Returns the directory (empty: the container) and the reason; an empty reason if everything is watched again.
    static func text(_ news: WatchGaps.News) -> (path: [UInt8], reason: String) {
        guard case .gap(let directory, let reason) = news else { return ([], "") }
        return (directory?.bytes ?? [], text(reason))
    }

    private static func text(_ reason: WatchGaps.Reason) -> String {
        switch reason {
        case .unreadable:
            "the directory may not be read by the leader: nothing below it is seen; give it permission"
        case .failed(let error):
            "it cannot be looked at (\(error)): nothing in it is seen until it can; repair or unmount its file system"
        case .sameAs(.container): "a mount shows the container itself here: \(late)"
        case .sameAs(.directory(let other)): "a mount shows '\(printable(other.bytes))' here: \(late)"
        case .noInstanceLeft: "no inotify instance is left\(limit(.instances)): \(late)"
        case .noWatchLeft: "no inotify watch is left\(limit(.watches)): \(late)"
        case .noDescriptorLeft:
            "the leader has no file descriptor left for it (\(descriptors)): \(late); close files, or raise the limit"
        }
    }

    private static var descriptors: String {
        let most = InotifyQueue.descriptorLimit.map { ", inotify needs a number below \($0)" }
        return "'ulimit -n' is \(OpenFiles.limit)" + (most ?? "")
    }

    private static func limit(_ kind: InotifyLimit.Kind) -> String {
        guard let limit = InotifyLimit(kind) else { return "" }
        return " (\(limit.name) is \(limit.number); '\(limit.raised(to: 0))' would do)"
    }
}

/// A limit of the kernel for the inotify instances or watches of this user.
struct InotifyLimit: Equatable, Sendable {
    enum Kind: String, Sendable { case instances, watches }

    let kind: Kind
    let name: String
    let number: Int

    init(_ kind: Kind, name: String, number: Int) { (self.kind, self.name, self.number) = (kind, name, number) }

    /// Reads the lower of the kernel's two limits: the one of the machine, and the one of this user namespace.
    init?(_ kind: Kind) {
        let limits = ["fs.inotify.max_user_\(kind)", "user.max_inotify_\(kind)"].compactMap { name in
            let path = Array("/proc/sys/\(String(name.map { $0 == "." ? "/" : $0 }))".utf8)
            let text = (try? FileDescriptor.open(path: path, .reading).readAll(limit: 64)) ?? []
            return Int(String(decoding: text.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)).map { (name, $0) }
        }
        guard let lowest = limits.min(by: { $0.1 < $1.1 }) else { return nil }
        self.kind = kind
        name = lowest.0
        number = lowest.1
    }

    /// Returns the command that raises the limit to a number that is enough, and at least `least`.
    func raised(to least: Int) -> String {
        let (fourfold, isTooMuch) = number.multipliedReportingOverflow(by: 4)
        let enough = max(isTooMuch ? number : fourfold, least, kind == .watches ? 524_288 : 1_024)
        return "sysctl \(name)=\(enough)"
    }
}

extension WatchGaps.Reason {
    /// Makes the reason why no inotify queue could be made. The kernel has one error for two limits, those of instances
    /// and of descriptors: a descriptor is left where another one can be opened.
    init(ofQueue error: Errno) {
        self.init(error)
        // A queue may take more than one.
        guard error == .tooManyFiles, let other = try? FileDescriptor.open(path: Array("/proc/self".utf8), .pathOnly),
            (try? other.checkRoom(forFiles: 4)) != nil
        else { return }
        if other.number < InotifyQueue.descriptorLimit ?? .max { self = .noInstanceLeft }
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
        } else if kinds.contains(.modified) || kinds.contains(.closedAfterWriting) {
            kind = .content
        } else if kinds.contains(.attributesChanged) {
            kind = .attributes
        } else {
            return nil
        }
        self.init(watch: event.watch, kind: kind, isDirectory: kinds.contains(.isDirectory), name: event.name)
    }
}
