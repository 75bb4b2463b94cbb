// A member of a container that the fault tests kill, stop and fork. Its output is not buffered.
import Glibc
import GroupContainer
import GroupSystemCalls

let usage = """
    usage: test-member append CONTAINER N TAG     append N raw records named TAG/1, TAG/2, …; print each number
           test-member rotate CONTAINER PATH TEXT append raw records until a small journal has begun a new file, then let PATH
                                                  say TEXT; print its generation
           test-member write CONTAINER PATH N     write "PROCESS 1" to "PROCESS N", relaxed; print each generation
           test-member write-durably CONTAINER PATH N
                                                  the same, durable; what fails is named instead
           test-member transact CONTAINER N       make "a" and "b" say "PROCESS 1" to "PROCESS N", each time both in one
                                                  transaction, relaxed; print each generation
           test-member transact-three CONTAINER DIRECTORY TEXT durable|relaxed
                                                  one transaction: DIRECTORY/new and "kept" say TEXT, "gone" is removed;
                                                  print its generation
           test-member transact-round CONTAINER durable|relaxed
                                                  one transaction of moves: log.1 to log.2, log to log.1, old/directory to
                                                  new/directory; a new log and its copy; print its generation
           test-member transact-on CONTAINER      the same with directory/new and "text", durable; then, after each line of
                                                  input, print what "kept" says
           test-member update CONTAINER PATH TEXT let it say TEXT behind what it says, durable; print its generation
           test-member count CONTAINER PATH N     N times: read the number in it, write the next one if nobody else did,
                                                  else again; print each generation
           test-member hold CONTAINER PATH        hold it for writing until the input ends; obey `close-lock`
           test-member nest CONTAINER OUTER INNER hold OUTER; for each line of input write INNER under it, and say how that
                                                  ended and after how many milliseconds
           test-member share CONTAINER PATH       hold it for reading until the input ends
           test-member upload CONTAINER PATH      read a snapshot of it until the input ends
           test-member fork-hold CONTAINER PATH stays|ends
                                                  hold it, fork without exec; the child tries to write, then stays
                                                  until the input ends or ends at once
           test-member lock-process-wide CONTAINER PATH
                                                  lock it by fcntl(F_SETLK), then do what each line of input says
           test-member lock-database CONTAINER PATH JOURNAL
                                                  the same with an SQLite database that is being written
           test-member defaults-set CONTAINER KEY N
                                                  set KEY to 1 to N; print each
           test-member defaults-increment CONTAINER N
                                                  add 1 to "n" N times; print what it is then
           test-member defaults-slow CONTAINER N  the same, but think for 5 ms each time
           test-member defaults-compact CONTAINER TEXT durable|relaxed
                                                  let "first" be TEXT, fill the log until it begins another file, let "last"
                                                  be TEXT; print the names
           test-member defaults-transact CONTAINER TEXT
                                                  one transaction: "first" and "last" are TEXT, "gone" is removed; durable
           test-member defaults-history CONTAINER SEED N
                                                  N operations on a few keys, drawn by lot; print the beginning and the
                                                  end of each, with the time
           test-member channel-post CONTAINER CHANNEL TAG N
                                                  post "TAG 1" to "TAG N", a millisecond apart; print each, and its
                                                  number
           test-member channel-listen CONTAINER CHANNEL NAME EVERY
                                                  listen as NAME from the oldest on; print each, and acknowledge after
                                                  each number that is a multiple of EVERY
           test-member channel-fork CONTAINER CHANNEL NAME
                                                  listen as NAME, fork without exec; the child says what it can do; both
                                                  stay until the input ends
           test-member channel-list CONTAINER CHANNEL
                                                  say how far each listener is; post, listen and remove "one", and say
                                                  `done` or why not
           test-member channel-say CONTAINER CHANNEL TEXT
                                                  post TEXT, durable; print its number
           test-member channel-fill CONTAINER CHANNEL TEXT
                                                  post TEXT and, until the log has begun another file, large messages
           test-member channel-take CONTAINER CHANNEL NAME
                                                  listen as NAME, get what waits, acknowledge it, durable; print each
           test-member steps CONTAINER            carry out each line of input, and say `ok` or why not

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("append", 5): try append(to: words[2], count: Int(words[3]) ?? 0, tag: words[4])
    case ("rotate", 5): try rotate(words[2], ItemPath(words[3]), words[4])
    case ("write", 5): try write(to: words[2], ItemPath(words[3]), count: Int(words[4]) ?? 0)
    case ("write-durably", 5): try writeDurably(to: words[2], ItemPath(words[3]), count: Int(words[4]) ?? 0)
    case ("transact", 4): try transact(in: words[2], count: Int(words[3]) ?? 0)
    case ("transact-three", 6):
        try transactThree(
            in: words[2], directory: words[3], words[4], durability: words[5] == "durable" ? .durable : .relaxed)
    case ("transact-round", 4): try transactRound(in: words[2], durability: words[3] == "durable" ? .durable : .relaxed)
    case ("transact-on", 3): try transactOn(in: words[2])
    case ("update", 5): try update(in: words[2], ItemPath(words[3]), words[4])
    case ("count", 5): try count(in: words[2], ItemPath(words[3]), count: Int(words[4]) ?? 0)
    case ("hold", 4): try hold(words[2], ItemPath(words[3]))
    case ("nest", 5): try nest(words[2], ItemPath(words[3]), ItemPath(words[4]))
    case ("lock-process-wide", 4): try lockProcessWide(words[2], words[3])
    case ("lock-database", 5): try lockDatabase(words[2], words[3], journal: words[4])
    case ("steps", 3): try performSteps(in: words[2])
    case ("defaults-set", 5): try setDefaults(of: words[2], words[3], count: Int(words[4]) ?? 0)
    case ("defaults-increment", 4): try incrementDefaults(of: words[2], count: Int(words[3]) ?? 0, thinking: 0)
    case ("defaults-slow", 4): try incrementDefaults(of: words[2], count: Int(words[3]) ?? 0, thinking: 5_000_000)
    case ("defaults-compact", 5):
        try compactDefaults(of: words[2], words[3], durability: words[4] == "durable" ? .durable : .relaxed)
    case ("defaults-transact", 4): try transactDefaults(of: words[2], words[3])
    case ("defaults-history", 5):
        try makeHistory(of: words[2], seed: UInt64(words[3]) ?? 0, count: Int(words[4]) ?? 0)
    case ("channel-post", 6):
        try post(to: words[3], of: words[2], tag: words[4], count: Int(words[5]) ?? 0, thinking: 1_000_000)
    case ("channel-listen", 6): try listen(to: words[3], of: words[2], as: words[4], every: UInt64(words[5]) ?? 1)
    case ("channel-fork", 5): try listenAndFork(to: words[3], of: words[2], as: words[4])
    case ("channel-list", 4): try list(words[3], of: words[2])
    case ("channel-say", 5): try sayDurably(to: words[3], of: words[2], words[4])
    case ("channel-fill", 5): try fill(words[3], of: words[2], words[4])
    case ("channel-take", 5): try take(from: words[3], of: words[2], as: words[4])
    case ("share", 4): try share(words[2], ItemPath(words[3]))
    case ("upload", 4): try upload(words[2], ItemPath(words[3]))
    case ("fork-hold", 5): try forkAndHold(words[2], ItemPath(words[3]), childStays: words[4] == "stays")
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    say("error \((error as? CoordinationError)?.code.rawValue ?? "other"): \(error)")
    exit(1)
}
