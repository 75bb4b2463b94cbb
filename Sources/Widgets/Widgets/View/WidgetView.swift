public import FoundationEssentials

/// What a host draws of a widget: lines of text. A view has meaning, not appearance, so a terminal, a bar and a plain
/// log can each show it in their own way.
public struct WidgetView: Codable, Hashable, Sendable {
    /// The importance of a line.
    public enum Style: String, Codable, Hashable, Sendable {
        case normal, prominent, secondary, good, warning
    }

    /// One line of a view. Control characters in its text have no effect: a terminal shows them as visible characters,
    /// and a bar as blanks.
    public struct Line: Codable, Hashable, Sendable {
        /// The text of the line.
        public var text: String
        /// The importance of the line.
        public var style: Style
        /// The URL that is opened when the user chooses this line.
        public var url: String?
        /// A date whose remaining time is shown behind the text, and counts down without a refresh.
        public var countdown: Date?

        /// Creates a line, by default of plain text.
        public init(_ text: String, _ style: Style = .normal, url: String? = nil, countdown: Date? = nil) {
            self.text = text
            self.style = style
            self.url = url
            self.countdown = countdown
        }
    }

    /// The title above the lines; nil for the widget's name.
    public var title: String?
    /// The lines from top to bottom.
    public var lines: [Line]
    /// The URL that is opened when the user chooses the widget as a whole.
    public var url: String?
    /// The preferred size; nil: the manifest's preferred size, else the full width of the host and a row for each line.
    public var preferredSize: WidgetSize?

    /// Creates a view. Without a title, the widget's name is shown.
    public init(title: String? = nil, lines: [Line], url: String? = nil, preferredSize: WidgetSize? = nil) {
        self.title = title
        self.lines = lines
        self.url = url
        self.preferredSize = preferredSize
    }
}

/// A snapshot that a host can show.
public protocol WidgetContent: Codable, Sendable {
    /// The view of the snapshot, equal for equal snapshots.
    var view: WidgetView { get }
}

extension WidgetView: WidgetContent {
    /// The view itself.
    public var view: WidgetView { self }
}

extension String: WidgetContent {
    /// A view with a line for each line of the string.
    public var view: WidgetView {
        WidgetView(lines: split(separator: "\n", omittingEmptySubsequences: false).map { WidgetView.Line(String($0)) })
    }
}
