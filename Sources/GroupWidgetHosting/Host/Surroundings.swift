/// The state of the files around a host at its last check, to notice changes. A check every two seconds is enough for
/// installations.
struct Surroundings {
    private static let period: Int64 = 2_000_000_000
    private var next: Int64 = .min
    var manifests: [FileIdentity]?
    var list: FileIdentity?
    /// The mistakes in manifests that were logged.
    var complaints: Set<ManifestError> = []

    func isDue(at now: Int64) -> Bool { next <= now }

    func wait(at now: Int64) -> Int64 { next <= now ? 0 : next - now }

    mutating func noteLook(at now: Int64) { next = now + Self.period }
}
