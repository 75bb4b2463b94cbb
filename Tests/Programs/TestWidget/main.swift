// A widget for the tests of the host: it shows the content of the item `Library/<its kind>`. If the content begins with
// one of these words, the widget does this:
//
//     crash      ends by SIGKILL, instead of answering
//     buttons    shows a button, whose press ends the process
//     exit       ends with status 7
//     hang       does not answer
//     garbage    writes a line that is not a message
//     endless    writes a line without end
//     chatter    writes to the log without end
//     complain   writes 10,000 lines to standard error, and answers
//     twice      answers twice
//     fail       answers that it failed
//     leak       uses 64 MiB more, and answers
//     keep       takes a lock on `Library/kept` for good, and answers
//     work       takes a lock on `Library/kept`, and from then on neither answers nor reads
//     posix      has a lock on `Library/locked` for good, by fcntl(2), and answers
//     ofd        the same by an open file description lock
//     flock      the same by flock(2)
//     child      the same by a child
//     free       releases all these locks, and answers
//     deaf       answers, and from then on answers no suspension
//     deafkeep   both
//     stubborn   answers, and from then on ends neither with its input nor by SIGHUP
//     room       shows its number of columns, each digit five times: a terminal gets only differences
//     same       answers noData, without a timeline, unless a reload is requested
//     close      closes its output, and stays
//
// With the argument --presses, the widget is a PressCounter instead, and with --refreshes a LongRefresh.
//
// The widget logs its process, as "process 812". After a reload, a '!' follows the text.
import Dispatch
import Glibc
import GroupContainer
import GroupProtocolLines
import GroupSystemCalls
import Widgets

let kind = environmentValue("WIDGET_KIND") ?? "?"
let directory = environmentValue("GROUP_CONTAINER") ?? "."
let announced = CommandLine.arguments.dropFirst().first ?? kind
var isDeaf = false
var isStubborn = false
var ballast: [[UInt8]] = []

func send(_ message: WidgetMessage) { sendLine(ProtocolLine.encoded(message) ?? []) }

func sendLine(_ line: [UInt8]) { send(bytes: line + [10]) }

func send(bytes: [UInt8]) { try? FileDescriptor.open(path: Array("/proc/self/fd/1".utf8), .writing).writeAll(bytes) }

/// Writes a line to standard error.
func complain(_ text: String) {
    try? FileDescriptor.open(path: Array("/proc/self/fd/2".utf8), .writing).writeAll(Array((text + "\n").utf8))
}

func content() -> String {
    guard let file = try? FileDescriptor.open(path: Array("\(directory)/Library/\(kind)".utf8), .reading),
        let bytes = try? file.readAll()
    else { return "nothing" }
    return String(decoding: bytes, as: UTF8.self)
}

/// Returns once the lock is held; a thread keeps it.
func keepLock() throws {
    let coordinator = try Container(path: directory).coordinator(purpose: "keeper")
    let isHeld = DispatchSemaphore(value: 0)
    DispatchQueue(label: "keeper").async {
        try? coordinator.blocking.coordinate(.writing("Library/kept")) { _ in
            isHeld.signal()
            while true { pause(nanoseconds: 3_600_000_000_000) }
        }
    }
    isHeld.wait()
}

var lockedFiles: [Int32] = []
var child: pid_t = 0

/// Takes the lock that the word names.
@MainActor func takeLock(_ word: some StringProtocol) throws {
    let path = "\(directory)/Library/locked"
    if word == "child" {
        let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .readingAndWriting)
        let ends = try FileDescriptor.pipe()
        let script = "echo held; exec sleep 3600"
        child = try SupervisedProcess(
            ["flock", "-o", path, "sh", "-c", script].map { Array($0.utf8) }, variables: [], input: nothing,
            output: ends.writing, leadsGroup: false
        ).identifier
        var answer = [UInt8](repeating: 0, count: 5)
        _ = try ends.reading.read(into: &answer)
        return
    }
    let file = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    lockedFiles.append(file)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    switch word {
    case "posix": _ = unsafe fcntl(file, F_SETLK, &lock)
    case "ofd": _ = unsafe fcntl(file, 37, &lock)  // F_OFD_SETLK
    default: flock(file, LOCK_EX)
    }
}

@MainActor func letGo() {
    for file in lockedFiles { close(file) }
    lockedFiles = []
    if child > 0 { kill(child, SIGKILL) }
}

@MainActor func answer(_ id: Int, _ environment: WidgetEnvironment, reloads: Bool) throws {
    var text = content()
    if text == "room" { text = "\(environment.maximumSize.columns)".map { String(repeating: $0, count: 5) }.joined() }
    var answer = WidgetMessage.Answer(id: id, result: .newData)
    let view = WidgetView(lines: [WidgetView.Line(text + (reloads ? "!" : ""), url: "todo://\(kind)")])
    answer.timeline = Timeline(view)
    switch text.split(separator: " ").first {
    case "crash": kill(getpid(), SIGKILL)
    case "buttons":
        let line = WidgetView.Line(text, control: .button("crash"))
        answer.timeline = Timeline(WidgetView(lines: [line]))
    case "exit": exit(7)
    case "hang": return
    case "same" where !reloads: answer = WidgetMessage.Answer(id: id, result: .noData)
    case "garbage": return sendLine(Array("this is no message".utf8))
    case "endless": while true { send(bytes: [UInt8](repeating: 0x20, count: 65_536)) }
    case "chatter": while true { send(.log("and on it goes")) }
    case "complain":
        for _ in 0..<10_000 { complain("and on it goes") }
    case "twice": send(.answer(answer))
    case "fail":
        answer = WidgetMessage.Answer(id: id, result: .failed, cause: "the test wants it")
    case "leak": ballast.append([UInt8](repeating: 1, count: 64 << 20))
    case "keep": try keepLock()
    case "work":
        try keepLock()
        send(.log("holds it"))
        while true { pause(nanoseconds: 3_600_000_000_000) }
    case "posix", "ofd", "flock", "child": try takeLock(text)
    case "free": letGo()
    case "deaf": isDeaf = true
    case "deafkeep":
        isDeaf = true
        try keepLock()
    case "stubborn":
        isStubborn = true
        signal(SIGHUP, SIG_IGN)
    case "close":
        close(1)
        return
    default: break
    }
    send(.answer(answer))
}

@MainActor func converse<Provider: WidgetProvider>(_ provider: Provider) async throws
where Provider.Snapshot: WidgetContent {
    complain("process \(getpid())")
    try await WidgetProgram(provider, in: Container(path: directory)).converse()
    exit(0)
}

if CommandLine.arguments.contains("--presses") { try await converse(PressCounter(kind: kind)) }
if CommandLine.arguments.contains("--refreshes") { try await converse(LongRefresh(kind: kind)) }
send(.hello(version: WidgetMessage.version, kind: announced, placeholder: WidgetView(lines: [WidgetView.Line("…")])))
send(.log("process \(getpid())"))
while let line = readLine() {
    guard let message = ProtocolLine.decoded(HostMessage.self, from: Array(line.utf8)) else { continue }
    switch message {
    case .update(let id, let environment, _, _, let reloads, _): try answer(id, environment, reloads: reloads)
    case .press(let id, let press, _, _):
        if press.action.id == "crash" { kill(getpid(), SIGKILL) }
        send(.pressed(id: id, .notDone, cause: "the test wants it"))
    case .suspend(let id): if !isDeaf { send(.suspended(id: id)) }
    case .resume: break
    case .end: exit(0)
    }
}
while isStubborn { pause(nanoseconds: 3_600_000_000_000) }
