/// What a host has seen of the files around it, to notice what is another one now. Every two seconds is enough: somebody
/// has installed something.
struct Surroundings {
    private static let period: Int64 = 2_000_000_000
    private var next: Int64 = .min
    var manifests: [FileIdentity]?
    var list: FileIdentity?
    /// What is wrong with manifests, and was said.
    var complaints: Set<ManifestError> = []

    func isDue(at now: Int64) -> Bool { next <= now }

    func wait(at now: Int64) -> Int64 { next <= now ? 0 : next - now }

    mutating func noteLook(at now: Int64) { next = now + Self.period }
}
