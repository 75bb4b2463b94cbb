import GroupContainer
import GroupLocking
import GroupSystemCalls

/// Prints nanoseconds of one uncontended lock and its end, without the layers above locks, as the mean of a batch: a
/// line a batch.
func printLockCost(of directory: String, _ path: ItemPath, mode: LockMode, batch: Int, batches: Int) throws {
    let container = try Container(path: directory).opened
    func lockAndUnlock() throws(LockFailure) {
        for _ in 0..<batch {
            let request = LockRequest(path.bytes, mode, by: container.lockManager, for: [])
            if let lock = try request.acquireAtOnce() {
                lock.end()
            } else {
                try request.acquireBlocking(until: .never).end()
            }
        }
    }
    try lockAndUnlock()
    var times: [Int64] = []
    times.reserveCapacity(batches)
    for _ in 0..<batches {
        let start = monotonicNanoseconds()
        try lockAndUnlock()
        times.append((monotonicNanoseconds() - start) / Int64(batch))
    }
    printLines(times)
}
