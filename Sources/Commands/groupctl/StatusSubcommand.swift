import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

func status(_ run: inout CommandRun) throws -> ExitStatus {
    let watching = run.arguments.flag("watch") ? try StatusWatching(run) : nil
    if watching == nil, run.arguments.value("count") != nil {
        throw run.arguments.usageError("--count is for --watch")
    }
    let container = try run.openContainer()
    _ = container.coordinator(purpose: run.options.purpose)
    let isTerminal = StandardOutput.isTerminal
    let style = TerminalText(run.options.color)
    func lines(_ status: ContainerStatus) -> [String] {
        text(status, container, style).map { isTerminal ? TerminalText.visibleBetweenColors($0) : $0 }
    }
    if var watching { return try watching.run(container, &run, lines) }
    let status = try container.status()
    if run.options.isJSON {
        try run.output.writeLine(status.json(of: container).encoded())
        return .success
    }
    for line in lines(status) { try run.output.writeLine(line) }
    return .success
}

private func text(_ status: ContainerStatus, _ container: Container, _ text: TerminalText) -> [String] {
    var lines = [
        text.styled(PipeText.escaped(container.path.bytes), as: .strong),
        "journal   \(status.sequence) changes in \(status.journalFileCount) file\(status.journalFileCount == 1 ? "" : "s"), cursor \(status.cursor)",
        "members   \(status.members.count)",
    ]
    if let cause = container.readOnlyCause { lines.append("access    read-only: \(cause)") }
    for member in status.members {
        let role = member.isLeader ? ", leader" : ""
        lines.append(
            "  " + text.styled(member.purpose, as: .strong)
                + "  \(member.processText), user \(member.userIdentifier), since \(Timestamp.text(member.sinceNanoseconds))\(role)"
                + (member.condition.map { $0 == .running ? "" : "  " + text.styled($0.rawValue, as: .error) } ?? "")
        )
        if let command = member.command { lines.append("    " + text.styled(command, as: .faint)) }
        for access in member.locks {
            let what =
                (access.isWaiting ? "waits for " : "holds ") + (access.isWriting ? "exclusive lock" : "shared lock")
                + (access.isWholeDirectory ? " with everything below" : "")
            let role: TerminalText.Role = access.isWaiting ? .error : .modified
            let others = access.blockers.map(\.member).reduce(into: [Int]()) { if !$0.contains($1) { $0.append($1) } }
            let behind = others.prefix(3).map { status.members[$0] }.map { "\($0.purpose) (\($0.processIdentifier))" }
            lines.append(
                "    " + text.styled(what, as: role)
                    + "  \(access.path)  for \(Timestamp.duration(wallNanoseconds() - access.sinceNanoseconds))"
                    + (access.purpose == member.purpose ? "" : "  " + text.styled(access.purpose, as: .faint))
                    + (behind.isEmpty ? "" : "  behind " + behind.joined(separator: ", "))
                    + (others.count > behind.count ? " and \(others.count - behind.count) more" : ""))
        }
        for item in member.presentedItems {
            lines.append(
                "    " + text.styled("presents", as: .modified)
                    + "  \(item.path)  for \(Timestamp.duration(wallNanoseconds() - item.sinceNanoseconds))")
            for question in item.questions {
                lines.append(
                    "      " + text.styled(question.state, as: question.state == "asked" ? .error : .faint)
                        + "  \(question.wanted.words.joined(separator: ", ")) for \(question.item), by process "
                        + "\(question.processIdentifier) (\(question.purpose)), "
                        + "\(Timestamp.duration(wallNanoseconds() - question.sinceNanoseconds)) ago")
            }
        }
    }
    lines += deadlock(in: TopModel(status, of: container).members, text)
    lines += logs("suites", status.suites, counted: ("key", "keys"), ("set", "sets"), text)
    lines += logs("channels", status.channels, counted: ("message kept", "messages kept"), ("post", "posts"), text)
    if !status.members.contains(where: \.isLeader) {
        lines.append("leader    none: external changes are recorded when the next follower starts")
    }
    return lines
}

/// Returns a line for the requests of which each waits for the next; none where there are no such ones.
private func deadlock(in members: [TopModel.Member], _ text: TerminalText) -> [String] {
    let waits = WaitTree(members, at: wallNanoseconds())
    guard let isCertain = waits.hasCertainDeadlock else { return [] }
    var circle: [Int] = []
    for line in waits.lines {
        switch line.content {
        case .deadlock: circle = []
        case .waiter(let member, _, _), .starter(let member, _, true): circle.append(member)
        case .back:
            let names = (circle + circle.prefix(1)).map { "\(members[$0].purpose) (\(members[$0].process))" }
            let title = text.styled(isCertain ? "deadlock" : "perhaps a deadlock", as: .error)
            return ["\(title)  each waits for the next: \(names.joined(separator: " → "))"]
        default: break
        }
    }
    return []
}

private typealias Noun = (one: String, many: String)

private func logs(
    _ title: String, _ logs: [ContainerStatus.Log], counted noun: Noun, _ event: Noun, _ text: TerminalText
) -> [String] {
    func number<Number: BinaryInteger>(_ count: Number, _ noun: Noun) -> String {
        "\(count) \(count == 1 ? noun.one : noun.many)"
    }
    if logs.isEmpty { return [] }
    var lines = [title + String(repeating: " ", count: max(1, 10 - title.count)) + "\(logs.count)"]
    for log in logs {
        let name = "  " + text.styled(PipeText.escaped(Array(log.name.utf8)), as: .strong) + "  "
        if let fault = log.fault {
            lines.append(name + text.styled(PipeText.escaped(Array("\(fault)".utf8)), as: .error))
            continue
        }
        lines.append(
            name + "\(number(log.count, noun)), \(number(log.sequence, event)) so far, \(log.size >> 10) KiB")
        for listener in log.listeners {
            let waiting =
                listener.waitingCount == 0
                ? "up to date"
                : "\(listener.waitingCount) behind, since \(Timestamp.text(listener.waitingSinceNanoseconds ?? 0))"
            lines.append(
                "    " + PipeText.escaped(Array(listener.name.utf8)) + "  \(waiting)  "
                    + text.styled(
                        "\(PipeText.escaped(Array(listener.author.purpose.utf8))) (\(listener.author.processIdentifier))",
                        as: .faint))
        }
    }
    return lines
}
