// A member of a storm: it goes on until it is killed or its input is closed.
import Glibc
import GroupContainer
import TestSupport

let usage = """
    usage: storm-member ROLE CONTAINER NAME LIFE SEED
           storm-member rage MEMBERS SECONDS SEED
                                              run a storm: start MEMBERS processes, and print all faults at the end
           storm-member verify CONTAINER      take every lock without waiting, and print the state of the container

    ROLE is writer, setter, poster, listener, widget or opener. A member that is killed starts again under the same
    NAME, with the next LIFE. Each operation prints `> WORD NUMBER` before it begins, and `WORD NUMBER` once it is
    acknowledged. A refused operation prints `refused CODE: REASON`, and a violated guarantee `fault TEXT`. The last
    line is `ended`.

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("rage", 5):
        try await rage(members: Int(words[2]) ?? 18, seconds: Int(words[3]) ?? 20, seed: UInt64(words[4]) ?? 1)
    case ("verify", 3): try await verify(words[2])
    case (let role?, 6):
        let part = Part(
            path: words[2], name: words[3], number: (Int(words[4]) ?? 0) * 1_000_000,
            random: SeededGenerator(seed: UInt64(words[5]) ?? 1))
        switch role {
        case "writer": try part.write()
        case "setter": try part.set()
        case "poster": try part.post()
        case "listener": try part.listen()
        case "widget": try await part.refresh()
        case "opener": try part.openAndLeave()
        default: throw UnknownRole()
        }
        printLine("ended")
    default: throw UnknownRole()
    }
} catch let interrupted as Storm.Interrupted {
    printLine("storm: ended by a signal before its time; nothing was looked at")
    exit(128 + interrupted.signal)
} catch is UnknownRole {
    print(usage, terminator: "")
    exit(64)
} catch {
    printLine("fault \(error)")
    exit(1)
}

func rage(members: Int, seconds: Int, seed: UInt64) async throws {
    printLine("storm: seed \(seed), \(members) members, \(seconds) s")
    let place = try await StormPlace(megabytes: 200 + seconds)
    if !place.canBeFilled { printLine("storm: the disk is never full: no file system can be mounted here") }
    let storm = try Storm(members: members, seed: seed, in: place)
    try storm.rage(seconds: Double(seconds))
    let faults = try storm.faults(changes: storm.calm())
    if faults.isEmpty { return }
    for fault in faults.prefix(40) { printLine(fault) }
    printLine("storm: \(faults.count) faults; seed \(seed)")
    throw Broken()
}

struct Broken: Error {}

struct UnknownRole: Error {}
