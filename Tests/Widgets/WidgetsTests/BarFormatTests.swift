import Foundation
import Testing
import TestSupport
import Widgets

struct `A line for a status bar` {
    private let now = Date(timeIntervalSince1970: 1_763_632_800)

    private static let hostile = [
        "", "Milk", "two\nlines\r\n", "\u{1B}[31mred\u{7}", "50 %", "%{F#f00}%{B-}", "100%", "{", "%%{{",
        "%{A1:touch /tmp/x:}", "<b>&amp;</b> 'q' \"d\"", "\u{202E}gnp.exe", "\u{2028}\u{85}", "\u{0}\u{FFFE}\u{FFFF}",
        "\\u0041 \\\\ \"", "{\"text\":1}", "漢字 👩‍👩‍👧", "%output%", String(repeating: "long ", count: 100),
    ]

    private func view(_ text: String, _ style: WidgetView.Style = .normal, url: String? = nil) -> WidgetView {
        WidgetView(lines: [.init(text, style, url: url)])
    }

    @Test(arguments: BarFormat.allCases, hostile)
    func `a hostile text is one line for a status bar, without markup`(format: BarFormat, text: String) throws {
        let view = WidgetView(title: text, lines: [.init(text, .good), .init(text, .warning, url: text)])
        let line = format.line(view, kind: "todo.next", at: now)
        for scalar in line.unicodeScalars {
            let category = scalar.properties.generalCategory
            #expect(category != .control && category != .lineSeparator && category != .paragraphSeparator)
            #expect(category != .format || scalar.value == 0x200D, "\(line)")
        }
        #expect(line.count < 2_000)
        switch format {
        case .waybar, .i3blocks:
            let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            #expect(object?[format == .waybar ? "text" : "full_text"] is String)
        case .polybar:
            #expect(Self.tags(in: line).allSatisfy { $0.wholeMatch(of: #/F(-|#[0-9a-f]{6})|O0/#) != nil }, "\(line)")
        }
    }

    /// Returns the tags as polybar's parser finds them.
    private static func tags(in line: String) -> [String] {
        line.matches(of: #/%\{([^}]*)\}/#).map { String($0.output.1) }
    }

    @Test func `a line for waybar has Pango markup, a tooltip with every line, and classes`() {
        let view = WidgetView(
            title: "To do",
            lines: [.init("Milk & <tea>", .prominent), .init("late", .warning), .init("old", .secondary)])
        let line = BarFormat.waybar.line(view, kind: "todo.next", at: now)
        #expect(
            line == #"{"alt":"warning","class":["todo-next","warning"],"#
                + #""text":"<b>Milk &amp; &lt;tea&gt;</b><span foreground='#8a8a8a'> · </span>"#
                + #"<span foreground='#ffaf5f'>late</span><span foreground='#8a8a8a'> · </span>"#
                + #"<span foreground='#8a8a8a'>old</span>","#
                + #""tooltip":"<b>To do</b>\nMilk &amp; &lt;tea&gt;\nlate\nold"}"#)
    }

    @Test func `a line for i3blocks has a long text, a short text and a color`() {
        let view = WidgetView(lines: [.init("Milk", .good), .init("Bread")])
        let line = BarFormat.i3blocks.line(view, kind: "todo", at: now)
        #expect(
            line == ##"{"color":"#87af5f","full_text":"Milk · Bread","markup":"none","short_text":"Milk"}"##)
    }

    @Test func `a line for polybar has colors and the address that a click opens`() {
        let good = BarFormat.polybar.line(view("Milk", .good, url: "https://a.b/?q=%20&c=1"), kind: "k", at: now)
        #expect(good == "%{A1:xdg-open 'https\\://a.b/?q=%20&c=1':}%{F#87af5f}Milk%{F-}%{A}")
        #expect(BarFormat.polybar.line(view("50 %{x"), kind: "k", at: now) == "50 %%{O0}{x")
        for url in [
            "file:///etc/passwd", "https://a'; touch /tmp/x '", "https://a b", "todo://x", "https", "", "https://%{A}",
        ] {
            #expect(BarFormat.polybar.line(view("Milk", url: url), kind: "k", at: now) == "Milk", "\(url)")
        }
        let clicks = BarFormat.Clicks(opener: "groupctl open", schemes: ["todo"])
        #expect(
            BarFormat.polybar.line(view("Milk", url: "todo://1"), kind: "k", at: now, clicks: clicks)
                == "%{A1:groupctl open 'todo\\://1':}Milk%{A}")
    }

    @Test func `a click in polybar on a button or toggle presses it, whatever its identifier is`() {
        let view = WidgetView(lines: [.init("Milk", url: "https://a", control: .toggle("1:a'b %{", isOn: false))])
        #expect(BarFormat.polybar.line(view, kind: "k", at: now).contains("xdg-open"))
        let clicks = BarFormat.Clicks(presser: "w --press")
        #expect(
            BarFormat.polybar.line(view, kind: "k", at: now, clicks: clicks)
                == "%{A1:w --press 1%3Aa%27b%20%25%7B=on:}[ ] Milk%{A}")
    }

    @Test func `an action is the same again after its word`() {
        for id in ["a", "1:Milk", "=on", "%", "ü 漢", "a=b", "\n\0'\"$`"] {
            for isOn in [nil, true, false] {
                let action = WidgetAction(id: id, isOn: isOn)
                #expect(WidgetAction(word: action.word) == action)
                let special = "'\"`$\\&;|<>()*?[]{}!#".utf8
                #expect(action.word.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !special.contains($0) })
            }
        }
        for word in ["", "=on", "a=", "a=yes", "a=on=off", "%", "%2", "%zz", "%+1", "%-0", "%0-", "%FF"] {
            #expect(WidgetAction(word: word) == nil, "\(word)")
        }
    }

    @Test func `a line for a status bar that is too long ends with an ellipsis`() {
        let view = WidgetView(lines: ["one", "two", "three", "four"].map { .init($0) })
        func text(_ characters: Int) -> String {
            BarFormat.polybar.line(
                view, kind: "k", at: now, room: .init(characters: characters, separator: " / ")
            ).replacing(#/%\{[^}]*\}/#, with: "")
        }
        #expect(text(60) == "one / two / three / four" && text(24) == text(60))
        for room in 1...23 {
            let cut = text(room)
            #expect(cut.count <= room && cut.hasSuffix("…"), "\(room): \(cut)")
        }
    }

    @Test func `a line for a status bar shows the time that is left`() {
        let view = WidgetView(lines: [.init("U2", countdown: now.addingTimeInterval(245)), .init("", countdown: now)])
        #expect(BarFormat.polybar.line(view, kind: "k", at: now).hasPrefix("U2 4:05%{F"))
        #expect(BarFormat.i3blocks.line(view, kind: "k", at: now).contains(#""full_text":"U2 4:05 · 0:00""#))
    }
}
