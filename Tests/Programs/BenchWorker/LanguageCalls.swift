import GroupContainer

/// The calls that programs in other languages have, too: prints nanoseconds of one call as the mean of a batch, a line
/// a batch. `tools/lib/bench/language-calls.c` and `peers/python_work.py` do the same.
struct LanguageCalls {
    var directory: String
    var batch: Int
    var batches: Int

    func run(_ operation: String) throws {
        let container = try Container(path: directory)
        let coordinator = container.coordinator(purpose: "bench-worker").blocking
        let defaults = try GroupDefaults(container)
        let channel = try GroupChannel(container, name: "c")
        let kilobyte = [UInt8](repeating: 0x2e, count: 1_024)
        var number = 0
        switch operation {
        case "lock": try measure { try coordinator.lock(.writing("a")).unlock() }
        case "read":
            try coordinator.write(bytes: kilobyte, to: "a", durability: .relaxed)
            try measure { _ = try coordinator.readVersion("a") }
        case "write":
            try measure {
                number += 1
                var content = kilobyte
                content[0] = UInt8(truncatingIfNeeded: number)
                try coordinator.write(bytes: content, to: "a", durability: .relaxed)
            }
        case "get":
            try defaults.set(.integer(7), forKey: "n")
            try measure { _ = try defaults.readVersion(forKey: "n") }
        case "set":
            try measure {
                number += 1
                try defaults.set(.integer(number), forKey: "n")
            }
        case "increment": try measure { _ = try defaults.increment("n") }
        case "post": try measure { _ = try channel.post(bytes: Array(kilobyte.prefix(16))) }
        default: break
        }
    }

    private func measure(_ body: () throws -> Void) throws {
        var times: [Int64] = []
        for number in -1..<batches {
            let began = MonotonicClock.now
            for _ in 0..<batch { try body() }
            if number >= 0 { times.append((MonotonicClock.now - began) / Int64(batch)) }
        }
        printLines(times)
    }
}
