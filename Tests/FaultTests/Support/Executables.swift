import Foundation
import SystemCalls

/// The executables that were built beside the tests.
enum Executables {
    static func path(_ name: String) -> String { folder + "/" + name }

    static var groupctl: String { path("groupctl") }
    static var testMember: String { path("test-member") }
    static var watchGroup: String { path("watch-group") }

    /// Nil where it is not installed.
    static let strace = ["/usr/bin/strace", "/usr/local/bin/strace", "/bin/strace"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    /// Where the test bundle lies: it is mapped, whoever runs it.
    private static let folder: String = {
        let file = try? FileDescriptor.open(path: Array("/proc/self/maps".utf8), .reading)
        guard let file, let maps = try? file.readAll() else { return "." }
        for line in String(decoding: maps, as: UTF8.self).split(separator: "\n") where line.hasSuffix(".xctest") {
            if let start = line.firstIndex(of: "/"), let slash = line.lastIndex(of: "/") {
                return String(line[start..<slash])
            }
        }
        return "."
    }()
}

/// The long run asks for more; the seed is fixed unless told.
enum FaultRun {
    static let isLong = environmentValue("GROUP_CONTAINER_LONG_TESTS") == "1"
    static let seed = environmentValue("GROUP_CONTAINER_SEED").flatMap { UInt64($0) } ?? 1
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same faults for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
