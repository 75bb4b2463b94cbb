import GroupManifests
import TestSupport
import Testing
import Widgets

@testable import GroupWidgetHosting

@Suite(.tags(.process)) struct `A manifest` {
    private static let complete = """
        {"kind": "next-todo", "title": "Next", "executable": "../bin/w", "arguments": ["--style", "next"],
         "displayModes": {"compact": {"maximum": {"columns": 40, "rows": 3}}, "expanded": {"preferred": {"columns": 9, "rows": 8}}},
         "interests": ["Library/**", "defaults:settings:opened"], "unknown": [1, {}],
         "refresh": {"perDay": 10, "atOnce": 2, "deadline": 0.5, "settle": 0}, "memoryLimit": 2000000, "urlScheme": "todo"}
        """

    private static func read(_ text: String) throws(ManifestError) -> WidgetManifest {
        try WidgetManifest(Array(text.utf8), file: "w/a.json", directory: "w")
    }

    @Test func `a manifest with every field is read`() throws {
        let manifest = try Self.read(Self.complete)
        #expect(manifest.kind == "next-todo" && manifest.title == "Next" && manifest.executable == "w/../bin/w")
        #expect(manifest.arguments == ["--style", "next"] && manifest.urlScheme == "todo")
        #expect(manifest.rooms[.compact]?.maximum == WidgetSize(columns: 40, rows: 3))
        #expect(manifest.rooms[.expanded]?.preferred == WidgetSize(columns: 9, rows: 8))
        #expect(manifest.interests == [.path("Library/**"), .defaults("settings", key: "opened")])
        #expect(manifest.refreshing.limit == RefreshLimit(perDay: 10, atOnce: 2))
        #expect(manifest.refreshing.deadline == 500_000_000 && manifest.refreshing.settle == 0)
        #expect(manifest.memoryLimit == 2_000_000)
    }

    @Test func `a manifest needs only a kind and an executable`() throws {
        let manifest = try Self.read(#"{"kind": "a", "executable": "widget", "title": null}"#)
        #expect(manifest == WidgetManifest(kind: "a", executable: "widget"))
    }

    @Test(
        arguments: [
            ("", nil, "the text ends where a value is expected"), ("[]", nil, "it must be an object"),
            ("{}", "kind", "it is missing"), (#"{"kind": "a/b"}"#, "kind", "'a/b' is not a kind"),
            (#"{"kind": ".a"}"#, "kind", "is not a kind"), (#"{"kind": 7}"#, "kind", "it must be a string"),
            (#"{"kind": "a"}"#, "executable", "it is missing"),
            (#"{"kind": "a", "executable": "\u0000"}"#, "executable", "NUL"),
            (#"{"kind": "a", "executable": "w", "arguments": "x"}"#, "arguments", "an array of strings"),
            (
                #"{"kind": "a", "executable": "w", "interests": ["defaults:"]}"#, "interests",
                "'defaults:' is not an interest"
            ),
            (
                #"{"kind": "a", "executable": "w", "refresh": {"deadline": -1}}"#, "refresh.deadline",
                "seconds from 0.01"
            ),
            (#"{"kind": "a", "executable": "w", "refresh": {"perDay": 1.5}}"#, "refresh.perDay", "an integer"),
            (#"{"kind": "a", "executable": "w", "memoryLimit": 5}"#, "memoryLimit", "an integer from 1048576"),
            (
                #"{"kind": "a", "executable": "w", "displayModes": {"compact": {"maximum": {"rows": 3}}}}"#,
                "displayModes.compact.maximum", "columns or rows are missing"
            ),
            (
                #"{"kind": "a", "executable": "w", "urlScheme": "file"}"#, "urlScheme",
                "'file' is not the scheme of an app"
            ),
        ] as [(String, String?, String)])
    func `an invalid manifest is refused with the field and the expected value`(
        text: String, field: String?, cause: String
    ) {
        do throws(ManifestError) {
            Issue.record("read: \(try Self.read(text))")
        } catch {
            #expect(error.file == "w/a.json" && error.field == field && "\(error)".contains(cause), "\(error)")
        }
    }

    private static func findings(_ text: String) throws(ManifestError) -> [String] {
        var findings: [ManifestError] = []
        _ = try WidgetManifest(Array(text.utf8), file: "w/a.json", directory: "w", &findings)
        return findings.map(\.description)
    }

    @Test func `a manifest with an unknown field is read, and the field is a finding`() throws {
        let found = try Self.findings(
            """
            {"kind": "a", "executable": "w", "intrests": [], "tile": "A", "weather": {"city": "Oslo"},
             "refresh": {"perday": 3}, "displayModes": {"compakt": {}}, "x-mine": 1, "$schema": "s", "\\n": 1}
            """)
        #expect(
            found == [
                "manifest 'w/a.json', line 1: intrests: there is no such field; did you mean 'interests'?",
                "manifest 'w/a.json', line 1: tile: there is no such field; did you mean 'title'?",
                "manifest 'w/a.json', line 1: weather: there is no such field; begin the name with 'x-' if the field is your own",
                "manifest 'w/a.json', line 2: \\n: there is no such field; begin the name with 'x-' if the field is your own",
                "manifest 'w/a.json', line 2: displayModes.compakt: there is no such field; did you mean 'compact'?",
                "manifest 'w/a.json', line 2: refresh.perday: there is no such field; did you mean 'perDay'?",
            ])
    }

    @Test func `a manifest of an extension is no widget`() throws {
        #expect(try Self.read(#"{"point": "widget", "kind": "a", "executable": "w"}"#).kind == "a")
        do throws(ManifestError) {
            Issue.record("read: \(try Self.read("{\n" + #""point": "share", "kind": "a", "executable": "w"}"#))")
        } catch {
            #expect(error.field == "point" && error.line == 2, "\(error)")
            #expect("\(error)".contains("for 'share'") && "\(error)".contains("group-extensions"), "\(error)")
        }
    }

    @Test func `a manifest of a newer version may have unknown fields`() throws {
        #expect(try Self.findings(#"{"version": 2, "kind": "a", "executable": "w", "weather": 1}"#).isEmpty)
        #expect(try Self.findings(#"{"version": 1, "kind": "a", "executable": "w", "weather": 1}"#).count == 1)
        #expect(throws: ManifestError.self) { try Self.read(#"{"version": "2", "kind": "a", "executable": "w"}"#) }
    }

    @Test(arguments: UInt64(0)..<20) func `random bytes are a manifest or a typed error`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var bytes = Array(Self.complete.utf8)
            for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                }
            }
            if let manifest = try? WidgetManifest(bytes, file: "a", directory: "") { #expect(!manifest.kind.isEmpty) }
        }
    }

    @Test func `a manifest allows addresses of its app and of the web`() {
        let manifest = WidgetManifest(kind: "a", executable: "a", urlScheme: "todo")
        for url in ["todo:", "todo://7", "TODO:x", "https://example.com/a?b", "http://example.com"] {
            #expect(manifest.urlToOpen(url) == url)
        }
        for (url, opened) in [
            ("https://de.wikipedia.org/wiki/Käse?ö#ß", "https://de.wikipedia.org/wiki/K%C3%A4se?%C3%B6#%C3%9F"),
            ("todo://日", "todo://%E6%97%A5"), ("https://a/\u{202E}", "https://a/%E2%80%AE"),
        ] { #expect(manifest.urlToOpen(url) == opened) }
        for url in [
            "file:///etc/passwd", "javascript:x", "other://7", "todo", "-todo:", "", "todo:a b", "todo:\n",
            "https://käse.de", "http:///ä", "https://a@ä?", "ħttps://a",
        ] { #expect(manifest.urlToOpen(url) == nil, "\(url)") }
    }
}
