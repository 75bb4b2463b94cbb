import Extensions
import Glibc
import GroupContainer

func share(_ text: String, in container: Container) throws {
    let file = Attachment(.item("original"), type: .bytes, name: "\(text).bin")
    printLine(try ShareInbox(container).blocking.add(ExtensionItem(text: text, attachments: [file])))
}

/// Handles an item in one transaction with the items that it changes.
func handleOnce(in container: Container) throws {
    let handled = try ShareInbox(container).blocking.handleNext(changing: [.writing("handled"), .writing("files/last")])
    {
        shared, access in
        let text = shared.item.text ?? ""
        let before = try access.readBytesIfPresent("handled") ?? []
        try access.write(bytes: before + Array("\(text)\n".utf8), to: "handled")
        guard case .item(let path)? = shared.item.attachments.first?.content else { exit(65) }
        try access.move(path, to: "files/last", replacing: true)
        return text
    }
    printLine("handled \(handled ?? "nothing")")
}

func printNext(in container: Container) throws {
    let isHandled = try ShareInbox(container).blocking.handleNext { shared in
        printLine("\(shared.item.text ?? "") \(shared.again ? "again" : "first")")
    }
    if !isHandled { printLine("nothing") }
}
