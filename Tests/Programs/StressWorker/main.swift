// tools/stress-writers starts this.
import GroupContainer
import GroupLocking
import GroupSystemCalls

let usage = """
    usage: stress-worker lock DIRECTORY PATH write|read BATCH BATCHES
                                                       print nanoseconds of an uncontended lock, a line a batch
           stress-worker work DIRECTORY READS-PER-HUNDRED START END SEED [announcing]
                                                       add to the number in `n`, and read it, from START to END
           stress-worker now                           the clock of START and END, in nanoseconds

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("lock", 7):
        try printLockCost(
            of: words[2], ItemPath(words[3]), mode: words[4] == "write" ? .exclusive : .shared,
            batch: Int(words[5]) ?? 1,
            batches: Int(words[6]) ?? 1)
    case ("now", 2): print(monotonicNanoseconds())
    case ("work", 7), ("work", 8):
        try Work(
            directory: words[2], readsPerHundred: Int(words[3]) ?? 0, start: Int64(words[4]) ?? 0,
            end: Int64(words[5]) ?? 0, seed: UInt64(words[6]) ?? 1, isAnnouncing: words.last == "announcing"
        ).run()
    default:
        print(usage, terminator: "")
        exitProcess(64)
    }
} catch {
    print("stress-worker: \(error)")
    exitProcess(1)
}
