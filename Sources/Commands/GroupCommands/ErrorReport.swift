package import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// The report of an error: a sentence or a JSON object on standard error, and an exit status.
package struct ErrorReport {
    let program: String
    let isJSON: Bool
    var isQuiet: Bool

    func print(_ error: any Error) -> ExitStatus {
        switch error as? OutputError {
        case .closedPipe?: return .success
        case .interrupted(let signal)?: return .signal(signal)
        default: break
        }
        if !isQuiet {
            var errors = StandardOutput(descriptor: 2)
            try? errors.writeLine(
                isJSON
                    ? Self.object(error).encoded()
                    : TerminalText.message(
                        "\(program): \(message(of: error))", isForTerminal: StandardOutput.isTerminalForErrors))
            try? errors.flush()
        }
        return status(error)
    }

    func end(printing text: String) -> Never {
        var output = StandardOutput()
        do {
            try output.write(Array(text.utf8))
            try output.flush()
        } catch {
            exitProcess(print(error).rawValue)
        }
        exitProcess(ExitStatus.success.rawValue)
    }

    private func status(_ error: any Error) -> ExitStatus {
        switch error {
        case is UsageError: .usage
        case is OutputError: .inputOutput
        case let error as InputError:
            if case .tooLarge = error { .failure } else { .inputOutput }
        case let error as CoordinationError:
            switch error.code {
            case .invalidArgument: .usage
            case .notFound: .notFound
            case .outsideContainer, .notPermitted: .notPermitted
            case .lockTimedOut, .deadlock: .lockTimedOut
            case .conflict: .conflict
            case .damaged, .newerFormat, .olderFormat, .invalidContent: .damaged
            case .unsupportedFileSystem: .unsupported
            case .unavailable: .unavailable
            case .unknown: .unknown
            case .noSpace, .inputOutput, .notDurable, .unfinished: .inputOutput
            default: .failure
            }
        default: .failure
        }
    }

    /// Returns an error as `--json` prints it.
    package static func object(_ error: any Error) -> JSONValue {
        let known = error as? CoordinationError
        let code: String =
            switch error {
            case is UsageError: "usage"
            case is OutputError, is InputError: "inputOutput"
            case let complaint as Complaint: complaint.code ?? "failed"
            default: known?.code.rawValue ?? "failed"
            }
        let text = { (text: String?) in text.map(JSONValue.string) ?? .null }
        let fields: [(String, JSONValue)] = [
            ("code", .string(code)), ("item", text(known?.item)), ("container", text(known?.containerPath)),
            ("operation", text(known?.operation)), ("cause", .string(known?.reason ?? "\(error)")),
            ("advice", text(known.flatMap { hint(for: $0) ?? $0.remedy?.text })),
            ("remedy", text(known?.remedy?.code.rawValue)),
            ("generation", known?.generation.map { .unsigned($0.rawValue) } ?? .null),
            ("pendingOperation", text(known?.pendingOperation)),
            ("holders", .array((known?.holders ?? []).map(object))),
        ]
        return .object(fields)
    }

    /// Returns a process that is in the way as `--json` prints it.
    package static func object(_ holder: CoordinationError.Holder) -> JSONValue {
        .object([
            ("pid", .integer(Int64(holder.processIdentifier))), ("purpose", .string(holder.purpose)),
            ("since", .string(Timestamp.text(holder.sinceNanoseconds))), ("item", .string(holder.item)),
            ("mode", .string(holder.isWriting ? "writing" : "reading")),
            ("command", holder.command.map(JSONValue.string) ?? .null),
            ("condition", holder.condition.map { .string($0.rawValue) } ?? .null),
            ("pidNamespace", holder.pidNamespace.map(JSONValue.unsigned) ?? .null),
        ])
    }
}

/// A failure that a command reports in its own words, and does not throw.
package struct Complaint: Error, CustomStringConvertible {
    /// One of the codes of `CoordinationError`, where one fits.
    let code: String?
    package let description: String

    /// Creates a failure; without a code it is `failed`.
    package init(code: String? = nil, description: String) {
        self.code = code
        self.description = description
    }
}
