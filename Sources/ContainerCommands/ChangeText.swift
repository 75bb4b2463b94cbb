package import CommandLineKit
package import GroupContainer

/// A change as a line: for a pipe, for a program, for a person.
package struct ChangeText: Sendable {
    /// The forms that a line can have.
    package enum Form: Sendable {
        /// `KIND<TAB>PATH[<TAB>FROM]`
        case pipe
        case json
        case terminal(TerminalText)
    }

    private let form: Form

    package init(_ form: Form) { self.form = form }

    /// What suits the options and where the output goes.
    package init(_ options: CommonOptions) {
        let terminal = TerminalText(options.color)
        form = options.isJSON ? .json : terminal.isColored || StandardOutput.isTerminal ? .terminal(terminal) : .pipe
    }

    package func line(_ change: Change) -> String {
        switch form {
        case .pipe: pipe(change)
        case .json: json(change).encoded()
        case .terminal(let text): human(change, text)
        }
    }

    private func pipe(_ change: Change) -> String {
        var fields = [change.kind.name, PipeText.escaped(change.path.bytes)]
        if let from = change.kind.otherPath { fields.append(PipeText.escaped(from.bytes)) }
        if case .degraded(let reason) = change.kind { fields.append(PipeText.escaped(Array(reason.utf8))) }
        return fields.joined(separator: "\t")
    }

    private func json(_ change: Change) -> JSONValue {
        let path = change.path.bytes
        var fields: [(String, JSONValue)] = [
            ("sequence", .unsigned(change.sequence)),
            ("cursor", .string(change.cursor.description)),
            ("kind", .string(change.kind.name)),
            ("path", .string(PipeText.lossyString(path))),
        ]
        if path.validText == nil { fields.append(("pathBytes", .string(Base64.encoded(path)))) }
        fields.append(("from", change.kind.otherPath.map { .string(PipeText.lossyString($0.bytes)) } ?? .null))
        if let from = change.kind.otherPath, from.bytes.validText == nil {
            fields.append(("fromBytes", .string(Base64.encoded(from.bytes))))
        }
        fields += [
            ("type", change.type.map { .string(Self.name($0)) } ?? .null),
            ("size", change.size.map(JSONValue.unsigned) ?? .null),
            ("generation", .unsigned(change.generation)),
            ("transaction", change.transaction.map(json) ?? .null),
            ("coordinated", .bool(change.isCoordinated)),
            (
                "by",
                change.by.map { by in
                    .object([("pid", .integer(Int64(by.processIdentifier))), ("purpose", .string(by.purpose))])
                } ?? .null
            ),
            ("time", .string(Timestamp.text(change.time))),
        ]
        if case .degraded(let reason) = change.kind { fields.append(("reason", .string(reason))) }
        return .object(fields)
    }

    private func json(_ transaction: Change.Transaction) -> JSONValue {
        .object([
            ("id", .string(transaction.identifier)), ("index", .integer(Int64(transaction.index))),
            ("count", .integer(Int64(transaction.count))),
        ])
    }

    /// Before each change of a transaction, so that one sees what belongs together; nothing before others.
    private func bar(_ change: Change) -> String {
        guard let transaction = change.transaction, transaction.count > 1 else { return "" }
        if transaction.index == 0 { return "┌ " }
        return transaction.index + 1 < transaction.count ? "│ " : "└ "
    }

    private func human(_ change: Change, _ text: TerminalText) -> String {
        let role: TerminalText.Role =
            switch change.kind {
            case .created: .created
            case .modified: .modified
            case .removed: .removed
            case .moved, .exchanged: .moved
            case .touched, .present, .bookmark: .faint
            case .rescan, .degraded: .error
            }
        let kind = change.kind.name
        let padding = String(repeating: " ", count: max(1, 9 - kind.count))
        let time = text.styled(Timestamp.ofDay(change.time), as: .faint)
        var line = time + "  " + bar(change) + text.styled(kind, as: role) + padding
        if case .rescan = change.kind { return line + "the place was lost: compare everything" }
        if case .degraded(let reason) = change.kind {
            return line + PipeText.escaped(change.path.bytes) + "  " + reason
        }
        if let other = change.kind.otherPath {
            if case .moved = change.kind { line += PipeText.escaped(other.bytes) + " → " }
            if case .exchanged = change.kind { line += PipeText.escaped(other.bytes) + " ↔ " }
        }
        line += PipeText.escaped(change.path.bytes)
        let who = change.by.map { "\($0.purpose) (\($0.processIdentifier))" } ?? "uncoordinated"
        return line + "  " + text.styled(who, as: .faint)
    }

    /// The word for an item's type.
    package static func name(_ type: ItemType) -> String {
        switch type {
        case .file: "file"
        case .folder: "folder"
        case .link: "link"
        case .other: "other"
        }
    }
}
