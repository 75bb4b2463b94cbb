import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupCurl
import GroupSystemCalls
import Transfers

CommandRun.main(groupTransferSpecification, needing: [.curl]) { run in
    // Before any thread.
    _ = CurlLibrary.isPrepared
    switch run.arguments.subcommands.first {
    case "download": return try download(&run)
    case "upload": return try upload(&run)
    case "list": return try list(&run)
    case "wait": return try wait(&run)
    case "cancel": return try cancel(&run)
    case "run": return try work(&run)
    default: throw run.arguments.usageError("missing a command: download, upload, list, wait, cancel, run")
    }
}

private func transfers(_ run: borrowing CommandRun) throws -> Transfers {
    try Transfers(run.openContainer(), program: programPath().map { String(decoding: $0, as: UTF8.self) })
}

private func text(_ name: String, _ run: borrowing CommandRun) throws -> String {
    guard let text = run.arguments.positional(name).flatMap({ String(validating: $0, as: UTF8.self) }) else {
        throw run.arguments.usageError("\(name) is missing, or is not UTF-8")
    }
    return text
}

private func download(_ run: inout CommandRun) throws -> ExitStatus {
    let length = try run.arguments.text("length").map { text throws -> UInt64 in
        guard let number = UInt64(text) else { throw run.arguments.usageError("--length takes a number of bytes") }
        return number
    }
    let transfers = try transfers(run)
    let identifier = try transfers.download(
        text("URL", run), to: run.itemPath(), sha256: run.arguments.text("sha256"), length: length,
        opening: run.arguments.text("opening"), fields: fields(run),
        timeout: run.arguments.time("give-up-after") ?? Transfers.timeout)
    return try queued(identifier, transfers, &run)
}

private func upload(_ run: inout CommandRun) throws -> ExitStatus {
    let transfers = try transfers(run)
    let identifier = try transfers.upload(
        file: text("FILE", run), to: text("URL", run), opening: run.arguments.text("opening"),
        fields: fields(run), timeout: run.arguments.time("give-up-after") ?? Transfers.timeout)
    return try queued(identifier, transfers, &run)
}

/// The fields, each as `NAME: TEXT{SECRET}`.
private func fields(_ run: borrowing CommandRun) throws -> [Transfer.Field] {
    try run.arguments.values("field").map { bytes in
        guard let text = String(validating: bytes, as: UTF8.self),
            let match = text.wholeMatch(of: /([^:]+):[ ]*([^{}]*)\{([^{}]+)\}/)
        else {
            throw run.arguments.usageError("--field takes NAME: TEXT{SECRET}, such as 'Authorization: Bearer {token}'")
        }
        return Transfer.Field(String(match.1), prefix: String(match.2), secret: String(match.3))
    }
}

private func queued(_ identifier: Transfer.ID, _ transfers: Transfers, _ run: inout CommandRun) throws -> ExitStatus {
    try run.output.writeLine(
        run.options.isJSON ? JSONValue.object([("id", .string(identifier))]).encoded() : identifier)
    try run.output.flush()
    return run.arguments.flag("wait") ? try wait(for: identifier, transfers, &run) : .success
}

private func wait(_ run: inout CommandRun) throws -> ExitStatus {
    try wait(for: text("ID", run), transfers(run), &run)
}

private func wait(for identifier: Transfer.ID, _ transfers: Transfers, _ run: inout CommandRun) throws -> ExitStatus {
    let progress = run.progress("transferring", of: .bytes)
    defer { progress.end() }
    let over = try transfers.wait(for: identifier, timeout: run.options.timeout) { transfer in
        progress.show(transfer.reason.map { "\(transfer.path) (\($0))" } ?? transfer.path)
        progress.note(transfer.received, of: transfer.total, perSecond: transfer.bytesPerSecond)
    }
    progress.end()
    guard let transfer = over ?? transfers.transfer(identifier) else {
        run.complain("there is no transfer '\(PipeText.escaped(Array(identifier.utf8)))'", .notFound)
        return .notFound
    }
    let reason = transfer.reason.map { PipeText.escaped(Array($0.utf8)) }
    switch transfer.state {
    case .completed: return .success
    case .cancelled:
        run.complain("the transfer was cancelled", .cancelled)
        return .noData
    case .failed:
        run.complain(reason ?? "the transfer has failed")
        return .failure
    case .waiting, .running, .placing:
        run.complain(
            "the transfer goes on" + (reason.map { "; its last attempt failed: \($0)" } ?? ""), .lockTimedOut)
        return .lockTimedOut
    }
}

private func list(_ run: inout CommandRun) throws -> ExitStatus {
    let transfers = try transfers(run)
    for transfer in transfers.all() {
        let total = transfer.total ?? transfer.expectedLength
        if run.options.isJSON {
            try run.output.writeLine(
                JSONValue.object([
                    ("id", .string(transfer.id)), ("direction", .string(transfer.direction.rawValue)),
                    ("state", .string(transfer.state.rawValue)),
                    ("received", .integer(Int64(clamping: transfer.received))),
                    ("total", total.map { .integer(Int64(clamping: $0)) } ?? .null),
                    ("bytesPerSecond", .integer(Int64(clamping: transfer.bytesPerSecond))),
                    ("path", .string(transfer.path)), ("url", .string(transfer.url)),
                    ("reason", transfer.reason.map { .string($0) } ?? .null),
                ]).encoded())
        } else {
            let fields = [
                transfer.id, transfer.state.rawValue, "\(transfer.received)", total.map { "\($0)" } ?? "-",
                transfer.path,
                transfer.url, transfer.reason ?? "",
            ]
            try run.output.writeLine(TerminalName.line(of: fields))
        }
    }
    let unreadable = transfers.unreadable()
    for key in unreadable {
        let name = PipeText.escaped(Array(key.utf8))
        run.complain(
            "the record '\(name)' cannot be read; 'groupctl defaults get DIRECTORY \(TransferRecords.suite) \(name)' shows it",
            .damaged)
    }
    return unreadable.isEmpty ? .success : .damaged
}

private func cancel(_ run: inout CommandRun) throws -> ExitStatus {
    let (transfers, identifier) = (try transfers(run), try text("ID", run))
    if try transfers.cancel(identifier) { return .success }
    guard transfers.transfer(identifier) == nil else { return .noData }
    run.complain("there is no transfer '\(PipeText.escaped(Array(identifier.utf8)))'", .notFound)
    return .notFound
}

private func work(_ run: inout CommandRun) throws -> ExitStatus {
    func number(_ name: String, _ most: Int, default other: Int) throws -> Int {
        guard let text = try run.arguments.text(name) else { return other }
        guard let number = Int(text), (1...most).contains(number) else {
            throw run.arguments.usageError("--\(name) takes a number from 1 to \(most)")
        }
        return number
    }
    let container = try run.openContainer()
    let worker = Worker(
        container: container, records: try TransferRecords(container), parallel: try number("parallel", 64, default: 4),
        stall: try number("stall", 3_600, default: 60),
        firstDelay: try run.arguments.time("retry-after")?.nanoseconds ?? 1_000_000_000)
    if try !worker.run() { run.explain("another process makes the transfers of this container") }
    return .success
}
