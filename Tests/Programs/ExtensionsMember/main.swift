// A process that shares items with an app or handles them, or uses a pasteboard, for tests that kill it.
import Glibc
import GroupContainer

let usage = """
    usage: extensions-member share CONTAINER TEXT       share TEXT, with this program's own file as an attachment of 10
                                                        bytes
           extensions-member handle CONTAINER           handle one item exactly once: append its text to `handled`, and
                                                        move its file to `files/`
           extensions-member print CONTAINER            handle one item at least once: print its text, and whether it
                                                        came again
           extensions-member set CONTAINER BYTE SIZE    set a text, a small and a large representation of that BYTE
           extensions-member storm CONTAINER BYTE SIZE  set them again and again, without an end
           extensions-member many CONTAINER BYTE SIZE   set them 200 times
           extensions-member follow CONTAINER           print the change counts as they come

    """

func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    if unsafe write(1, bytes, bytes.count) != bytes.count { exit(74) }
}

let words = CommandLine.arguments
// However the test ends, the process does.
_ = alarm(120)
do {
    switch (words.dropFirst().first, words.count) {
    case ("share", 4): try share(words[3], in: Container(path: words[2]))
    case ("handle", 3): try handleOnce(in: Container(path: words[2]))
    case ("print", 3): try printNext(in: Container(path: words[2]))
    case ("set", 5): try setPasteboard(words, times: 1)
    case ("storm", 5): try setPasteboard(words, times: .max)
    case ("many", 5): try setPasteboard(words, times: 200)
    case ("follow", 3): try await followPasteboard(in: Container(path: words[2]))
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("\(error)")
    exit(1)
}
