import Glibc
import GroupContainer
import GroupSystemCalls

/// One of many processes that add to one number, and read it, for some time. What it did is printed as one line:
/// writes, reads, the longest wait and the longest wait of a write in microseconds, faults. If it is announcing, for
/// processes that are killed, each number is printed when its write is acknowledged.
struct ContendedNumber {
    var directory: String
    /// The number of reads in a hundred operations.
    var readsPerHundred: Int
    var start: Int64
    var end: Int64
    var seed: UInt64
    var isAnnouncing: Bool

    func run() throws {
        let container = try Container(path: directory)
        let coordinator = container.coordinator(purpose: "bench-worker").blocking
        var random = seed
        var (writes, reads, faults) = (0, 0, 0)
        var (longest, longestWrite) = (Int64(0), Int64(0))
        var last = 0
        if start > monotonicNanoseconds() { pause(nanoseconds: start - monotonicNanoseconds()) }
        while true {
            let begin = monotonicNanoseconds()
            if begin >= end { break }
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            var entered = begin
            let found: Int
            if Int(random >> 33) % 100 < readsPerHundred {
                found = try coordinator.coordinate(.reading("n")) { access in
                    entered = monotonicNanoseconds()
                    return try Self.number(in: access.readBytes("n"))
                }
                reads += 1
            } else {
                found = try coordinator.coordinate(.writing("n"), durability: .relaxed) { access in
                    entered = monotonicNanoseconds()
                    let next = try Self.number(in: access.readBytes("n")) + 1
                    _ = try access.write(bytes: Array("\(next)\n".utf8), to: "n")
                    return next
                }
                writes += 1
                longestWrite = max(longestWrite, entered - begin)
                if isAnnouncing { printLine("\(found)") }
            }
            // The number never goes back.
            if found < last { faults += 1 }
            last = found
            longest = max(longest, entered - begin)
        }
        printLine("\(writes) \(reads) \(longest / 1_000) \(longestWrite / 1_000) \(faults)")
    }

    private static func number(in content: [UInt8]) throws -> Int {
        guard let number = Int(String(decoding: content.dropLast(), as: UTF8.self)) else { throw Torn() }
        return number
    }

    /// The item has another content than one number and a newline.
    struct Torn: Error {}

    /// Prints a line with one write(2): what was printed stays, whenever this process is killed.
    private func printLine(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(1, $0.baseAddress, $0.count) }
        if count != bytes.count { exit(74) }
    }
}
