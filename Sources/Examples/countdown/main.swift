import GroupCommandLine
import GroupCommands
import CountdownShared
import FoundationEssentials
import GroupContainer
import GroupSystemCalls
import WidgetApp
import Widgets

// The app of the countdown. A running app counts itself; at its end it saves how much time is left and when, and the
// widget continues. Choosing the widget starts the app again.

private let specification = CommandSpecification(
    name: "countdown", summary: "A countdown that its widget continues.",
    usage: ["countdown [--group GROUP] [start TIME | show | stop]"],
    options: [
        .value("group", letter: "g", "GROUP", help: "The container; the default is group.com.example.countdown.")
    ] + CommonOptions.specifications(timeout: "How long to wait for a lock; the default is 30 s."),
    subcommands: [
        CommandSpecification(
            name: "start", summary: "Counts down from TIME, until the end or until the app is ended.",
            usage: ["countdown start TIME"],
            positionals: [PositionalSpecification("TIME", help: "\(TimeArgument.forms).")]),
        CommandSpecification(
            name: "show", summary: "Continues the last countdown, and opens its widget's addresses.",
            usage: ["countdown show"]),
        CommandSpecification(name: "stop", summary: "Ends the countdown.", usage: ["countdown stop"]),
    ], examples: [HelpEntry("countdown start 90", "")])

CommandRun.main(specification) { run in
    let arguments = run.arguments
    let group = arguments.value("group") ?? Array("group.com.example.countdown".utf8)
    let container = run.use(try Container(named: group, creating: true))
    let defaults = try GroupDefaults(container, suite: Countdown.suite)
    var countdown = try defaults.presentCountdown()
    switch arguments.subcommands.first {
    case "start":
        guard let text = arguments.positional("TIME")?.validText else {
            throw arguments.usageError("TIME is not valid UTF-8; a time is like 2 or 250ms")
        }
        do throws(TimeArgumentError) {
            let time = try TimeArgument.parse(text)
            countdown = Countdown(remaining: Double(time.nanoseconds) / 1e9, savedAt: Date())
        } catch {
            throw arguments.usageError("TIME: \(error)")
        }
    case "stop":
        try defaults.remove(.countdown)
        return .success
    default: break
    }
    let end = try stayInFront(countdown, defaults, container, &run.output)
    try run.output.writeLine(end)
    return .success
}

/// Counts, and opens URLs, until the countdown is over or the app is ended; then saves, as apps do when they leave the
/// foreground. Without a countdown only the URLs that have come already are opened.
private func stayInFront(
    _ countdown: Countdown?, _ defaults: GroupDefaults, _ container: Container, _ output: inout StandardOutput
) throws -> String {
    let signals = TerminationSignals()
    let links = try AppLinks(
        container, scheme: Countdown.scheme, arguments: ["--group", container.path.description, "show"])
    let presence = try AppPresence(container)
    try presence.becomeActive()
    while signals.received == nil {
        let left = min(1, countdown?.remaining(at: Date()) ?? 0)
        let came = try links.openNext(timeout: .seconds(left), until: { signals.received != nil }) { url in
            try output.writeLine("opened \(TerminalName.line(of: [url]))")
            try output.flush()
        }
        if left <= 0 && !came { break }
    }
    let now = Date()
    if let countdown {
        try defaults.set(Countdown(remaining: countdown.remaining(at: now), savedAt: now), for: .countdown)
    }
    try presence.resignActive()
    guard let countdown else { return "no countdown" }
    return countdown.remaining(at: now) > 0 ? "left" : "finished"
}
