package import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The report of an error: a sentence or a JSON object on standard error, and an exit status.
package struct ErrorReport {
    let program: String
    let isJSON: Bool
    var isQuiet: Bool

    func tell(_ error: any Error) -> ExitStatus {
        if case OutputError.closedPipe? = error as? OutputError { return .success }
        if !isQuiet {
            var errors = StandardOutput(descriptor: 2)
            try? errors.writeLine(isJSON ? Self.object(error).encoded() : "\(program): \(error)")
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
            exitProcess(tell(error).rawValue)
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
            case .lockTimedOut: .lockTimedOut
            case .conflict: .conflict
            case .damaged, .newerFormat, .olderFormat, .invalidContent: .damaged
            case .unsupportedFileSystem: .unsupported
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
            default: known?.code.rawValue ?? "failed"
            }
        return .object([
            ("code", .string(code)),
            ("item", known?.item.map(JSONValue.string) ?? .null),
            ("operation", known.map { .string($0.operation) } ?? .null),
            ("cause", .string(known?.cause ?? "\(error)")),
            ("advice", known?.advice.map(JSONValue.string) ?? .null),
            ("generation", known?.generation.map(JSONValue.unsigned) ?? .null),
            (
                "holders",
                .array(
                    (known?.holders ?? []).map { holder in
                        .object([
                            ("pid", .integer(Int64(holder.processIdentifier))), ("purpose", .string(holder.purpose)),
                            ("since", .string(Timestamp.text(holder.since))), ("item", .string(holder.item)),
                            ("mode", .string(holder.isWriting ? "writing" : "reading")),
                            ("command", holder.command.map(JSONValue.string) ?? .null),
                            ("condition", holder.condition.map { .string($0.rawValue) } ?? .null),
                            ("pidNamespace", holder.pidNamespace.map(JSONValue.unsigned) ?? .null),
                        ])
                    })
            ),
        ])
    }
}
