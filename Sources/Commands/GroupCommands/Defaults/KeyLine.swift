import GroupBytes
package import GroupCommandLine
package import GroupContainer

/// A line of `watch-group --defaults`.
package struct KeyLine: Sendable {
    /// The kinds of lines.
    package enum Kind: String, CaseIterable, Sendable {
        case set
        case removed
        case cleared
        case present
        case rescan
        case degraded
        /// The end of a snapshot; the line has no key.
        case bookmark

        /// Whether the line is printed whatever the filter: a reader without these lines would take incomplete data for
        /// complete.
        package var isMarker: Bool { [.rescan, .degraded, .bookmark].contains(self) }
    }

    package let kind: Kind
    package let change: DefaultsChange

    package init(_ change: DefaultsChange) {
        self.change = change
        kind =
            switch change.kind {
            case .set: .set
            case .removed: .removed
            case .cleared: .cleared
            case .present: .present
            case .rescan: .rescan
            case .degraded: .degraded
            }
    }

    /// Returns the line that marks that everything up to a position was printed.
    package static func bookmark(_ suite: String, at cursor: Cursor) -> KeyLine {
        // The change has no meaning but its suite and its cursor.
        let change = DefaultsChange(
            kind: .present, suite: suite, key: "", oldValue: nil, newValue: nil,
            generation: Generation(rawValue: cursor.sequence.rawValue),
            cursor: cursor, author: nil, timeNanoseconds: 0, part: 0, parts: 1)
        return KeyLine(.bookmark, change)
    }

    private init(_ kind: Kind, _ change: DefaultsChange) { (self.kind, self.change) = (kind, change) }

    /// The reason why a value that was set is lost.
    package var reason: String? {
        if case .degraded(let reason) = change.kind { reason } else { nil }
    }

    /// The object of a line of `--json`.
    package var json: JSONValue {
        let transaction: JSONValue =
            change.parts < 2
            ? .null
            : .object([
                ("id", .string("\(change.generation)")), ("index", .integer(Int64(change.part))),
                ("count", .integer(Int64(change.parts))),
            ])
        let fields: [(String, JSONValue)] = [
            ("sequence", .unsigned(change.generation.rawValue)), ("cursor", .string(change.cursor.description)),
            ("kind", .string(kind.rawValue)), ("suite", .string(change.suite)),
            ("key", change.key.isEmpty && (kind.isMarker || kind == .cleared) ? .null : .string(change.key)),
            ("type", (change.newValue ?? change.oldValue).map { .string($0.typeName) } ?? .null),
            ("old", Self.json(change.oldValue)), ("new", Self.json(change.newValue)), ("transaction", transaction),
            (
                "by",
                change.author.map {
                    .object([("pid", .integer(Int64($0.processIdentifier))), ("purpose", .string($0.purpose))])
                } ?? .null
            ),
            ("time", change.timeNanoseconds == 0 ? .null : .string(Timestamp.text(change.timeNanoseconds))),
        ]
        return .object(fields + (reason.map { [("reason", .string($0))] } ?? []))
    }

    /// Returns null if nothing is set, or if the value has no form in JSON.
    private static func json(_ value: DefaultsValue?) -> JSONValue {
        guard let value, let json = try? value.json() else { return .null }
        return json
    }
}

/// The filter for changes of keys.
package struct KeyFilter: Sendable {
    private var patterns = ChangeFilter()
    private var kinds: Set<KeyLine.Kind>?

    /// Creates a filter from `--include`, `--exclude`, `--kind` and `--exclude-purpose`.
    package init(_ arguments: ParsedArguments) throws(UsageError) {
        try FilterOptions.addPatterns(arguments, to: &patterns)
        for word in FilterOptions.kindWords(arguments) {
            guard let kind = word.validText.flatMap(KeyLine.Kind.init) else {
                let known = KeyLine.Kind.allCases.map(\.rawValue).joined(separator: ", ")
                throw arguments.usageError(
                    "--kind: '\(PipeText.escaped(word))' is not a kind; with --defaults, the kinds are \(known)")
            }
            kinds = (kinds ?? []).union([kind])
        }
    }

    /// Returns whether a line is to be printed. A line about the whole suite concerns every key.
    package func wants(_ line: KeyLine) -> Bool {
        if line.kind.isMarker { return true }
        if let kinds, !kinds.contains(line.kind) { return false }
        if let author = line.change.author, patterns.excludedPurposes.contains(author.purpose) { return false }
        return line.kind == .cleared || patterns.matches(ItemPath(bytes: Array(line.change.key.utf8)))
    }
}
