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

        /// The texts after the first one, each in a column, which is as wide as its widest text in the view.
        public var columns: [String]?
        /// The picture in front of the text.
        public var image: Image?
        /// The button or toggle that the line is.
        public var control: Control?
        /// The fill of a gauge at the end of the line, from 0 to 1; what is beyond is shown as 0 or 1.
        public var gauge: Double?

        /// Creates a line, by default of plain text.
        public init(
            _ text: String, _ style: Style = .normal, url: String? = nil, countdown: Date? = nil,
            columns: [String]? = nil, image: Image? = nil, control: Control? = nil, gauge: Double? = nil
        ) {
            self.text = text
            self.style = style
            self.url = url
            self.countdown = countdown
            self.columns = columns
            self.image = image
            self.control = control
            self.gauge = gauge
        }
    }

    /// A picture of a line.
    public struct Image: Codable, Hashable, Sendable {
        /// The path of an item with a PNG; nil for an icon.
        public var path: String?
        /// The name of an icon in the user's theme, such as `weather-clear`; nil for an item.
        public var icon: String?
        /// What the picture shows, for a screen reader, and for places that have only text.
        public var label: String

        /// Returns the picture that an item has, as a PNG.
        public static func item(_ path: String, label: String) -> Image { Image(path: path, label: label) }

        /// Returns an icon of the user's theme.
        public static func icon(_ name: String, label: String) -> Image { Image(icon: name, label: label) }
    }

    /// What the user can press in a view: see `WidgetProvider.perform(_:on:)`.
    public struct Control: Codable, Hashable, Sendable {
        /// The identifier, by which the widget knows what was pressed. It should name the thing, and not its place in
        /// the view: others may change the container between the drawing and the press.
        public var id: String
        /// Whether a toggle is on; nil for a button.
        public var isOn: Bool?

        /// Returns a button.
        public static func button(_ id: String) -> Control { Control(id: id) }

        /// Returns a toggle, which is on or off.
        public static func toggle(_ id: String, isOn: Bool) -> Control { Control(id: id, isOn: isOn) }
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
