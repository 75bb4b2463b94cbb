package import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// One run of a command: its arguments, its output, and the way its errors reach people and scripts.
package struct CommandRun: ~Copyable {
    package let arguments: ParsedArguments
    package let options: CommonOptions
    package var output = StandardOutput()

    /// Parses, runs `body` and ends the process with its status. A closed output pipe ends it quietly, with 0.
    package static func main(
        _ specification: CommandSpecification, completing own: (CompletionPoint) -> [String]? = { _ in nil },
        _ body: (inout CommandRun) throws -> ExitStatus
    ) -> Never {
        ignoreBrokenPipe()
        prepareProcess()
        let words = RawArguments.current()
        var report = ErrorReport(
            program: specification.name, isJSON: ArgumentParser.mentions("json", in: words),
            isQuiet: ArgumentParser.mentions("quiet", in: words))
        // Not in the help: docs/man is made of it, and what tools/install installs.
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
            case .help(let text): report.end(printing: text)
            case .version:
                report.end(
                    printing:
                        "\(specification.name) \(GroupContainerVersion.package) (format \(GroupContainerVersion.format))\n"
                )
            case .run(let arguments):
                report.isQuiet = arguments.flag("quiet")
                var run = CommandRun(
                    arguments: arguments, options: try CommonOptions(arguments, program: specification.name))
                let status: ExitStatus
                do {
                    status = try body(&run)
                } catch {
                    // What was already said stays said.
                    try? run.output.flush()
                    throw error
                }
                try run.output.flush()
                exitProcess(status.rawValue)
            }
        } catch {
            exitProcess(report.tell(error).rawValue)
        }
    }

    /// How long to wait for a lock: --timeout, else 30 s.
    package var lockTimeout: Duration { options.timeout ?? .seconds(30) }

    /// Even where --timeout allows one try: others that open the container take milliseconds.
    private static let leastOpeningTimeout = Duration.seconds(1)

    /// The container that the GROUP argument names. Waits for others that open it as long as --timeout says, and a
    /// second at least.
    package func openContainer() throws -> Container {
        guard let group = arguments.positional("GROUP") else { throw arguments.usageError("GROUP is missing") }
        do throws(CoordinationError) {
            return try Container(named: group, timeout: max(lockTimeout, Self.leastOpeningTimeout))
        } catch {
            throw error.code == .notFound ? inOrder(error, group) : error
        }
    }

    /// Where the word behind GROUP is a container, they were confused.
    private func inOrder(_ error: CoordinationError, _ group: [UInt8]) -> CoordinationError {
        guard let other = arguments.positional("PATH"), other.contains(UInt8(ascii: "/")),
            (try? FileDescriptor.open(path: other + Array("/.group".utf8), [.placeOnly, .directory])) != nil
        else { return error }
        var error = error
        let words = arguments.commandPath + [PipeText.escaped(other), PipeText.escaped(group)]
        error.advice = "GROUP comes first: \(words.joined(separator: " "))"
        return error
    }

    /// The item that the PATH argument names.
    package func itemPath(_ name: String = "PATH") throws(UsageError) -> ItemPath {
        guard let path = arguments.positional(name) else { throw arguments.usageError("\(name) is missing") }
        return ItemPath(bytes: path)
    }

    /// A line for people who asked for --verbose.
    package func explain(_ line: String) {
        if options.isVerbose { say(line) }
    }

    /// A line about what went wrong where the run goes on, or ends with a status that is not its own.
    package func complain(_ line: String) {
        if !options.isQuiet { say("\(arguments.commandPath.first ?? ""): \(line)") }
    }

    private func say(_ line: String) {
        var errors = StandardOutput(descriptor: 2)
        try? errors.writeLine(line)
        try? errors.flush()
    }
}
