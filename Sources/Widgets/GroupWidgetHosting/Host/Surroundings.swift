import GroupManifests
import GroupSystemCalls

/// The state of the files around a host at its last check, to notice changes. A check follows each change of the files,
/// or, where they cannot be watched, the last check after two seconds.
struct Surroundings {
    /// The shortest time from a check to the next: an installation changes several files.
    private static let pause: Int64 = 200_000_000
    static let period: Int64 = 2_000_000_000
    /// The time until manifests that cannot be read are read again.
    private static let patience: Int64 = 10_000_000_000
    /// Nil where the user has no inotify instance left.
    let watch = try? PathWatch()
    private var next: Int64? = .min
    private var last: Int64 = .min
    var manifests: [FileIdentity?]?
    var list: FileIdentity?
    var memoryCheckedAt: Int64 = 0
    /// The mistakes in manifests that were logged.
    var complaints: Set<ManifestError> = []

    func isDue(at now: Int64) -> Bool { next.map { $0 <= now } ?? false }

    /// Returns how long until a check is due, in nanoseconds; nil if none is.
    func wait(at now: Int64) -> Int64? { next.map { $0 <= now ? 0 : $0 - now } }

    /// Notes that something may have changed.
    mutating func noteChange(at now: Int64) { next = min(next ?? .max, max(now, last + Self.pause)) }

    /// Notes that manifests could not be read: nothing may tell when they can.
    mutating func noteUnread() {
        manifests = nil
        next = min(next ?? .max, last + Self.patience)
    }

    mutating func noteLook(at now: Int64) {
        last = now
        next = watch == nil ? now + Self.period : nil
        watch?.drain()
    }
}
