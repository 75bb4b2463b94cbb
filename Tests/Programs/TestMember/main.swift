// A member of a container that the fault tests kill, stop and fork. Its output is not buffered.
import Glibc
import GroupContainer
import GroupSystemCalls

let usage = """
    usage: test-member append CONTAINER N TAG     append N raw records named TAG/1, TAG/2, …; print each number
           test-member rotate CONTAINER PATH TEXT append raw records until a small journal has begun a new file, then
                                                  write TEXT to PATH; print its generation
           test-member write CONTAINER PATH N     write "PROCESS 1" to "PROCESS N", relaxed; print each generation
           test-member write-durably CONTAINER PATH N
                                                  like write, but durable; print the code of an error, and go on
           test-member transact CONTAINER N       write "PROCESS 1" to "PROCESS N" to "a" and "b", both in one
                                                  transaction, relaxed; print each generation
           test-member transact-three CONTAINER DIRECTORY TEXT durable|relaxed
                                                  one transaction: write TEXT to DIRECTORY/new and "kept", remove
                                                  "gone"; print its generation
           test-member transact-round CONTAINER durable|relaxed
                                                  one transaction: move log.1 to log.2, log to log.1, and old/directory
                                                  to new/directory; write a new log and its copy; print its generation
           test-member transact-on CONTAINER      like transact-three with directory/new and "text", durable; then print
                                                  the content of "kept" for each line of input
           test-member update CONTAINER PATH TEXT append TEXT to the content, durable; print the generation
           test-member count CONTAINER PATH N     N times: read the number in the item, and write the next one if the
                                                  item did not change meanwhile, otherwise try again; print each
                                                  generation
           test-member hold CONTAINER PATH        hold an exclusive lock until the input ends; obey `close-lock`
           test-member nest CONTAINER OUTER INNER hold OUTER; for each line of input write INNER under it, and print the
                                                  result and its milliseconds
           test-member keep CONTAINER OUTER INNER  do what nest does, under a lock that is kept between calls
           test-member share CONTAINER PATH       hold a shared lock until the input ends
           test-member upload CONTAINER PATH      read a snapshot until the input ends
           test-member present CONTAINER PATH     present PATH, and print each call of the presenter; answer each question
                                                  as a line of input says: `ok`, `save PATH TEXT`, `read PATH`, `fail`
           test-member present-fork CONTAINER PATH
                                                  present PATH, and fork without exec; the child ends the presentation,
                                                  tries to present, then stays until the input ends
           test-member present-once CONTAINER PATH
                                                  present PATH until another process has asked once, print the calls
           test-member write-presented CONTAINER PATH TEXT
                                                  write TEXT to PATH once another process presents something
           test-member fork-hold CONTAINER PATH stays|ends
                                                  hold an exclusive lock, and fork without exec; the child tries to
                                                  write, then stays until the input ends, or ends at once
           test-member lock-process-wide CONTAINER PATH
                                                  lock the file with fcntl(F_SETLK), then obey each line of input
           test-member lock-database CONTAINER PATH JOURNAL
                                                  like lock-process-wide, with an SQLite database in a write transaction
           test-member defaults-set CONTAINER KEY N
                                                  set KEY to 1 to N; print each
           test-member defaults-increment CONTAINER N
                                                  add 1 to "n" N times; print each new value
           test-member defaults-slow CONTAINER N  like defaults-increment, with a pause of 5 ms in each update
           test-member defaults-compact CONTAINER TEXT durable|relaxed
                                                  set "first" to TEXT, fill the log until it begins another file,
                                                  set "last" to TEXT; print the names
           test-member defaults-transact CONTAINER TEXT
                                                  one transaction: set "first" and "last" to TEXT, remove "gone";
                                                  durable
           test-member defaults-history CONTAINER SEED N
                                                  N random operations on a few keys; print the beginning and the end
                                                  of each, with the time
           test-member channel-post CONTAINER CHANNEL TAG N
                                                  post "TAG 1" to "TAG N", a millisecond apart; print each message and
                                                  its number
           test-member channel-listen CONTAINER CHANNEL NAME EVERY
                                                  listen as NAME from the oldest message on; print each message, and
                                                  acknowledge after each number that is a multiple of EVERY
           test-member channel-fork CONTAINER CHANNEL NAME
                                                  listen as NAME, and fork without exec; the child prints which calls
                                                  succeed; both stay until the input ends
           test-member channel-list CONTAINER CHANNEL
                                                  print how far each listener is; post, listen and remove "one", and
                                                  print `done` or the error of each
           test-member channel-post-durably CONTAINER CHANNEL TEXT
                                                  post TEXT, durable; print its number
           test-member channel-fill CONTAINER CHANNEL TEXT
                                                  post TEXT, and large messages until the log has begun another file
           test-member channel-take CONTAINER CHANNEL NAME
                                                  listen as NAME; receive the waiting messages, print them, and
                                                  acknowledge them, durable
           test-member signal-thread              wait for a line of input, or until another thread gets SIGTERM
           test-member steps CONTAINER            carry out each line of input, and print `ok` or the error

    """

let words = CommandLine.arguments
do {
    switch (words.dropFirst().first, words.count) {
    case ("append-on-demand", 4): try appendOnDemand(to: words[2], tag: words[3])
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
    case ("keep", 5): try keep(words[2], ItemPath(words[3]), ItemPath(words[4]))
    case ("lock-process-wide", 4): try lockProcessWide(words[2], words[3])
    case ("lock-database", 5): try lockDatabase(words[2], words[3], journal: words[4])
    case ("signal-thread", 2): try awaitInputOrSignal()
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
    case ("channel-post-durably", 5): try postDurably(to: words[3], of: words[2], words[4])
    case ("channel-fill", 5): try fill(words[3], of: words[2], words[4])
    case ("channel-take", 5): try take(from: words[3], of: words[2], as: words[4])
    case ("share", 4): try share(words[2], ItemPath(words[3]))
    case ("upload", 4): try upload(words[2], ItemPath(words[3]))
    case ("present", 4): try present(words[2], ItemPath(words[3]))
    case ("present-fork", 4): try presentAndFork(words[2], ItemPath(words[3]))
    case ("present-once", 4): try presentOnce(words[2], ItemPath(words[3]))
    case ("write-presented", 5): try writePresented(words[2], ItemPath(words[3]), words[4])
    case ("fork-hold", 5): try forkAndHold(words[2], ItemPath(words[3]), childStays: words[4] == "stays")
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("error \((error as? CoordinationError)?.code.rawValue ?? "other"): \(error)")
    exit(1)
}
