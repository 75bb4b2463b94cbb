import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import Widgets

/// Refreshes the widget WIDGET, and prints the result.
func refresh(_ run: inout CommandRun) throws -> ExitStatus {
    guard let kind = run.arguments.positional("WIDGET")?.validText else {
        throw run.arguments.usageError("WIDGET: a widget's kind consists of letters, digits, '.', '-' and '_'")
    }
    let interests = try run.arguments.values("interest").map { pattern in
        guard let text = pattern.validText else {
            throw run.arguments.usageError("--interest: the value is not valid UTF-8")
        }
        guard let interest = WidgetInterest(text: text) else {
            throw run.arguments.usageError(
                "--interest \(text): the value must be metadata:PATTERN, defaults:SUITE or defaults:SUITE:KEY")
        }
        if let fault = interest.fault { throw run.arguments.usageError("--interest '\(shown(text))': \(fault)") }
        if let prefix = misspelledPrefix(text) {
            throw run.arguments.usageError(
                "--interest '\(shown(text))': for \(prefix == "defaults:" ? "keys" : "changes of metadata") write "
                    + "'\(shown(prefix + text.drop { $0 != ":" }.dropFirst()))'; for a path write '\\' before the ':'")
        }
        return interest
    }
    let container = try run.openContainer()
    _ = container.coordinator(purpose: run.options.purpose)
    let file = try RefreshSession.file(ofKind: kind, in: container)
    let holding = try file.holdBlocking("refresh", timeout: run.lockTimeout)
    defer { holding.end() }
    // Following makes a suite that is missing: it is missed before.
    let doubts = interests.compactMap { $0.doubt(in: container, among: interests) }
    let session = try RefreshSession(file, container, interests: interests)
    doubts.forEach { run.remark($0) }
    let result =
        try session.answerWithoutRendering(canRender: run.arguments.command != nil)
        ?? render(session, of: kind, in: container, &run)
    try run.output.writeLine(
        run.options.isJSON
            ? JSONValue.object([
                ("widget", .string(kind)), ("result", .string(result.rawValue)),
                ("changes", .integer(Int64(session.changes.count + session.keyChanges.count))),
            ]).encoded() : result.rawValue)
    switch result {
    case .newData: return .success
    case .noData: return .noData
    case .failed:
        guard let signal = TerminationSignals.last else { return .failure }
        return .signal(signal)
    }
}

private func shown(_ text: String) -> String { PipeText.escaped(Array(text.utf8)) }

/// Returns the prefix ('defaults:' or 'metadata:') that the word before the ':' probably misspells; nil if there is
/// none.
private func misspelledPrefix(_ text: String) -> String? {
    let word = text.prefix { $0.isASCII && $0.isLetter }
    guard word.count >= 3, text.dropFirst(word.count).first == ":", word != "defaults", word != "metadata" else {
        return nil
    }
    return NearestName.among(["defaults", "metadata"], to: word.lowercased()).map { $0 + ":" }
}

/// Runs COMMAND, whose standard output is the snapshot, and ends the refresh. Without COMMAND, ends the refresh without
/// a snapshot.
private func render(
    _ session: RefreshSession, of kind: String, in container: Container, _ run: inout CommandRun
) throws -> UpdateResult {
    guard let command = run.arguments.command else { return try session.finish(.notRendered) {} }
    let outcome = try Filter.run(
        command, input: FileDescriptor.inMemory(), atMost: Filter.snapshotLimit, of: kind, in: container, "refresh",
        for: run)
    guard let (snapshot, status, _) = outcome else {
        run.complain(
            "cannot refresh '\(kind)': '\(PipeText.escaped(command.first ?? []))' printed more than "
                + "\(Filter.snapshotLimit) bytes, which is the largest snapshot; the last snapshot is kept; "
                + "print less, such as the path of an item that has the rest", .limitReached)
        return try session.finish(.failed) {}
    }
    if status != .success {
        run.explain("the command ended with status \(status.rawValue); the last snapshot is kept")
        return try session.finish(.failed) {}
    }
    let isJSON = run.options.isJSON
    return try session.finish(.rendered(snapshot)) {
        // The snapshot is delivered before the widget's cursors advance: after a crash it is shown twice rather than
        // never.
        if isJSON { return }
        try run.output.write(snapshot)
        if let last = snapshot.last, last != UInt8(ascii: "\n") { try run.output.write([UInt8(ascii: "\n")]) }
        try run.output.flush()
    }
}
