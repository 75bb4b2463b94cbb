// An extension for the tests of its host. Its first argument says what it does with the request:
//
//     echo        completes with the items that it got, whose files are loaded as bytes
//     sizes       completes with the number of bytes of each attachment, as texts
//     nothing     returns without a result
//     throw       throws
//     cancel      cancels with an error of its own
//     twice       completes twice, and sends what the second call throws to the log
//     open        wants a URL opened, and completes
//     container   completes with what is in the item that it got
//     keyboard    corrects "teh" before the place of a keyboard's input
//     files       stores and hands out files, in the container
//     flag        sets the address that it got, and a flag, in its group's defaults
//     waiting     waits until its task is cancelled, and completes then, with the item `cancelled`
//
// These do not use the library; some misbehave:
//
//     signal      ends by SIGKILL
//     exit        exits with status 7, after three lines on standard error
//     hang        sends nothing
//     stop        stops itself by SIGSTOP
//     stubborn    ignores SIGTERM and SIGHUP, and the end of its input; sends a result, and stays
//     close       closes its streams, and stays
//     silent      closes its output only, and exits
//     garbage     writes a line that is no message
//     partial     writes half a line, and exits
//     endless     writes a line without end
//     chatter     writes messages for the log without end
//     complain    writes to standard error without end
//     mumble      writes to standard error without end and without a newline
//     fork        starts a process in its group that ignores SIGTERM, and exits with a result
//     orphan      starts a process in its group that keeps the streams, and exits without a result
//     descriptors completes with the numbers of its descriptors that another program would inherit, as it has itself
//     descriptor  returns an attachment with a descriptor
//     unread      completes without reading its input
import Dispatch
import Extensions
import FoundationEssentials
import Glibc
import GroupContainer
import GroupSystemCalls

let word = CommandLine.arguments.dropFirst().first ?? "echo"

struct Wanted: Error, CustomStringConvertible { var description: String { "the test wants it" } }

func write(_ text: String, to stream: Int32 = 1) {
    try? FileDescriptor.open(path: Array("/proc/self/fd/\(stream)".utf8), .writing).writeAll(Array(text.utf8))
}

/// Writes a text again and again, many times in one call.
func writeForever(_ text: String, to stream: Int32) -> Never {
    let piece = String(repeating: text, count: 65_536 / text.utf8.count)
    while true { write(piece, to: stream) }
}

func stay() -> Never { while true { pause(nanoseconds: 3_600_000_000_000) } }

/// Starts this program as `hang` in its group.
func startChild() throws {
    let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .readingAndWriting)
    let program = String(decoding: programPath() ?? [], as: UTF8.self)
    // The thread that starts it does not end before this process.
    let script = "trap '' TERM HUP; '\(program)' hang & '\(program)' hang & wait"
    _ = try SupervisedProcess(
        ["setpriv", "--pdeathsig", "clear", "sh", "-c", script].map { Array($0.utf8) }, variables: [], input: nothing,
        output: nothing, leadsGroup: false)
}

func misbehave() throws {
    if word != "unread" && word != "descriptors" { _ = readLine() }
    switch word {
    case "signal": kill(getpid(), SIGKILL)
    case "exit":
        write("one\ntwo\nthree", to: 2)
        exit(7)
    case "hang": stay()
    case "stop":
        kill(getpid(), SIGSTOP)
        stay()
    case "stubborn":
        signal(SIGTERM, SIG_IGN)
        signal(SIGHUP, SIG_IGN)
        write(#"{"say":"complete"}"# + "\n")
        stay()
    case "close":
        for stream in 0..<Int32(3) { close(stream) }
        stay()
    case "silent":
        close(1)
        exit(3)
    case "garbage":
        write("this is no message\n")
        stay()
    case "partial":
        write(#"{"say":"#)
        exit(0)
    case "endless": writeForever(" ", to: 1)
    case "chatter": writeForever(#"{"say":"log","text":"and on it goes"}"# + "\n", to: 1)
    case "complain": writeForever("and on it goes\n", to: 2)
    case "mumble": writeForever("m", to: 2)
    case "fork":
        try startChild()
        write(#"{"say":"complete","items":[{"text":"forked"}]}"# + "\n")
        exit(0)
    case "orphan":
        try startChild()
        exit(4)
    case "descriptors":
        let open = (0..<Int32(1_024)).filter { number in
            let flags = fcntl(number, F_GETFD)
            return flags != -1 && flags & FD_CLOEXEC == 0
        }
        write(#"{"say":"complete","items":[{"text":"\#(open.map(String.init).joined(separator: " "))"}]}"# + "\n")
    case "descriptor":
        write(#"{"say":"complete","items":[{"attachments":[{"type":"text","descriptor":3}]}]}"# + "\n")
        stay()
    case "unread": write(#"{"say":"complete","items":[{"text":"unread"}]}"# + "\n")
    default: exit(64)
    }
}

func loaded(_ attachment: Attachment) async throws -> Attachment {
    switch attachment.content {
    case .file, .item:
        Attachment(.bytes(try await attachment.loadBytes()), type: attachment.type, name: attachment.name)
    default: attachment
    }
}

/// Stores files in the directory `Files`, each under its name.
func files(_ context: ExtensionContext) async throws -> [ProvidedFile] {
    guard let container = context.container else { return [] }
    let coordinator = container.coordinator(purpose: "test")
    func file(_ name: String, content: Attachment? = nil) -> ProvidedFile {
        ProvidedFile(name, name: name, type: .plainText, content: content)
    }
    switch try ProvidedFile.Request(context.inputItems) {
    case .list: return try container.items(in: "Files").map { file("\($0.path)".replacing("Files/", with: "")) }
    case .fetch(let name): return [file(name, content: Attachment(.item(ItemPath("Files/\(name)")), type: .plainText))]
    case .store(let content, _):
        let name = content.name ?? ""
        try await coordinator.write(bytes: try await content.loadBytes(), to: ItemPath("Files/\(name)"))
        return [file(name)]
    case .remove(let name):
        _ = try await coordinator.coordinate(.writing(ItemPath("Files/\(name)"), .forDeleting)) { access in
            try access.remove(ItemPath("Files/\(name)"))
        }
        return []
    }
}

func work(_ context: ExtensionContext) async throws {
    switch word {
    case "echo":
        var items = context.inputItems
        for index in items.indices {
            var attachments: [Attachment] = []
            for attachment in items[index].attachments { attachments.append(try await loaded(attachment)) }
            items[index].attachments = attachments
        }
        try context.complete(returning: items)
    case "sizes":
        var items: [ExtensionItem] = []
        for attachment in context.inputItems.flatMap(\.attachments) {
            items.append(ExtensionItem(text: "\(try await attachment.loadBytes().count)"))
        }
        try context.complete(returning: items)
    case "nothing": print("what is printed does not disturb the protocol")
    case "throw": throw Wanted()
    case "cancel": try context.cancel(ExtensionError(domain: "com.example.test", code: 7, text: "the user gave it up"))
    case "twice":
        try context.complete(returning: [ExtensionItem(text: "first")])
        do { try context.complete() } catch { write("\(error)\n", to: 2) }
    case "open":
        guard let url = URL(string: "todo://7") else { return }
        try context.log("opening")
        try context.openApp(url)
    case "container":
        guard let attachment = context.inputItems.first?.attachments.first else { return }
        let file = try await attachment.open()
        let bytes = try await Attachment(.file(file), type: .bytes).loadBytes()
        try context.complete(returning: [
            ExtensionItem(text: String(decoding: bytes, as: UTF8.self), attachments: [attachment])
        ])
    case "keyboard":
        let input = try KeyboardInput(context.inputItems)
        let isWrong = input.before.hasSuffix("teh")
        try context.complete(
            returning: KeyboardInput.Result(deleting: isWrong ? 2 : 0, inserting: isWrong ? "he" : "").items)
    case "files": try context.complete(returning: try await files(context).map(\.item))
    case "flag":
        guard let container = context.container, let attachment = context.inputItems.first?.attachments.first,
            case .url(let url) = attachment.content
        else { return }
        try GroupDefaults(container).transaction(durability: .durable) { defaults in
            defaults.set(.url(url.absoluteString), forKey: "share-url")
            defaults.set(.bool(true), forKey: "has-new-share")
        }
    case "waiting":
        try context.log("waiting")
        let (stream, _) = AsyncStream<Void>.makeStream()
        for await _ in stream {}
        if let container = context.container {
            _ = try container.coordinator(purpose: "test").blocking.write(bytes: [1], to: "cancelled")
        }
        try Task.checkCancellation()
    default: try misbehave()
    }
}

switch word {
case "echo", "sizes", "nothing", "throw", "cancel", "twice", "open", "container", "keyboard", "files", "flag",
    "waiting":
    do {
        try await ExtensionProgram(work).run()
    } catch {
        write("\(error)\n", to: 2)
        exit(1)
    }
default: try misbehave()
}
