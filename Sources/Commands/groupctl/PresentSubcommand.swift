import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Presents an item until a signal ends it: COMMAND saves, or answers every question.
func present(_ run: inout CommandRun) throws -> ExitStatus {
    guard let command = run.arguments.command else { throw run.arguments.usageError("COMMAND is missing") }
    if let status = CommandStartFailure.check(command, for: run) { return status }
    let path = try run.itemPath()
    let item = Guarded(path)
    let container = try run.openContainer()
    // The purpose under which other processes see this one.
    _ = container.coordinator(purpose: run.options.purpose)
    let signals = TerminationSignals()
    let (failure, running) = (Guarded<CoordinationError?>(nil), RunningAnswers())
    let log = PresentLog(isVerbose: run.options.isVerbose)
    let answers: PresenterQuestions = run.arguments.flag("all") ? .all : [.relinquishToReader, .saveChanges]
    let calls = PresenterCalls(
        answers: answers,
        answer: { wanted, accessor, question in
            running.begin()
            log.note(
                "asked to \(wanted.words.joined(separator: ", ")) by process \(accessor.processIdentifier)", accessor)
            if answers != .all && !wanted.contains(.saveChanges) { return }
            let variables = [
                ("GROUP_CONTAINER", container.path.bytes), ("GROUP_ITEM", item.withLock { $0.bytes }),
                ("GROUP_WANTED", Array(wanted.words.joined(separator: " ").utf8)),
                (AnsweredQuestion.variable, Array(question.text.utf8)),
            ]
            let status = try CommandProcess.runForAnswer(command, variables: variables, signals, remark: log.say)
            if status != 0 { throw AnswerFailure(command: PipeText.escaped(command.first ?? []), status: status) }
        },
        didAnswer: { running.finish() },
        reacquire: { change in log.note(change.map { "reacquired after \($0.kind.name)" } ?? "reacquired") },
        didChange: { change in log.note("\(change.kind.name) \(change.path)") },
        didMove: { path, _ in
            item.withLock { $0 = path }
            log.note("moved to \(path)")
        },
        didEnd: { error in
            failure.withLock { $0 = error }
            Interruption.raise()
        })
    let presentation = try container.present(calls, at: path)
    defer { presentation.end() }
    run.explain("presenting '\(path)'")
    while true {
        let seen = Interruption.latest
        // What is being saved when a signal comes is saved, or refused, by COMMAND.
        if let number = signals.received, running.end() { return .signal(number) }
        if let error = failure.withLock({ $0 }) { throw error }
        Interruption.wait(since: seen, atMost: .max)
    }
}

/// How many questions are being answered now.
private final class RunningAnswers: Sendable {
    private let state = Guarded((count: 0, isOver: false))

    /// Begins an answer. After `end` this does not return: the process ends as soon as no answer is being made, and the
    /// request goes on as one that asks no presenter.
    func begin() {
        let isOver = state.withLock { state in
            if !state.isOver { state.count += 1 }
            return state.isOver
        }
        while isOver { Interruption.wait(since: .latest, atMost: .max) }
    }

    /// Ends an answer, once the request can see it.
    func finish() {
        state.withLock { $0.count -= 1 }
        Interruption.raise()
    }

    /// Lets no other answer begin, and returns whether none is being made.
    func end() -> Bool {
        state.withLock { state in
            state.isOver = true
            return state.count == 0
        }
    }
}

/// COMMAND could not answer.
private struct AnswerFailure: Error, CustomStringConvertible {
    var command: String
    var status: Int32

    var description: String { "'\(command)' ended with status \(status)" }
}

/// The lines on standard error, with --verbose.
private struct PresentLog: Sendable {
    let isVerbose: Bool

    func note(_ text: String, _ accessor: PresenterAccessor? = nil) {
        if isVerbose { say(text + (accessor.map { " (\($0.purpose)) for \($0.item)" } ?? "")) }
    }

    func say(_ line: String) {
        var errors = StandardOutput(descriptor: 2)
        try? errors.writeLine(TerminalText.message(line, isForTerminal: StandardOutput.isTerminalForErrors))
        try? errors.flush()
    }
}
