import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer

func channels(_ run: inout CommandRun) throws -> ExitStatus {
    switch run.arguments.subcommands.last {
    case "post": try post(&run)
    case "follow": try followChannel(&run)
    case "list": try listChannels(&run)
    case "status": try channelStatus(&run)
    case "acknowledge": try acknowledge(&run)
    case "remove": try removeListener(&run)
    default: throw run.arguments.usageError("missing a command: post, follow, list, status, acknowledge or remove")
    }
}

extension CommandRun {
    /// Returns a positional that must be valid UTF-8.
    func text(_ name: String) throws(UsageError) -> String {
        guard let text = arguments.positional(name)?.validText else {
            throw arguments.usageError("\(name) is not valid UTF-8")
        }
        return text
    }

    /// Returns the channel that the arguments name, and its container, opened under the purpose of this process.
    func channel() throws -> (container: Container, channel: GroupChannel) {
        let name = try text("CHANNEL")
        let container = try openContainer()
        _ = container.coordinator(purpose: options.purpose)
        return (container, try GroupChannel(container, name: name, purpose: options.purpose))
    }

    /// Returns an existing listener: a misspelled name creates none.
    fileprivate func existingListener(_ operation: String) throws -> (
        container: Container, channel: GroupChannel, listener: GroupChannel.Listener
    ) {
        let name = try text("LISTENER")
        let (container, channel) = try channel()
        guard let listener = try channel.listeners().first(where: { $0.name == name }) else {
            throw CoordinationError.noSuchListener(name, of: channel, container, operation: operation)
        }
        return (container, channel, listener)
    }
}

private func post(_ run: inout CommandRun) throws -> ExitStatus {
    let arguments = run.arguments
    let (text, isSignal) = (arguments.positional("TEXT"), arguments.flag("signal"))
    if isSignal && text != nil {
        throw arguments.usageError("--signal posts a message without content, and excludes TEXT")
    }
    let channel = try run.channel().channel
    let durability: Durability = arguments.flag("durable") ? .durable : .relaxed
    let number: UInt64
    if isSignal {
        number = try channel.signal(durability: durability)
    } else {
        // One byte more than a message may have, so that the library reports the limit.
        if text == nil { run.explainTerminalInput() }
        let content = try text ?? StandardInput.readBeginning(ChannelLimits.message + 1)
        number = try channel.post(bytes: content, durability: durability)
    }
    if run.options.isJSON {
        let fields: [(String, JSONValue)] = [("channel", .string(channel.name)), ("number", .unsigned(number))]
        try run.output.writeLine(JSONValue.object(fields).encoded())
    }
    run.explain("message \(number) was posted to '\(channel.name)'")
    return .success
}

private func listChannels(_ run: inout CommandRun) throws -> ExitStatus {
    let container = try run.openContainer()
    for log in try container.status().channels {
        if let fault = log.fault { run.complain("\(fault)") }
        if run.options.isJSON {
            let fields: [(String, JSONValue)] = [
                ("channel", .string(log.name)), ("messages", .integer(Int64(log.count))),
                ("posted", .unsigned(log.sequence)), ("listeners", .integer(Int64(log.listeners.count))),
                ("bytes", .unsigned(log.size)), ("fault", log.fault.map { .string("\($0)") } ?? .null),
            ]
            try run.output.writeLine(JSONValue.object(fields).encoded())
        } else {
            try run.output.writeLine(
                TerminalName.line(of: [log.name, "\(log.count)", "\(log.sequence)", "\(log.listeners.count)"]))
        }
    }
    return .success
}

private func channelStatus(_ run: inout CommandRun) throws -> ExitStatus {
    let (container, channel) = try run.channel()
    guard try container.status().channels.contains(where: { $0.name == channel.name }) else {
        throw CoordinationError.noSuchChannel(channel, container, operation: "show")
    }
    for listener in try channel.listeners() {
        if run.options.isJSON {
            try run.output.writeLine(listener.json.encoded())
            continue
        }
        let since = listener.waitingSinceNanoseconds.map { Timestamp.text($0) } ?? "-"
        let fields = [
            listener.name, String(listener.acknowledgedNumber), String(listener.waitingCount), since,
            "\(listener.author.purpose) (\(listener.author.processIdentifier))",
        ]
        try run.output.writeLine(TerminalName.line(of: fields))
    }
    return .success
}

private func acknowledge(_ run: inout CommandRun) throws -> ExitStatus {
    let word = try run.text("NUMBER")
    guard word.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = UInt64(word) else {
        throw run.arguments.usageError("NUMBER: '\(PipeText.escaped(Array(word.utf8)))' is not a message's number")
    }
    let (_, channel, found) = try run.existingListener("acknowledge")
    let durability: Durability = run.arguments.flag("durable") ? .durable : .relaxed
    try channel.listener(named: found.name).acknowledge(upTo: number, durability: durability)
    return .success
}

private func removeListener(_ run: inout CommandRun) throws -> ExitStatus {
    let (container, channel, found) = try run.existingListener("remove listener")
    guard try channel.removeListener(named: found.name) else {
        throw CoordinationError.noSuchListener(found.name, of: channel, container, operation: "remove listener")
    }
    return .success
}
