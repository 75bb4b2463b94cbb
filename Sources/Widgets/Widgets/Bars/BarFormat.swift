public import FoundationEssentials

/// The format in which a status bar reads a widget's view: one line on standard output for each change.
public enum BarFormat: String, Hashable, Sendable, CaseIterable {
    /// A JSON object for waybar(5)'s custom module with `return-type` `json`: `text`, `tooltip`, `class` and `alt`. The
    /// text is escaped as Pango's markup, so the module's `escape` stays off.
    case waybar
    /// Text with polybar's formatting tags, for a `custom/script` with `tail = true`.
    case polybar
    /// A JSON object of the i3bar protocol, for a block of i3blocks(1) with `interval=persist` and `format=json`.
    case i3blocks

    /// How much of a view a bar shows.
    public struct Room: Hashable, Sendable {
        /// The largest number of characters; a longer view is cut, and ends with `…`.
        public var characters: Int
        /// The text between the view's lines.
        public var separator: String

        /// Limits a view to 60 characters by default.
        public init(characters: Int = 60, separator: String = " · ") {
            self.characters = characters
            self.separator = separator
        }
    }

    /// What a click on a view's line does, where the format has clicks (polybar).
    public struct Clicks: Hashable, Sendable {
        /// A shell command, which gets the address, quoted, as its last argument.
        public var opener: String
        /// The schemes of the addresses that can be opened, in lower case. A view's text may come from anywhere, so
        /// addresses of other schemes are not clickable.
        public var schemes: Set<String>
        /// A shell command that performs a press: it gets the action's `word` as its last argument. Nil: buttons and
        /// toggles are not clickable.
        public var presser: String?

        /// Opens http and https addresses with xdg-open(1) by default. A widget's app may have a scheme of its own.
        public init(
            opener: String = "xdg-open", schemes: Set<String> = ["https", "http"], presser: String? = nil
        ) {
            self.opener = opener
            self.schemes = schemes
            self.presser = presser
        }
    }

    /// Returns the view as one line of UTF-8 without a newline, whatever the view's text is. Control characters become
    /// blanks, characters that change the direction of text are left out, and the bar does not interpret any markup in
    /// the text. `kind` becomes a class for waybar's style sheet. `now` is the time for countdowns.
    public func line(
        _ view: WidgetView, kind: String, at now: Date = Date(), room: Room = Room(), clicks: Clicks = Clicks()
    ) -> String {
        let text = BarText(view, at: now)
        switch self {
        case .waybar: return WaybarLine(text, kind: kind, room).encoded
        case .polybar: return PolybarLine.encoded(text, room, clicks)
        case .i3blocks: return I3BlocksLine(text, room).encoded
        }
    }
}
