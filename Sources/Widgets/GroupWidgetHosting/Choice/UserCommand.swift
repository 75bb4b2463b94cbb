// Imports nothing: no file, clock or process.

/// A command of the user: from keys, or from lines on standard input.
package enum UserCommand: Hashable, Sendable {
    /// Add to the list, or remove from it.
    case add(String), remove(String)
    case order([String])
    /// Make the widget visible, or hide it.
    case show(String), hide(String)
    case expand(String), collapse(String)
    /// Reload a kind; nil: all.
    case reload(String?)
    /// Open the widget's URL, or that of one of its lines, counted from 1.
    case open(String, line: Int?)
    /// Press the button or toggle that is one of the widget's lines, counted from 1; of a view that is drawn, with what
    /// the control was drawn to request.
    case press(String, line: Int, WidgetAction? = nil)
    /// The app comes to the front, or leaves it.
    case front(Bool)
    /// Act as if memory were short.
    case pressure
    case quit

    /// The fault of a line.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String
    }

    private static let known =
        "show, hide, expand, collapse, reload, open, press, add, remove, order, front, pressure, quit"

    /// Parses the words of a line; nil for an empty line.
    package init?(words: [String]) throws(Fault) {
        guard let verb = words.first else { return nil }
        let rest = Array(words.dropFirst())
        switch verb {
        case "show": self = .show(try Self.only(rest, verb))
        case "hide": self = .hide(try Self.only(rest, verb))
        case "expand": self = .expand(try Self.only(rest, verb))
        case "collapse": self = .collapse(try Self.only(rest, verb))
        case "add": self = .add(try Self.only(rest, verb))
        case "remove": self = .remove(try Self.only(rest, verb))
        case "reload": self = .reload(rest.isEmpty ? nil : try Self.only(rest, verb))
        case "order" where !rest.isEmpty: self = .order(rest)
        case "open": self = try Self.opening(rest)
        case "press":
            guard rest.count == 2, let line = Int(rest[1]), line > 0 else {
                throw Fault(description: "press takes a kind and the number of a line")
            }
            self = .press(rest[0], line: line)
        case "front" where rest == ["yes"] || rest == ["no"]: self = .front(rest == ["yes"])
        case "pressure" where rest.isEmpty: self = .pressure
        case "quit" where rest.isEmpty: self = .quit
        case "order": throw Fault(description: "order takes the kinds, in their order")
        case "front": throw Fault(description: "front takes yes or no")
        case "pressure", "quit": throw Fault(description: "\(verb) takes no argument")
        default: throw Fault(description: "'\(verb)' is unknown; the commands are \(Self.known)")
        }
    }

    private static func only(_ words: [String], _ verb: String) throws(Fault) -> String {
        guard words.count == 1 else { throw Fault(description: "\(verb) takes one kind") }
        return words[0]
    }

    private static func opening(_ words: [String]) throws(Fault) -> UserCommand {
        if words.count == 1 { return .open(words[0], line: nil) }
        guard words.count == 2, let line = Int(words[1]), line > 0 else {
            throw Fault(description: "open takes a kind and, optionally, the number of a line")
        }
        return .open(words[0], line: line)
    }
}
