import AppleFileCoordination
import Glibc
import GroupContainer

/// Opens a container again and again, in one process, and prints nanoseconds of each time.
struct Openings {
    var directory: String
    var count: Int

    /// Opens the container, which no other object of the process has open, reads an item, and closes it.
    func readAlone() throws {
        try write()
        try measure {
            _ = try Container(path: directory).coordinator(purpose: "bench-worker").blocking.readBytes("item")
        }
    }

    /// Opens the container, reads an item, and keeps the container open until standard input ends.
    func stay() throws {
        let kept = try Container(path: directory)
        _ = try kept.coordinator(purpose: "bench-worker").blocking.readBytes("item")
        print("ready")
        fflush(nil)
        while readLine() != nil {}
        withExtendedLifetime(kept) {}
    }

    /// Opens the container, which another object of the process has open.
    func openAgain() throws {
        let kept = try Container(path: directory)
        try measure { _ = try Container(path: directory) }
        withExtendedLifetime(kept) {}
    }

    /// Sets a number, by an object that is made for it, or by one that is kept.
    func set(keepingObject: Bool) throws {
        let place = directory.split(separator: "/", omittingEmptySubsequences: true)
        guard let name = place.last else { return }
        unsafe setenv("GROUP_CONTAINERS_HOME", "/" + place.dropLast().joined(separator: "/"), 1)
        func make() throws -> GroupUserDefaults {
            guard let defaults = GroupUserDefaults(suiteName: String(name)) else { throw Failure() }
            return defaults
        }
        let kept = keepingObject ? try make() : nil
        var number = 0
        try measure {
            number += 1
            try (kept ?? make()).set(number, forKey: "n")
        }
    }

    private struct Failure: Error {}

    private func write() throws {
        let coordinator = try Container(path: directory).coordinator(purpose: "bench-worker").blocking
        try coordinator.write(bytes: [UInt8](repeating: 0x2e, count: 1_024), to: "item", durability: .relaxed)
    }

    private func measure(_ body: () throws -> Void) throws {
        var times: [Int64] = []
        times.reserveCapacity(count)
        for number in -10..<count {
            let began = MonotonicClock.now
            try body()
            if number >= 0 { times.append(MonotonicClock.now - began) }
        }
        printLines(times)
    }
}
