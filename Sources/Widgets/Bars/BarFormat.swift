public import FoundationEssentials

/// How a status bar wants to be told what a widget shows: as one line on standard output whenever that changes.
public enum BarFormat: String, Hashable, Sendable, CaseIterable {
    /// A JSON object for waybar(5)'s custom module with `return-type` `json`: `text`, `tooltip`, `class` and `alt`. Text
    /// is escaped as Pango's markup, so the module's `escape` stays off.
    case waybar
    /// Text with polybar's formatting tags, for a `custom/script` with `tail = true`.
    case polybar
    /// A JSON object of the i3bar protocol, for a block of i3blocks(1) with `interval=persist` and `format=json`.
    case i3blocks

    /// How much of a view a bar shows.
    public struct Room: Hashable, Sendable {
        /// Characters at most; what is longer is cut, and says so.
        public var characters: Int
        /// Between the view's lines.
        public var separator: String

        /// A view's lines in 60 characters, unless told.
        public init(characters: Int = 60, separator: String = " · ") {
            (self.characters, self.separator) = (characters, separator)
        }
    }

    /// What a click on a view's line does, where the format has clicks (polybar).
    public struct Clicks: Hashable, Sendable {
        /// A command of a shell; the address follows it, quoted.
        public var opener: String
        /// Of the addresses that are opened, in small letters. A view's text may come from anywhere: addresses of other
        /// schemes are not clickable.
        public var schemes: Set<String>

        /// xdg-open(1), for the web, unless told. A widget's app may have a scheme of its own.
        public init(opener: String = "xdg-open", schemes: Set<String> = ["https", "http"]) {
            (self.opener, self.schemes) = (opener, schemes)
        }
    }

    /// The view as the bar wants it, without the newline: one line of UTF-8, whatever the view's text is. Control
    /// characters are blanks in it, what would change the direction of the rest is left out, and nothing of the text is
    /// obeyed by the bar. `kind` becomes a class for waybar's style sheet. `now` is for countdowns.
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
