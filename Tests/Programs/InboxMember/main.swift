// A process that shares items with an app, or handles them, for tests that kill it.
import Extensions
import Glibc
import GroupContainer

let usage = """
    usage: inbox-member share CONTAINER TEXT     share TEXT, with this program's own file as an attachment of 10 bytes
           inbox-member handle CONTAINER         handle one item exactly once: append its text to `handled`, and move its file
                                                 to `files/`
           inbox-member print CONTAINER          handle one item at least once: print its text, and whether it came again

    """

func printLine(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    if unsafe write(1, bytes, bytes.count) != bytes.count { exit(74) }
}

let words = CommandLine.arguments
guard words.count >= 3 else {
    print(usage, terminator: "")
    exit(64)
}
// However the test ends, the process does.
_ = alarm(60)
do {
    let inbox = try ShareInbox(Container(path: words[2]))
    switch (words[1], words.count) {
    case ("share", 4):
        let file = Attachment(.item("original"), type: .bytes, name: "\(words[3]).bin")
        printLine(try inbox.blocking.add(ExtensionItem(text: words[3], attachments: [file])))
    case ("handle", 3):
        let handled = try inbox.blocking.handleNext(changing: [.writing("handled"), .writing("files/last")]) {
            shared, access in
            let text = shared.item.text ?? ""
            let before = try access.readBytesIfPresent("handled") ?? []
            try access.write(bytes: before + Array("\(text)\n".utf8), to: "handled")
            guard case .item(let path)? = shared.item.attachments.first?.content else { exit(65) }
            try access.move(path, to: "files/last", replacing: true)
            return text
        }
        printLine("handled \(handled ?? "nothing")")
    case ("print", 3):
        let isHandled = try inbox.blocking.handleNext { shared in
            printLine("\(shared.item.text ?? "") \(shared.again ? "again" : "first")")
        }
        if !isHandled { printLine("nothing") }
    default:
        print(usage, terminator: "")
        exit(64)
    }
} catch {
    printLine("\(error)")
    exit(1)
}
