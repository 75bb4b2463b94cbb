// What tools/bench starts for what only our own API can do.
import Glibc
import GroupContainer

let usage = """
    usage: bench-worker create FOLDER                    make a container, also where files are
           bench-worker write FOLDER FIRST COUNT PACE    write the items sample-NNNNNN; PACE is none,
                                                         pause:NANOSECONDS or steady:NANOSECONDS
           bench-worker increment FOLDER NANOSECONDS relaxed|durable
                                                         add one to a key for so long; print how often, and
                                                         the longest that one took
           bench-worker sum FOLDER                       print what it has come to
           bench-worker read FOLDER COUNT                print nanoseconds of a read by name, by typed key, and of
                                                         the question whether anything changed
           bench-worker set FOLDER KEYS COUNT            print nanoseconds of a set in a suite of so many keys

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("create", 3): _ = try Container(path: words[2], creating: true)
    case ("write", 6):
        guard let first = Int(words[3]), let count = Int(words[4]), let pace = Pace(words[5]) else { fallthrough }
        try CoordinatedChanges(folder: words[2], first: first, count: count, pace: pace).run()
    case ("increment", 5):
        try DefaultsWork(folder: words[2]).increment(
            for: Int64(words[3]) ?? 0, words[4] == "durable" ? .durable : .relaxed)
    case ("sum", 3): try DefaultsWork(folder: words[2]).sum()
    case ("read", 4): try DefaultsWork(folder: words[2]).read(Int(words[3]) ?? 0)
    case ("set", 5): try DefaultsWork(folder: words[2]).set(keys: Int(words[3]) ?? 1, Int(words[4]) ?? 0)
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    print("bench-worker: \(error)")
    exit(1)
}
