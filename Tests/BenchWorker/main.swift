// What tools/bench starts for what only our own API can do.
import Glibc
import GroupContainer

let usage = """
    usage: bench-worker create FOLDER                    make a container, also where files are
           bench-worker write FOLDER FIRST COUNT PACE    write the items sample-NNNNNN; PACE is none,
                                                         pause:NANOSECONDS or steady:NANOSECONDS

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("create", 3): _ = try Container(path: words[2], creating: true)
    case ("write", 6):
        guard let first = Int(words[3]), let count = Int(words[4]), let pace = Pace(words[5]) else { fallthrough }
        try CoordinatedChanges(folder: words[2], first: first, count: count, pace: pace).run()
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    print("bench-worker: \(error)")
    exit(1)
}
