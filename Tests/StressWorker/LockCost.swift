import GroupContainer
import GroupSystemCalls

/// Prints nanoseconds of one uncontended lock and its end, as the mean of a batch: a line a batch.
func printLockCost(of directory: String, _ path: ItemPath, isWriting: Bool, batch: Int, batches: Int) throws {
    let lock = try BareLock(path, isWriting: isWriting, in: Container(path: directory))
    try lock.cycle(batch)
    for _ in 0..<batches {
        let start = monotonicNanoseconds()
        try lock.cycle(batch)
        print((monotonicNanoseconds() - start) / Int64(batch))
    }
}
