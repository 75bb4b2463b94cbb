import Foundation
import TestSupport
import GroupTodayView

/// Random models, the same in every run.
struct RandomToday {
    private var random: SeededGenerator
    static let now: Int64 = 1_763_632_800_000_000_000

    init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

    static let texts = [
        "", "Milk", "a longer line that has more text than there is room for on many screens, and goes on", "漢字かな交じり文",
        "e\u{301}\u{300}\u{302}\u{303}\u{304}\u{305}", "\u{1B}[2J\u{1B}]0;x\u{7}", "\u{9B}31m", "\u{202E}gnp.exe",
        "a\r\nb\tc", "\u{301}mark first", "👩‍👩‍👧 ❤️ 🇩🇪 👍🏽", "ｗｉｄｅ", "한국어 한", "\u{0}\u{FEFF}\u{200B}", "x\u{115F}\u{3164}y",
        "\u{FFFD}\u{FFFF}\u{10FFFF}", "مرحبا",
    ]

    mutating func size() -> WidgetSize {
        WidgetSize(columns: Int.random(in: 0...90, using: &random), rows: Int.random(in: 0...30, using: &random))
    }

    mutating func model() -> TodayModel {
        TodayModel((0..<Int.random(in: 0...6, using: &random)).map { panel(String($0)) })
    }

    mutating func key() -> Key {
        let keys: [Key] =
            [.up, .down, .pageUp, .pageDown, .home, .end, .enter, .escape, .shiftUp, .shiftDown, .pasted]
            + "jkgGehsrRJKxa?o13 ".unicodeScalars.map { .character($0) }
        return keys.randomElement(using: &random) ?? .unknown
    }

    mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    /// Returns a moment that is soon, far away, or beyond the range of dates.
    mutating func moment() -> Int64 {
        let near = Int64.random(in: -4_000_000_000_000...4_000_000_000_000, using: &random)
        return chance(0.7)
            ? Self.now + near / (chance(0.5) ? 100 : 1)
            : [.min, .max, 0, Self.now, Self.now + near * 1_000].randomElement(using: &random) ?? 0
    }

    private mutating func text() -> String { Self.texts.randomElement(using: &random) ?? "" }

    private mutating func panel(_ kind: String) -> Panel {
        let styles: [WidgetView.Style] = [.normal, .prominent, .secondary, .good, .warning]
        let lines = (0..<Int.random(in: 0...9, using: &random)).map { _ in
            WidgetView.Line(
                text(), styles.randomElement(using: &random) ?? .normal,
                countdown: chance(0.3) ? Date(timeIntervalSince1970: Double(moment()) / 1e9) : nil)
        }
        let view = chance(0.9) ? WidgetView(title: text(), lines: lines) : nil
        let subjects: [PanelNote.Subject] = [
            .ended(text()), .failed(text()), .deferred(.budget), .deferred(.backOff), .deferred(.timeline), .old,
            .held(text()),
        ]
        let note =
            chance(0.5)
            ? PanelNote(subjects.randomElement(using: &random) ?? .ended(""), again: chance(0.7) ? moment() : nil) : nil
        return Panel(
            kind: kind, title: view?.title ?? kind, state: Lifecycle.allCases.randomElement(using: &random) ?? .active,
            view: view, isPlaceholder: chance(0.2), renderedAt: chance(0.8) ? moment() : nil, note: note,
            displayMode: chance(0.5) ? .compact : .expanded, isExpandable: chance(0.5),
            size: WidgetSize(
                columns: Int.random(in: -1...100, using: &random), rows: Int.random(in: -1...30, using: &random)))
    }
}
