import GroupBytes
import GroupCommandLine
package import GroupContainer
import GroupSystemCalls

/// The format of `--format`: inotifywait's sequences, and some of this package. A format is parsed once; an error names
/// its position.
package struct LineFormat: Equatable, Sendable {
    enum Part: Equatable, Sendable {
        case literal([UInt8])
        case directory, name, oldPath, time, cookie, sequence, cursor, process, purpose
        /// The words for what happened, joined by `separator`.
        case events(separator: UInt8)
    }

    let parts: [Part]
    /// Whether the format itself ends the line.
    let endsLine: Bool
    private let timeFormat: [UInt8]?

    /// The error in a format.
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case unknown(sequence: [UInt8], position: Int)
        case incomplete(position: Int)
        case timeTooLong

        package var description: String {
            switch self {
            case .unknown(let sequence, let position):
                "'%\(PipeText.escaped(sequence))' at character \(position) is unknown; the known sequences are %w %f %o %e %Xe %T %c %q %C %p %u %0 %n %%"
            case .incomplete(let position): "the '%' at character \(position) is incomplete; '%%' prints a '%'"
            case .timeTooLong:
                "a time in the format of --timefmt has \(LineFormat.longestTime) bytes or more; shorten it"
            }
        }
    }

    /// The longest time, in bytes, when a format is parsed. Other days have longer names, for which there is room.
    fileprivate static let longestTime = 16_384

    private static let simple: [UInt8: Part] = [
        UInt8(ascii: "w"): .directory, UInt8(ascii: "f"): .name, UInt8(ascii: "o"): .oldPath,
        UInt8(ascii: "e"): .events(separator: UInt8(ascii: ",")), UInt8(ascii: "T"): .time,
        UInt8(ascii: "c"): .cookie, UInt8(ascii: "q"): .sequence, UInt8(ascii: "C"): .cursor,
        UInt8(ascii: "p"): .process, UInt8(ascii: "u"): .purpose, UInt8(ascii: "%"): .literal([UInt8(ascii: "%")]),
        UInt8(ascii: "0"): .literal([0]), UInt8(ascii: "n"): .literal([0x0A]),
    ]

    /// Parses a format. `timeFormat` is strftime(3)'s, for `%T`; without it, `%T` is as in `--json`.
    package init(_ format: [UInt8], timeFormat: [UInt8]? = nil) throws(Fault) {
        var parts: [Part] = []
        var (position, endsLine) = (0, false)
        while position < format.count {
            let start = position
            position += 1
            endsLine = false
            guard format[start] == UInt8(ascii: "%") else {
                parts.append(.literal([format[start]]))
                continue
            }
            guard position < format.count else { throw .incomplete(position: start + 1) }
            let letter = format[position]
            position += 1
            if let part = Self.simple[letter] {
                parts.append(part)
                endsLine = letter == UInt8(ascii: "0") || letter == UInt8(ascii: "n")
            } else if position < format.count && format[position] == UInt8(ascii: "e") {
                parts.append(.events(separator: letter))
                position += 1
            } else {
                throw .unknown(sequence: [letter], position: start + 1)
            }
        }
        if let timeFormat, parts.contains(.time),
            localTime(timeFormat, secondsSince1970: 0, limit: Self.longestTime) == nil
        {
            throw .timeTooLong
        }
        self.parts = parts
        self.timeFormat = timeFormat
        self.endsLine = endsLine
    }

    /// Returns the line, with its end: a newline, unless the format ends with `%0` or `%n`. Names are written
    /// unescaped, but escaped on a terminal.
    package func line(_ change: Change, isForTerminal: Bool = false) -> [UInt8] {
        var line: [UInt8] = []
        for part in parts { append(part, of: change, isForTerminal, to: &line) }
        return endsLine ? line : line + [0x0A]
    }

    private func append(_ part: Part, of change: Change, _ isForTerminal: Bool, to line: inout [UInt8]) {
        let shown = { (bytes: [UInt8]) in isForTerminal ? Array(TerminalName.shown(bytes).utf8) : bytes }
        let path = change.path.bytes
        let name = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        switch part {
        case .literal(let bytes): line += bytes
        case .directory: line += shown(Array(path[..<name]))
        case .name: line += shown(Array(path[name...]))
        case .oldPath: line += shown(change.kind.otherPath?.bytes ?? [])
        case .events(let separator):
            line += Array(Self.events(of: change).joined(separator: [separator]))
        case .time:
            guard let nanoseconds = change.shownNanoseconds else {
                line += "-".utf8
                return
            }
            if let timeFormat {
                line += localTime(timeFormat, secondsSince1970: Timestamp.seconds(nanoseconds)) ?? []
            } else {
                line += Timestamp.text(nanoseconds).utf8
            }
        case .cookie: line += String(change.kind.otherPath == nil ? 0 : change.sequence.rawValue, radix: 16).utf8
        case .sequence: line += String(change.sequence.rawValue).utf8
        case .cursor: line += change.cursor.description.utf8
        case .process: line += String(change.author?.processIdentifier ?? 0).utf8
        case .purpose: line += shown(Array((change.author?.purpose ?? "").utf8))
        }
    }

    /// Returns inotify's words for a change, or this package's where inotify has none. A move is one line, at its new
    /// place.
    static func events(of change: Change) -> [[UInt8]] {
        let word =
            switch change.kind {
            case .created: "CREATE"
            case .modified: "MODIFY"
            case .removed: "DELETE"
            case .moved: "MOVED_TO"
            case .touched: "ATTRIB"
            case .exchanged, .present, .bookmark, .rescan, .degraded: change.kind.name.uppercased()
            }
        let isDirectory = change.type == .directory || (change.type == nil && change.concernedDirectory)
        return [Array(word.utf8)] + (isDirectory ? [Array("ISDIR".utf8)] : [])
    }
}
