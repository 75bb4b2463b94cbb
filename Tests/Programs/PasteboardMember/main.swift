// A process that sets a pasteboard, reads it or waits for its changes, for tests that kill it.
import Extensions
import Glibc
import GroupContainer
import GroupPasteboard

let usage = """
    usage: pasteboard-member set CONTAINER BYTE SIZE      set a text, a small and a large representation of that BYTE
           pasteboard-member storm CONTAINER BYTE SIZE    set them again and again, without an end
           pasteboard-member many CONTAINER BYTE SIZE     set them 200 times
           pasteboard-member follow CONTAINER             print the change counts as they come

    """

func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    if unsafe write(1, bytes, bytes.count) != bytes.count { exit(74) }
}

/// Content whose parts all have one byte.
func items(_ byte: UInt8, _ size: Int) -> [PasteboardItem] {
    let small = Attachment(.bytes([UInt8](repeating: byte, count: 10)), type: .bytes)
    return [
        PasteboardItem([.text(String(byte)), small]),
        PasteboardItem([Attachment(.bytes([UInt8](repeating: byte, count: size)), type: .plainText, name: "large")]),
    ]
}

let words = CommandLine.arguments
guard words.count >= 3 else {
    print(usage, terminator: "")
    exit(64)
}
// However the test ends, the process does.
_ = alarm(120)
do {
    let pasteboard = try GroupPasteboard(in: Container(path: words[2]))
    switch (words[1], words.count > 4 ? (UInt8(words[3]), Int(words[4])) : (nil, nil)) {
    case ("set", (let byte?, let size?)):
        printLine("\(try pasteboard.blocking.set(items(byte, size)))")
    case ("storm", (let byte?, let size?)):
        while true { printLine("\(try pasteboard.blocking.set(items(byte, size)))") }
    case ("many", (let byte?, let size?)):
        for _ in 0..<200 { printLine("\(try pasteboard.blocking.set(items(byte, size)))") }
    case ("follow", (nil, nil)):
        for try await count in pasteboard.changeCounts() { printLine("\(count)") }
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("\(error)")
    exit(1)
}
