import GroupContainer

/// Reads one item again and again through the coordinator, and prints nanoseconds of each; files.c does the same with
/// nothing but system calls.
struct ItemReads {
    var directory: String
    var size: Int
    var count: Int

    func run() throws {
        let coordinator = try Container(path: directory).coordinator(purpose: "bench-worker").blocking
        _ = try coordinator.write(
            bytes: [UInt8](repeating: UInt8(ascii: "."), count: size), to: "item", durability: .relaxed)
        var times: [Int64] = []
        times.reserveCapacity(count)
        for number in -100..<count {
            let began = MonotonicClock.now
            let content = try coordinator.readBytes("item")
            if number >= 0 { times.append(MonotonicClock.now - began) }
            if content.count != size { throw CoordinationError(.damaged, operation: "read", reason: "a wrong size") }
        }
        printLines(times)
    }
}
