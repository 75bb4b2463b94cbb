import GroupBytes
package import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The user's pager, which shows what is longer than a terminal, as git uses one.
package struct Pager: ~Copyable {
    private let command: String
    private let signals: TerminationSignals
    private var process: CommandProcess
    private let terminal: FileDescriptor

    /// The option that leaves it out.
    package static let option = OptionSpecification.flag(
        "no-pager", heading: OptionSpecification.commonHeading, help: "Print long output on a terminal without a pager."
    )

    package static let environment = [
        HelpEntry(
            "GROUPCTL_PAGER, PAGER",
            "The pager for long output on a terminal, a line for sh(1); otherwise less with the options -FRX. If it is empty or cat, there is none."
        )
    ]

    /// Starts the pager: what is written to standard output goes to it, until `finish`. Returns nil where there is none,
    /// or standard output is no terminal. The keys of the terminal are the pager's.
    static func start(isWanted: Bool) -> Pager? {
        let isDumb = ["", "dumb"].contains(environmentValue("TERM") ?? "")
        guard isWanted, StandardOutput.isTerminal, !isDumb, let command else { return nil }
        // The user's own options for less take precedence, but colors are to be seen as such.
        let options = environmentValue("LESS").map { "-R \($0)" } ?? "FRX"
        do throws(Errno) {
            let pipe = try FileDescriptor.pipe()
            let signals = TerminationSignals(leavingKeysToChild: ())
            let process = try CommandProcess(
                ["sh", "-c", command].map { Array($0.utf8) }, input: pipe.reading.number,
                variables: [("LESS", Array(options.utf8))],
                signals)
            let terminal = try StandardStreams.redirectOutput(to: pipe.writing)
            return Pager(
                command: PipeText.lossyString(Array(command.utf8)), signals: signals, process: process,
                terminal: terminal)
        } catch {
            return nil
        }
    }

    /// Returns the command; nil where the user wants none, or where it does not exist.
    private static var command: String? {
        let chosen = ["GROUPCTL_PAGER", "PAGER"].lazy.compactMap { environmentValue($0) }.first ?? "less"
        guard let name = chosen.split(separator: " ").first, name != "cat" else { return nil }
        // A word with other characters is the shell's to understand.
        let isName = name.allSatisfy { $0.isLetter || $0.isNumber || "-_./+".contains($0) }
        return !isName || CommandStartFailure.exists(String(name)) ? chosen : nil
    }

    /// Gives standard output back, and waits until the user has ended the pager. A signal that ends this process ends
    /// the pager, too. Errors: `Complaint` if the pager could not be run, so that the output was not shown;
    /// `OutputError.interrupted`
    consuming func finish() throws {
        StandardStreams.restoreOutput(terminal)
        let status = try process.wait()
        if let signal = signals.received { throw OutputError.interrupted(signal: signal) }
        // Those of sh(1) for a command that it cannot run.
        if [126, 127].contains(status) {
            throw Complaint(description: "the pager '\(command)' could not be run; --no-pager prints without one")
        }
    }
}

extension CommandRun {
    /// Runs `body`, whose output goes to the user's pager where standard output is a terminal. That the pager is ended
    /// before the end of the output is no error.
    package mutating func paged(_ body: (inout CommandRun) throws -> Void) throws {
        guard let pager = Pager.start(isWanted: !arguments.flag("no-pager")) else { return try body(&self) }
        let outcome = Result {
            try body(&self)
            try output.flush()
        }
        try pager.finish()
        do {
            try outcome.get()
        } catch OutputError.closedPipe {}
    }
}
