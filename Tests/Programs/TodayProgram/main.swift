import FoundationEssentials
import Glibc
import GroupSystemCalls
import GroupTodayView

// The Today view with two invented widgets, for tests of the terminal: each command of the user is a line in a file.
// `o` on the second widget crashes the program, in the way that its arguments name.
//
// usage: test-today LOG [trap|segv|exit|abort]

private let log = try FileDescriptor.open(
    path: Array(CommandLine.arguments[1].utf8), [.writing, .creating], mode: 0o600)
private let death = CommandLine.arguments.dropFirst(2).first

private func note(_ text: String) throws { try log.writeAll(Array((text + "\n").utf8)) }

private func panel(_ kind: String, _ title: String) -> Panel {
    Panel(
        kind: kind, title: title, state: .active,
        view: WidgetView(lines: [
            .init("\(title) line", .good), .init("soon", countdown: Date().addingTimeInterval(86_400)),
        ]),
        renderedAt: wallNanoseconds(), size: WidgetSize(columns: 76, rows: 2))
}

private func die() {
    switch death {
    case "trap": print([Int]()[CommandLine.arguments.count])
    case "segv": kill(getpid(), SIGSEGV)
    case "abort": abort()
    case "exit": exit(7)
    default: break
    }
}

private func run() throws {
    var terminal = try TodayTerminal(TerminalLook()) { [KnownWidget(kind: "c", title: "Gamma")] }
    let poller = try Poller()
    if let descriptor = terminal.descriptor { try poller.add(descriptor) }
    terminal.take(TodayModel([panel("a", "Alpha"), panel("b", "Beta")]))
    try note("ready \(getpid())")
    while true {
        var commands = terminal.draw()
        if try poller.wait(nanoseconds: terminal.wait()) { commands += terminal.inputReady() }
        commands += terminal.tick()
        for command in commands {
            try note("\(command)")
            if command == .quit { return }
            if command == .open("b", line: nil) { die() }
        }
    }
}

try run()
