import Glibc
import GroupContainer

/// Writes one item after the other through the coordinator, without waiting for the disk, and then prints for each its
/// number, when the call began and when it returned, by the clock by which the readers note arrivals.
struct CoordinatedChanges {
    var directory: String
    var first: Int
    var count: Int
    var pace: Pace

    private static let size = 120

    func run() throws {
        let coordinator = try Container(path: directory).coordinator(purpose: "bench-worker").blocking
        // The first writes of a process are slower, for reasons of their own.
        for number in 0..<3 { try write("warm-up", "\(number)", coordinator) }
        var times: [(began: Int64, done: Int64)] = []
        times.reserveCapacity(count)
        let start = MonotonicClock.now
        var random = UInt64(first) &* 2_654_435_761 &+ 1
        for number in first..<first + count {
            let name = Self.name(number)
            let began = MonotonicClock.now
            try write(name, name, coordinator)
            let done = MonotonicClock.now
            times.append((began, done))
            random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            switch pace {
            case .none: break
            case .pause(let length):
                // Between 3/4 and 5/4 of the length, so that nothing falls into step with it.
                MonotonicClock.wait(until: done + length * 3 / 4 + Int64(random >> 33) % (length / 2 + 1))
            case .steady(let length): MonotonicClock.wait(until: start + Int64(times.count) * length)
            }
        }
        for (index, time) in times.enumerated() { print(first + index, time.began, time.done) }
    }

    private func write(_ name: String, _ text: String, _ coordinator: BlockingCoordinator) throws {
        let padding = String(repeating: ".", count: max(0, Self.size - text.utf8.count))
        _ = try coordinator.write(bytes: Array((text + padding).utf8), to: ItemPath(name), durability: .relaxed)
    }

    /// Returns the name that the readers expect, such as sample-000001.
    private static func name(_ number: Int) -> String {
        let digits = String(number)
        return "sample-" + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }
}
