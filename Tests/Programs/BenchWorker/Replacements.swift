import GroupContainer

/// Replaces one item again and again through the coordinator, and prints nanoseconds of each; files.c does the same
/// with nothing but system calls.
struct Replacements {
    var directory: String
    var size: Int
    var count: Int
    var durability: Durability
    var item = ItemPath("item")

    func run() throws {
        let coordinator = try Container(path: directory).coordinator(purpose: "bench-worker").blocking
        var content = [UInt8](repeating: UInt8(ascii: "."), count: max(8, size))
        var times: [Int64] = []
        times.reserveCapacity(count)
        // The first writes of a process are slower, for reasons of their own.
        for number in -3..<count {
            // The same bytes again would be no change.
            for place in 0..<8 { content[place] = UInt8(truncatingIfNeeded: number >> (8 * place)) }
            let began = MonotonicClock.now
            _ = try coordinator.write(bytes: content, to: item, durability: durability)
            if number >= 0 { times.append(MonotonicClock.now - began) }
        }
        printLines(times)
    }
}
