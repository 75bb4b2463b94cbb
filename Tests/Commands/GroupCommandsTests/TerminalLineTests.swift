import Foundation
import GroupCommandLine
import Testing

@testable import GroupCommands
@testable import GroupContainer

@Suite struct `A line on a terminal` {
    private let plain = TerminalLine(TerminalText(isColored: false))

    @Test(arguments: [
        (Int64.min, "1677-09-21T00:12:43.145Z"), (-1, "1969-12-31T23:59:59.999Z"), (0, "1970-01-01T00:00:00.000Z"),
        (Int64.max, "2262-04-11T23:47:16.854Z"),
    ])
    func `every number of nanoseconds is a time`(nanoseconds: Int64, text: String) {
        #expect(Timestamp.text(nanoseconds) == text)
    }

    @Test func `a line on a terminal shows the time, the kind, the path and the process`() {
        #expect(plain.line(sample(.created, "a")) == "22:13:20.123  created   a  todo-app (812)")
        #expect(plain.line(sample(.moved(from: "a"), "b")) == "22:13:20.123  moved     a → b  todo-app (812)")
        #expect(plain.line(sample(.removed, "a", by: nil)) == "22:13:20.123  removed   a  uncoordinated")
        // Of a change from elsewhere, the process is that which has applied it here.
        #expect(plain.line(sample(.created, "a", by: "todo@alpha")) == "22:13:20.123  created   a  todo@alpha")
        #expect(plain.line(sample(.created, "a", by: "@alpha")) == "22:13:20.123  created   a  @alpha")
        #expect(plain.line(sample(.exchanged(with: "a"), "b", by: nil)).contains("a ↔ b"))
        #expect(plain.line(sample(.bookmark, "", by: nil)) == "22:13:20.123  bookmark  complete up to here")
    }

    @Test(
        arguments: [
            ("2026-11-28 15:00:00", "now"), ("2026-11-28 14:59:57", "3 s ago"), ("2026-11-28 14:59:01", "59 s ago"),
            ("2026-11-28 14:59:00", "1 min ago"), ("2026-11-28 14:00:01", "59 min ago"),
            ("2026-11-28 14:00:00", "today 14:00"), ("2026-11-28 00:00:00", "today 00:00"),
            ("2026-11-27 23:59:59", "yesterday 23:59"), ("2026-11-27 00:00:00", "yesterday 00:00"),
            ("2026-11-26 23:59:59", "2026-11-26 23:59"), ("2025-11-28 15:00:00", "2025-11-28 15:00"),
            // By another machine's clock.
            ("2026-11-28 15:00:09", "today 15:00"), ("2026-12-24 15:00:00", "2026-12-24 15:00"),
        ])
    func `a relative time is a distance, a time of today or yesterday, or a date`(time: String, shown: String) throws {
        // In this machine's time zone, in which the text of a moment begins with its day.
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss"
        func moment(_ text: String) throws -> Int64 {
            Int64(try #require(formatter.date(from: text)).timeIntervalSince1970) * 1_000_000_000
        }
        let now = try moment("2026-11-28 15:00:00")
        #expect(Timestamp.relative(try moment(time), now: now) == shown)
        #expect(shown.count <= TimeStyle.relative.width)
    }

    @Test func `each style of time fills its column`() {
        for style in TimeStyle.allCases {
            #expect(
                style.column(1_700_000_000_123_000_000).count == style.width
                    && style.column(nil as Int64?).count == style.width)
        }
        #expect(TimeStyle.iso.column(1_700_000_000_123_000_000) == "2023-11-14T22:13:20.123Z")
    }

    @Test(
        arguments: [
            "\u{1b}[2J", "\u{7}", "\u{9b}31m", "\r", "\u{202e}gpj.exe", "\u{200b}", "\u{2066}", "\u{feff}", "\u{2028}",
            "\u{e0041}",
            "\u{3164}", "\u{ad}", "\u{180e}", "\u{fff9}",
        ])
    func `control characters of a name or purpose are escaped on a terminal`(evil: String) {
        for change in [sample(.created, ItemPath("a\(evil)b")), sample(.created, "a", by: "x\(evil)y")] {
            let line = plain.line(change)
            #expect(!line.unicodeScalars.contains { evil.unicodeScalars.first == $0 }, "\(line.debugDescription)")
            #expect(line.contains("\\"))
        }
    }

    @Test func `ordinary names are shown unchanged on a terminal`() {
        for name in ["ä ö", "日本語", "naïve café", "🍎", "Ελληνικά", "עברית"] {
            #expect(plain.line(sample(.created, ItemPath(name))).contains(name))
        }
    }

    @Test func `the summary shows the changes of each kind, the time and the purposes`() {
        var summary = ChangeSummary()
        #expect(summary.line(after: 12_000_000_000) == "0 changes in 12 s")
        for change in [
            sample(.present, "a", by: nil), sample(.bookmark, "", by: nil), sample(.created, "a"),
            sample(.created, "b"), sample(.moved(from: "a"), "c", by: nil),
        ] {
            summary.note(change)
        }
        #expect(
            summary.line(after: 400_000_000)
                == "3 changes in 0.4 s: 2 created, 1 moved, 1 present, 1 bookmark; by todo-app 2, uncoordinated 1")
        for number in 1...9 { summary.note(sample(.touched, "a", by: "p\(number)\u{1b}")) }
        #expect(summary.line(after: 0).hasSuffix(#"by todo-app 2, p1\033 1, p2\033 1, p3\033 1, others 7"#))
    }
}
