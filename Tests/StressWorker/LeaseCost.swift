import GroupContainer
import GroupSystemCalls

/// Prints nanoseconds of one uncontended lease and its end, as the mean of a batch of so many: a line a batch.
func printLeaseCost(of folder: String, _ path: ItemPath, isWriting: Bool, batch: Int, batches: Int) throws {
    let lease = try BareLease(path, isWriting: isWriting, in: Container(path: folder))
    try lease.cycle(batch)
    for _ in 0..<batches {
        let start = monotonicNanoseconds()
        try lease.cycle(batch)
        print((monotonicNanoseconds() - start) / Int64(batch))
    }
}
