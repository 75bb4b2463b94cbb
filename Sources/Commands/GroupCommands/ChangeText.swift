package import GroupCommandLine
package import GroupContainer
import GroupBytes
import GroupSystemCalls

/// The line of a change: for a pipe, as JSON, in a format, or for a terminal.
package struct ChangeText: Sendable {
    /// The forms of a line.
    package enum Form: Sendable {
        /// `KIND<TAB>PATH[<TAB>FROM]`; with `isNumbered`, `SEQUENCE<TAB>PART<TAB>` before it; with `hasCursor`,
        /// `CURSOR<TAB>` before all of that.
        case pipe(isNumbered: Bool, hasCursor: Bool)
        /// `TIME<TAB>AUTHOR<TAB>` and then as `pipe`.
        case history
        case json
        case format(LineFormat, isForTerminal: Bool)
        case terminal(TerminalLine)
    }

    package let form: Form

    package init(_ form: Form) { self.form = form }

    /// The options that decide how a line of a stream looks.
    package static func options(times: TimeStyle) -> [OptionSpecification] { places + formats(times: times) }

    private static let places: [OptionSpecification] = [
        .flag(
            "cursor",
            help:
                "Begin each line with a cursor and a TAB, for a reader that keeps its own place: after the line was handled, --since goes on from its cursor ('snapshot' in the middle of a snapshot). In the middle of a transaction, the cursor is the place before the transaction, which is then repeated as a whole; --sequence shows which of its lines were handled."
        ),
        .flag(
            "sequence",
            help:
                "Begin each line with its sequence number, a TAB, its index in a transaction, from 0, and a TAB. Lines can be repeated after a kill: a line was handled before if its sequence number and index are not higher than those of the last line."
        ),
    ]

    /// The options that decide how a line looks, wherever it stands.
    package static func formats(times: TimeStyle) -> [OptionSpecification] {
        [
            .value(
                "format", "STRING",
                help:
                    "Print each change in this format, with inotifywait's sequences: %w the item's directory, ending in '/' (empty at the top), %f its name, %e what happened (CREATE, MODIFY, DELETE, MOVED_TO, ATTRIB, with ISDIR for a directory), %Xe the same separated by X, %T the time, %c a number for a move, %% a '%', %0 a NUL, %n a newline; and %o the old path, %q the sequence number, %C the cursor, %p the process, %u its purpose. A newline is added unless the format ends with %0 or %n."
            ),
            .value(
                "timefmt", "STRING",
                help:
                    "The format of %T, as in strftime(3), in local time and the locale of LC_TIME. The default is the format of --json."
            ),
            TimeStyle.option(default: times),
        ]
    }

    /// Chooses the form from the options and from where the output goes. `isHistory`: lines in a pipe begin with time
    /// and author.
    package init(_ run: borrowing CommandRun, times: TimeStyle, isHistory: Bool = false) throws {
        let (arguments, options) = (run.arguments, run.options)
        let (isNumbered, hasCursor) = (arguments.flag("sequence"), arguments.flag("cursor"))
        if isNumbered || hasCursor {
            if options.isJSON || arguments.value("format") != nil {
                throw arguments.usageError(
                    isNumbered
                        ? "--sequence is for plain lines: --json has it, and --format has %q"
                        : "--cursor is for plain lines: --json has it, and --format has %C")
            }
            form = .pipe(isNumbered: isNumbered, hasCursor: hasCursor)
            return
        }
        if let format = arguments.value("format") {
            if options.isJSON { throw arguments.usageError("--format and --json exclude each other") }
            if format.isEmpty { throw arguments.usageError("--format: the format is empty") }
            if arguments.flag("timefmt") { takeLocaleOfTimes() }
            do throws(LineFormat.Fault) {
                form = .format(
                    try LineFormat(format, timeFormat: arguments.value("timefmt")),
                    isForTerminal: StandardOutput.isTerminal)
            } catch {
                throw arguments.usageError("--format: \(error)")
            }
            return
        }
        let terminal = TerminalText(options.color)
        let times = try TimeStyle.chosen(arguments, default: times)
        if options.isJSON {
            form = .json
        } else if terminal.isColored || StandardOutput.isTerminal {
            form = .terminal(TerminalLine(terminal, times: times, showsAll: !isHistory))
        } else {
            form = isHistory ? .history : .pipe(isNumbered: false, hasCursor: false)
        }
    }

    /// Returns the bytes of the line, with what ends it. `cursor` is where its follower starts again once the line is
    /// handled.
    package func line(_ change: Change, cursor: Cursor) -> [UInt8] {
        switch form {
        case .pipe(let isNumbered, let hasCursor):
            pipe(change, isNumbered: isNumbered, cursor: hasCursor ? cursor : nil)
        case .history:
            Array(
                "\(change.shownNanoseconds.map { Timestamp.text($0) } ?? "")\t\(TerminalName.writer(of: change))\t".utf8
            )
                + pipe(change, isNumbered: false, cursor: nil)
        case .json: Array((change.json.encoded() + "\n").utf8)
        case .format(let format, let isForTerminal): format.line(change, isForTerminal: isForTerminal)
        case .terminal(let text): Array((text.line(change) + "\n").utf8)
        }
    }

    private func pipe(_ change: Change, isNumbered: Bool, cursor: Cursor?) -> [UInt8] {
        let tab = UInt8(ascii: "\t")
        var line: [UInt8] = []
        line.reserveCapacity(64 + change.path.bytes.count)
        if let cursor {
            line += (cursor.isInvalid ? "snapshot" : "\(cursor)").utf8
            line.append(tab)
        }
        if isNumbered { line += "\(change.sequence)\t\(change.transaction?.index ?? 0)\t".utf8 }
        line += change.kind.name.utf8
        line.append(tab)
        PipeText.append(change.path.bytes, to: &line)
        if let from = change.kind.otherPath {
            line.append(tab)
            PipeText.append(from.bytes, to: &line)
        }
        if case .degraded(let reason) = change.kind {
            line.append(tab)
            PipeText.append(Array(reason.utf8), to: &line)
        }
        line.append(UInt8(ascii: "\n"))
        return line
    }

    /// Returns the word for an item's type.
    package static func name(_ type: ItemType) -> String {
        switch type {
        case .file: "file"
        case .directory: "directory"
        case .symbolicLink: "link"
        case .other: "other"
        }
    }
}

/// The summary of a watch on a terminal, in one line: how many changes of each kind, for how long, by which members.
package struct ChangeSummary: Sendable {
    private var kinds: [Change.Kind.Word: Int] = [:]
    private var authors: [String: Int] = [:]
    private static let mostAuthors = 4

    package init() {}

    package mutating func note(_ change: Change) {
        kinds[change.kind.word, default: 0] += 1
        if change.kind.isMarker || change.kind == .present { return }
        authors[change.author?.purpose ?? "uncoordinated", default: 0] += 1
    }

    /// Returns the line, such as `3 changes in 12 s: 2 created, 1 moved; by todo-app 2, uncoordinated 1`. `time`: in
    /// nanoseconds.
    package func line(after time: Int64) -> String {
        let changes = authors.values.reduce(0, +)
        var line = "\(changes) \(changes == 1 ? "change" : "changes") in \(Timestamp.duration(time))"
        let counts = Change.Kind.Word.allCases.compactMap { kind in kinds[kind].map { "\($0) \(kind)" } }
        if !counts.isEmpty { line += ": " + counts.joined(separator: ", ") }
        if authors.isEmpty { return line }
        let ranked = authors.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        line +=
            "; by "
            + ranked.prefix(Self.mostAuthors).map { "\(TerminalName.shown($0.key)) \($0.value)" }
            .joined(separator: ", ")
        let others = ranked.dropFirst(Self.mostAuthors).map(\.value).reduce(0, +)
        return others == 0 ? line : line + ", others \(others)"
    }
}

extension Change {
    /// The object of a line of `--json`. For a name that is not UTF-8, the object also holds its bytes.
    package var json: JSONValue {
        var fields: [(String, JSONValue)] = [
            ("sequence", .unsigned(sequence.rawValue)), ("cursor", .string(cursor.description)),
            ("kind", .string(kind.name)),
            ("path", .string(PipeText.lossyString(path.bytes))),
        ]
        if path.bytes.validText == nil { fields.append(("pathBytes", .string(Base64.encoded(path.bytes)))) }
        fields.append(("from", kind.otherPath.map { .string(PipeText.lossyString($0.bytes)) } ?? .null))
        if let from = kind.otherPath, from.bytes.validText == nil {
            fields.append(("fromBytes", .string(Base64.encoded(from.bytes))))
        }
        fields += [
            ("type", type.map { .string(ChangeText.name($0)) } ?? .null),
            ("size", size.map(JSONValue.unsigned) ?? .null),
            ("generation", .unsigned(generation.rawValue)), ("transaction", transaction.map(\.json) ?? .null),
            ("coordinated", .bool(isCoordinated)), ("by", author.map(\.json) ?? .null),
            ("time", shownNanoseconds.map { .string(Timestamp.text($0)) } ?? .null),
        ]
        if case .degraded(let reason) = kind { fields.append(("reason", .string(reason))) }
        return .object(fields)
    }
}

extension Change.Author {
    /// The object with the process and its purpose.
    package var json: JSONValue {
        .object([("pid", .integer(Int64(processIdentifier))), ("purpose", .string(purpose))])
    }
}

extension Change.Transaction {
    fileprivate var json: JSONValue {
        .object([
            ("id", .string(identifier)), ("index", .integer(Int64(index))), ("count", .integer(Int64(count))),
        ])
    }
}
