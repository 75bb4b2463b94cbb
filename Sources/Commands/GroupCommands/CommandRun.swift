import GroupBytes
package import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// One run of a command: its arguments, its output, and how its errors are reported.
package struct CommandRun: ~Copyable {
    package let arguments: ParsedArguments
    package let options: CommonOptions
    package var output = StandardOutput()
    /// The container that was opened last.
    private let opened = Guarded<Container?>(nil)
    /// What this process notices as a member of the container; nil where that is not printed at the end.
    private let diagnostics = Guarded<Follower<Diagnostic>?>(nil)
    /// Whether the end of the run says what this process has noticed as a member of the container of `openContainer`.
    package var explainsDiagnostics = false

    /// Parses the arguments, runs `body` and ends the process with the status that it returns. A closed output pipe
    /// ends the process with status 0, without a message. `own` completes arguments that only this program has. A
    /// program that was built without one of the `traits` prints its help, its version and its manual page, and ends
    /// with 69 otherwise.
    package static func main(
        _ specification: CommandSpecification, needing traits: [PackageTrait] = [],
        completing own: (CompletionPoint) -> [String]? = { _ in nil },
        _ body: (inout CommandRun) throws -> ExitStatus
    ) -> Never {
        ignoreBrokenPipe()
        prepareProcess()
        StopRequest.stopAfterWork()
        SeparateTable.spare()
        let words = RawArguments.current()
        var report = ErrorReport(
            program: specification.name, isJSON: ArgumentParser.mentions("json", in: words),
            isQuiet: ArgumentParser(specification).mentions(flag: "quiet", in: words))
        // `--manual-page` is not in the help; docs/reference/man and what tools/install installs are made with it.
        if words == [Array("--manual-page".utf8)] {
            report.end(
                printing: ManualPage(of: specification, version: GroupContainerVersion.package).rendered())
        }
        if words.first == Array(Completions.question.utf8) {
            let point = CompletionPoint(specification, words: Array(words.dropFirst()))
            report.end(printing: CompletionAnswer(point).lines(own: own).map { $0 + "\n" }.joined())
        }
        for shell in Completions.Shell.allCases
        where
            [["--completions=\(shell.rawValue)"], ["--completions", shell.rawValue]].contains(
                words.map { String(decoding: $0, as: UTF8.self) })
        {
            report.end(printing: Completions(of: specification).rendered(for: shell))
        }
        do {
            switch try ArgumentParser(specification).parse(words) {
            case .help(let text):
                let isPaged = specification.options.contains(Pager.option)
                let pager = Pager.start(isWanted: isPaged && !ArgumentParser.mentions("no-pager", in: words))
                guard let pager else { report.end(printing: text) }
                var output = StandardOutput()
                try? output.write(Array(text.utf8))
                try? output.flush()
                try pager.finish()
                exitProcess(ExitStatus.success.rawValue)
            case .version:
                report.end(
                    printing:
                        "\(specification.name) \(GroupContainerVersion.package) (format \(GroupContainerVersion.format))\n"
                )
            case .run(let arguments):
                report.isQuiet = arguments.flag("quiet")
                if let missing = PackageTrait.missing(of: traits) { throw missing }
                var run = CommandRun(
                    arguments: arguments, options: try CommonOptions(arguments, program: specification.name))
                let status: ExitStatus
                do {
                    status = try body(&run)
                } catch {
                    // Output that was produced before the error is still written.
                    try? run.output.flush()
                    run.explainDiagnostics()
                    throw run.advised(error)
                }
                try run.output.flush()
                run.explainDiagnostics()
                // A shell ends its loop only if the interrupt has ended the program.
                if TerminationSignals.last == Signal.interrupt.rawValue && status == .signal(Signal.interrupt.rawValue)
                {
                    TerminationSignals.endByInterrupt()
                }
                exitProcess(status.rawValue)
            }
        } catch {
            exitProcess(report.print(GroupArgument.explained(error)).rawValue)
        }
    }

    /// How long to wait for a lock: --timeout, else 30 s.
    package var lockTimeout: Duration { options.timeout ?? .seconds(30) }

    /// The shortest time to wait while other processes open the container, even if --timeout allows one try only: they
    /// need milliseconds.
    private static let leastOpeningTimeout = Duration.seconds(1)

    /// Opens the container that the GROUP argument names. Waits while other processes open it, up to --timeout, or a
    /// second if --timeout is shorter.
    package func openContainer() throws -> Container {
        guard let group = arguments.positional("GROUP") else { throw arguments.usageError("GROUP is missing") }
        do throws(CoordinationError) {
            let container = try Container(named: group, timeout: max(lockTimeout, Self.leastOpeningTimeout))
            if let question = environmentValue(AnsweredQuestion.variable), !question.isEmpty {
                try AnsweredQuestion.answerInThisProcess(question, in: container)
            }
            if explainsDiagnostics { return use(container) }
            opened.withLock { $0 = container }
            return container
        } catch {
            throw error.code == .notFound ? explained(error, group) : error
        }
    }

    /// Returns a container that the program has opened by itself. The end of the run says what this process has noticed
    /// as a member of it, as for that of `openContainer`.
    package func use(_ container: Container) -> Container {
        opened.withLock { $0 = container }
        diagnostics.withLock { events in
            if events == nil { events = container.followDiagnostics() }
        }
        return container
    }

    /// Replaces the error's remedy if the argument after GROUP is a container: then the two arguments were probably
    /// swapped.
    private func explained(_ error: CoordinationError, _ group: [UInt8]) -> CoordinationError {
        var error = error
        if let other = arguments.positionals.dropFirst().first, other.contains(UInt8(ascii: "/")),
            (try? FileDescriptor.open(path: other + Array("/.group".utf8), [.pathOnly, .directory])) != nil
        {
            let words = arguments.commandPath + [PipeText.escaped(other), PipeText.escaped(group)]
            error.remedy = .ofCommand("GROUP comes first: \(words.joined(separator: " "))")
        }
        return error
    }

    /// Adds to the system's error about an item that is not there that there is one of almost the same path.
    private func advised(_ error: any Error) -> any Error {
        guard var known = error as? CoordinationError, known.remedy?.code == .checkPath, let item = known.item,
            let other = opened.withLock(\.self)?.nearMiss(of: Array(item.utf8))
        else { return error }
        known.remedy = .ofCommand(other)
        return known
    }

    /// Says, for each pattern that includes items, if it probably waits for changes in vain.
    package func explainDoubts(of patterns: [[UInt8]], in container: Container) {
        for pattern in patterns {
            if let doubt = container.doubt(ofPattern: pattern, among: patterns) { remark(doubt) }
        }
    }

    /// Returns the item that the PATH argument names.
    package func itemPath(_ name: String = "PATH") throws(UsageError) -> ItemPath {
        guard let path = arguments.positional(name) else { throw arguments.usageError("\(name) is missing") }
        return ItemPath(bytes: path)
    }

    /// Prints a line on standard error, with --verbose.
    package func explain(_ line: String) {
        if options.isVerbose { printError(line) }
    }

    /// Describes the lock that the command waits for, and who holds it; nil where it waits for none.
    var awaitedLock: @Sendable () -> String? {
        { [opened] in
            guard let (item, holder) = opened.withLock(\.self)?.awaitedLock() else { return nil }
            let command = holder.command.map { ": \($0)" } ?? ""
            return "waiting for \(item), held by \(holder.purpose) (\(holder.processIdentifier))\(command)"
        }
    }

    /// Prints what this process has noticed as a member, on standard error: with --verbose all of it, otherwise only
    /// once for each presenter that it did not answer, because the content that was read may be old.
    private func explainDiagnostics() {
        var said: Set<String> = []
        while let event = diagnostics.withLock({ $0?.next(timeout: .zero) }) {
            if options.isVerbose {
                explain("\(event.code.rawValue): \(event)")
            } else if event.code == .presenterUnresponsive, said.insert("\(event)").inserted {
                complain("\(event)", .presenterUnresponsive)
            }
        }
    }

    /// Says on a terminal that the command reads its standard input from there, before it waits for that.
    package func explainTerminalInput() {
        if StandardOutput.isTerminalForInput && StandardOutput.isTerminalForErrors && !options.isQuiet {
            printError("reading the content from this terminal; Ctrl-D at the beginning of a line ends it")
        }
    }

    /// Whether a person reads standard error, so that a line that scripts do not need is worth printing.
    package var hasReaderOfRemarks: Bool {
        StandardOutput.isTerminalForErrors && !options.isQuiet && !options.isJSON
    }

    /// Says which directories of what was removed are left in staging.
    package func complainAboutLeftovers() {
        for left in opened.withLock(\.self)?.takeLeftInStaging() ?? [] { complain(left) }
    }

    /// Prints a line on standard error, unless --quiet is set.
    package func remark(_ line: String) {
        if !options.isQuiet { printError("\(arguments.commandPath.first ?? ""): \(line)") }
    }

    /// Reports on standard error, unless --quiet is set, a failure that is not thrown: in a line, with --json in an
    /// object with this code.
    package func complain(_ line: String, _ code: CoordinationError.Code? = nil) {
        if !options.isJSON { return remark(line) }
        complain(of: Complaint(code: code?.rawValue, description: line))
    }

    /// The form of `complain` for an error.
    package func complain(of error: any Error) {
        if !options.isJSON { return remark(message(of: error)) }
        if !options.isQuiet { printLine(ErrorReport.object(error).encoded()) }
    }

    private func printError(_ line: String) {
        printLine(TerminalText.message(line, isForTerminal: StandardOutput.isTerminalForErrors))
    }

    private func printLine(_ line: String) {
        var errors = StandardOutput(descriptor: 2)
        try? errors.writeLine(line)
        try? errors.flush()
    }
}
