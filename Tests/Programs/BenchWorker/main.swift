// tools/bench and tools/stress-writers start this, for what only the package's own API can do.
import Glibc
import GroupContainer
import GroupLocking
import GroupSystemCalls

let usage = """
    usage: bench-worker create DIRECTORY [BYTES]            make a container, also in a directory with files; keep up to
                                                            BYTES of its journal
           bench-worker write DIRECTORY FIRST COUNT PACE    write the items sample-NNNNNN; PACE is none,
                                                            pause:NANOSECONDS or steady:NANOSECONDS
           bench-worker replace DIRECTORY SIZE COUNT relaxed|durable [NAME]
                                                            replace an item; print the nanoseconds of each call
           bench-worker items DIRECTORY SIZE COUNT          read an item; print the nanoseconds of each call
           bench-worker present DIRECTORY                   present that item and answer each question at once
           bench-worker increment DIRECTORY BEGIN NANOSECONDS relaxed|durable
                                                            add 1 to a key from the time BEGIN on, for so long; print
                                                            the number of calls, and the longest call
           bench-worker sum DIRECTORY                       print the value of that key
           bench-worker read DIRECTORY BATCHES              print the nanoseconds of a read by typed key, of a check for
                                                            changes, and of a read by name
           bench-worker set DIRECTORY KEYS COUNT            print the nanoseconds of each set in a suite of so many keys
           bench-worker send DIRECTORY COUNT NANOSECONDS    set a key to the current time COUNT times, with such pauses;
                                                            then to -1
           bench-worker follow DIRECTORY                    print "ready", then the delay of each change
           bench-worker open-read DIRECTORY COUNT           open the container, read an item and close the container;
                                                            print the nanoseconds of each time
           bench-worker member DIRECTORY                    open the container and read an item; print "ready", and
                                                            keep it open until standard input ends
           bench-worker open-again DIRECTORY COUNT          open the container, which is open; print the nanoseconds
           bench-worker set-made|set-kept DIRECTORY COUNT   set a number by a GroupUserDefaults that is made for each
                                                            set, or is kept; print the nanoseconds of each
           bench-worker lock DIRECTORY PATH write|read BATCH BATCHES
                                                            print nanoseconds of an uncontended lock, a line a batch
           bench-worker calls DIRECTORY lock|read|write|get|set|increment|post BATCH BATCHES
                                                            print nanoseconds of a call, a line a batch
           bench-worker work DIRECTORY READS-PER-HUNDRED BEGIN END SEED [announcing]
                                                            add to the number in `n`, and read it, from BEGIN to END
           bench-worker now                                 print the clock of BEGIN and END, in nanoseconds

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("create", 3): _ = try Container(path: words[2], creating: true, adopting: true)
    case ("create", 4):
        var retention = JournalRetention.standard
        retention.size = UInt64(words[3]) ?? retention.size
        _ = try Container(path: words[2], creating: true, adopting: true, retention: retention)
    case ("write", 6):
        guard let first = Int(words[3]), let count = Int(words[4]), let pace = Pace(words[5]) else { fallthrough }
        try CoordinatedChanges(directory: words[2], first: first, count: count, pace: pace).run()
    case ("replace", 6), ("replace", 7):
        try Replacements(
            directory: words[2], size: Int(words[3]) ?? 0, count: Int(words[4]) ?? 0,
            durability: words[5] == "durable" ? .durable : .relaxed,
            item: ItemPath(words.count == 7 ? words[6] : "item")
        ).run()
    case ("items", 5):
        try ItemReads(directory: words[2], size: Int(words[3]) ?? 0, count: Int(words[4]) ?? 0).run()
    case ("calls", 6):
        try LanguageCalls(directory: words[2], batch: Int(words[4]) ?? 1, batches: Int(words[5]) ?? 0).run(words[3])
    case ("present", 3): try present(words[2])
    case ("increment", 6):
        try DefaultsWork(directory: words[2]).increment(
            from: Int64(words[3]) ?? 0, for: Int64(words[4]) ?? 0,
            durability: words[5] == "durable" ? .durable : .relaxed)
    case ("sum", 3): try DefaultsWork(directory: words[2]).sum()
    case ("read", 4): try DefaultsWork(directory: words[2]).read(Int(words[3]) ?? 0)
    case ("set", 5): try DefaultsWork(directory: words[2]).set(keys: Int(words[3]) ?? 1, Int(words[4]) ?? 0)
    case ("send", 5): try DefaultsWork(directory: words[2]).send(Int(words[3]) ?? 0, pause: Int64(words[4]) ?? 0)
    case ("open-read", 4): try Openings(directory: words[2], count: Int(words[3]) ?? 0).readAlone()
    case ("member", 3): try Openings(directory: words[2], count: 0).stay()
    case ("open-again", 4): try Openings(directory: words[2], count: Int(words[3]) ?? 0).openAgain()
    case ("set-made", 4): try Openings(directory: words[2], count: Int(words[3]) ?? 0).set(keepingObject: false)
    case ("set-kept", 4): try Openings(directory: words[2], count: Int(words[3]) ?? 0).set(keepingObject: true)
    case ("lock", 7):
        try printLockCost(
            of: words[2], ItemPath(words[3]), mode: words[4] == "write" ? .exclusive : .shared,
            batch: Int(words[5]) ?? 1, batches: Int(words[6]) ?? 1)
    case ("work", 7), ("work", 8):
        try ContendedNumber(
            directory: words[2], readsPerHundred: Int(words[3]) ?? 0, start: Int64(words[4]) ?? 0,
            end: Int64(words[5]) ?? 0, seed: UInt64(words[6]) ?? 1, isAnnouncing: words.last == "announcing"
        ).run()
    case ("now", 2): print(monotonicNanoseconds())
    case ("follow", 3): try DefaultsWork(directory: words[2]).follow()
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    print("bench-worker: \(error)")
    exit(1)
}
