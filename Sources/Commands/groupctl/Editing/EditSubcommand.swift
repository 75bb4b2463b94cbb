import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Edits an item in the user's editor, and writes it back only if no other process has changed it meanwhile. Where the
/// text cannot be written, it stays in a file that is named.
func edit(_ run: inout CommandRun) throws -> ExitStatus {
    let path = ItemPath(bytes: try run.itemPath().bytes)
    let container = try run.openContainer()
    try container.checkNotReadOnly(path, "edit")
    let notices = Notices(isVerbose: run.options.isVerbose)
    var item = try EditedItem(
        path, in: container, purpose: run.options.purpose, timeout: run.lockTimeout, notice: notices.print)
    let copy = try EditedCopy(of: path, item.content, outside: container)
    let editor = Editor()
    while true {
        let signals = TerminationSignals(leavingKeysToChild: ())
        var process = try CommandProcess(editor.words(for: copy.path), variables: [], signals)
        let status = try process.wait()
        let signal = signals.received
        _ = TerminationSignals()
        if notices.isVerbose { item.awaitNotice() }
        let found: [UInt8]?
        do {
            found = try copy.text()
        } catch {
            guard let signal else { throw error }
            run.complain("\(error)")
            return .signal(signal)
        }
        guard let text = found else {
            // The editor has removed the file: it may have left the text in another one.
            if !leave(copy, run) { copy.remove() }
            if let signal { return .signal(signal) }
            throw CoordinationError.unreadable(copy.path, operation: "read the edited text from", .noSuchEntry)
        }
        if signal != nil || status != 0 {
            keep(copy, text, in: item, run)
            if let signal { return .signal(signal) }
            run.complain(
                "'\(PipeText.escaped(Array(editor.command.utf8)))' ended with status \(status); nothing was written")
            return ExitStatus(rawValue: status)
        }
        if text == item.content {
            copy.remove()
            run.explain("'\(item.path)' is unchanged; nothing was written")
            return run.arguments.flag("exit-code") ? .unchanged : .success
        }
        do {
            let result = try save(text, of: &item, copy, run)
            guard let result else { continue }
            copy.remove()
            return try ItemCommands.report(result, item.path, &run)
        } catch {
            if (error as? CoordinationError)?.remedy?.code != .ofCommand { keep(copy, text, in: item, run) }
            throw error
        }
    }
}

/// Writes the text. Where another process has changed the item, asks on a terminal what to do; returns nil to edit
/// again. Error: `conflict`, whose advice names the file with the text.
private func save(
    _ text: [UInt8], of item: inout EditedItem, _ copy: EditedCopy, _ run: borrowing CommandRun
) throws -> WriteResult? {
    while true {
        do {
            return try item.save(text, run.arguments.flag("relaxed") ? .relaxed : .durable)
        } catch let conflict as EditedItem.Conflict {
            let reason = describe(conflict)
            let isTerminal = StandardOutput.isTerminalForInput && run.hasReaderOfRemarks
            let answer =
                isTerminal
                ? try ask("'\(item.path)': \(reason). Edit again, overwrite, or keep \(ShellWords.quoted(copy.path))?")
                : .keep
            if answer == .keep {
                throw CoordinationError(
                    .conflict, operation: "edit", item: item.path.description, containerPath: item.containerPath,
                    reason: reason, remedy: copy.place)
            }
            // What is there now is the base of the next attempt.
            try item.read()
            if answer == .editAgain {
                run.remark("what is there now is in \(ShellWords.quoted(try copy.putBeside(item.content)))")
                return nil
            }
        }
    }
}

/// Leaves the text where it is, and says where; removes it if it is what the item has, and the editor has left nothing.
private func keep(_ copy: EditedCopy, _ text: [UInt8], in item: EditedItem, _ run: borrowing CommandRun) {
    if text != item.content { return run.remark("the edited text is in \(ShellWords.quoted(copy.path))") }
    if !leave(copy, run) { copy.remove() }
}

/// Returns whether an editor that did not end well has left something beside the text, such as a file by which it
/// recovers what was typed; says so.
private func leave(_ copy: EditedCopy, _ run: borrowing CommandRun) -> Bool {
    guard let left = copy.left else { return false }
    run.remark("the editor has left \(ShellWords.quoted(left)), by which it may recover what was typed")
    return true
}

/// Returns who has changed the item, and when.
private func describe(_ conflict: EditedItem.Conflict) -> String {
    guard let change = conflict.change else { return "it keeps being changed" }
    let isTerminal = StandardOutput.isTerminalForErrors
    let time = change.shownNanoseconds.map {
        isTerminal ? Timestamp.relative($0, now: wallNanoseconds()) : "at " + Timestamp.text($0)
    }
    let who =
        change.author.map { "by \(TerminalName.writer($0.purpose, $0.processIdentifier))" } ?? "without coordination"
    return "it was \(change.kind.name) \(who)\(time.map { " \($0)" } ?? "")"
}

private enum Answer: String {
    case editAgain = "e", overwrite = "o", keep = "k"
}

/// Asks the user until one of the answers is typed; the end of the input, and a signal, mean to keep the text.
private func ask(_ question: String) throws -> Answer {
    var errors = StandardOutput(descriptor: 2)
    let signals = TerminationSignals()
    var lines = InputLines(limit: 1_000)
    while true {
        try errors.write(Array((TerminalText.message(question, isForTerminal: true) + " [e/o/k] ").utf8))
        try errors.flush()
        var step = try lines.next()
        while step == .dry {
            try lines.wait(orUntil: signals)
            if signals.received != nil { return .keep }
            step = try lines.next()
        }
        guard case .line(let line) = step else { return .keep }
        if let answer = line.first.flatMap({ Answer(rawValue: String(Unicode.Scalar($0)).lowercased()) }) {
            return answer
        }
    }
}

/// The changes of others that the presenter notices, as lines on standard error with --verbose.
private struct Notices: Sendable {
    let isVerbose: Bool

    func print(_ line: String) {
        if !isVerbose { return }
        var errors = StandardOutput(descriptor: 2)
        try? errors.writeLine(TerminalText.message(line, isForTerminal: StandardOutput.isTerminalForErrors))
        try? errors.flush()
    }
}
