import Foundation

/// The places of the nodes that run at the same time, in all tests of this process. Each node allocates two files of
/// 64 MB for its log at once, so that more of them would fill the memory, or the disk, of a small machine.
///
/// The nodes of a cluster get their places together. A test that has a node and starts another one waits until tests
/// with nodes end; few tests do that, so that they cannot all wait for each other.
final class EtcdRoom: Sendable {
    static let shared = EtcdRoom(10)

    /// Guards the number.
    private let condition = NSCondition()
    private nonisolated(unsafe) var free: Int

    private init(_ places: Int) { unsafe free = places }

    /// One place, which becomes free with the object.
    final class Place: Sendable {
        fileprivate init() {}
        deinit { EtcdRoom.shared.give() }
    }

    /// Waits until there are so many places, and returns them. Blocks.
    func take(_ count: Int) -> [Place] {
        condition.withLock {
            while unsafe free < count { condition.wait() }
            unsafe free -= count
        }
        return (0..<count).map { _ in Place() }
    }

    private func give() {
        condition.withLock {
            unsafe free += 1
            condition.broadcast()
        }
    }
}
