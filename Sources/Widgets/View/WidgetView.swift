public import FoundationEssentials

/// What a host draws of a widget: lines of text. It says what is meant, not how it looks, so a terminal, a bar and a
/// plain log can each show it in their own way.
public struct WidgetView: Codable, Hashable, Sendable {
    /// How important a line is.
    public enum Style: String, Codable, Hashable, Sendable {
        case normal, prominent, secondary, good, warning
    }

    /// One line of it. Control characters in its text are shown as what they are, never carried out.
    public struct Line: Codable, Hashable, Sendable {
        /// What it says.
        public var text: String
        /// What it means.
        public var style: Style
        /// What is opened when somebody chooses this line.
        public var url: String?
        /// The time that is left until then is shown behind the text, and counts on without a refresh.
        public var countdown: Date?

        /// Plain text, unless told.
        public init(_ text: String, _ style: Style = .normal, url: String? = nil, countdown: Date? = nil) {
            (self.text, self.style, self.url, self.countdown) = (text, style, url, countdown)
        }
    }

    /// Above the lines; the widget's name, unless it says otherwise.
    public var title: String?
    /// From top to bottom.
    public var lines: [Line]
    /// What is opened when somebody chooses the widget as a whole.
    public var url: String?
    /// How much room it would like; by its lines, unless it says otherwise.
    public var preferredSize: WidgetSize?

    /// Without a title, the widget's name is shown.
    public init(title: String? = nil, lines: [Line], url: String? = nil, preferredSize: WidgetSize? = nil) {
        (self.title, self.lines, self.url, self.preferredSize) = (title, lines, url, preferredSize)
    }
}

/// A snapshot that a host can show.
public protocol WidgetContent: Codable, Sendable {
    /// The same for the same snapshot.
    var view: WidgetView { get }
}

extension WidgetView: WidgetContent {
    /// Itself.
    public var view: WidgetView { self }
}

extension String: WidgetContent {
    /// A line for each of its lines.
    public var view: WidgetView {
        WidgetView(lines: split(separator: "\n", omittingEmptySubsequences: false).map { WidgetView.Line(String($0)) })
    }
}
