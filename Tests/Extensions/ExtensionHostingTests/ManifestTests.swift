import Extensions
import GroupManifests
import TestSupport
import Testing

@testable import ExtensionHosting

@Suite struct `A manifest of an extension` {
    private static let complete = """
        {
          "point": "share",
          "identifier": "com.example.todo.share",
          "title": "Todo",
          "icon": "todo",
          "types": {"image/*": 10, "Video/MP4": 1, "url": 1, "x-content/audio-cdda": 1, "x-note": 7},
          "executable": "../bin/share",
          "arguments": ["--quick"],
          "group": "group.com.example.todo",
          "attributes": {"size": 3, "nested": {"a": [1, 2.5]}},
          "x-mine": 1,
          "$schema": "s"
        }
        """

    private static func read(_ text: String) throws(ManifestError) -> ExtensionManifest {
        try ExtensionManifest(Array(text.utf8), file: "e/a.json", directory: "e")
    }

    @Test func `a manifest with every field is read`() throws {
        let manifest = try Self.read(Self.complete)
        #expect(manifest.point == .share && manifest.identifier == "com.example.todo.share")
        #expect(manifest.title == "Todo" && manifest.icon == "todo" && manifest.group == "group.com.example.todo")
        #expect(manifest.executable == "e/../bin/share" && manifest.arguments == ["--quick"])
        #expect(
            manifest.rule.entries.map { "\($0.pattern) \($0.maximum)" }
                == ["image/* 10", "video/mp4 1", "url 1", "x-content/audio-cdda 1"])
        #expect(String(decoding: manifest.attributes, as: UTF8.self) == #"{"size":3,"nested":{"a":[1,2.5]}}"#)
        struct Attributes: Decodable { var size: Int }
        #expect(try manifest.decodeAttributes(as: Attributes.self).size == 3)
    }

    @Test func `every point but the widget's has a manifest`() throws {
        for point in ExtensionPoint.known + [try #require(ExtensionPoint(rawValue: "com.example.point"))] {
            let text = #"{"point": "\#(point)", "identifier": "a", "executable": "b"}"#
            if point == .widget {
                #expect(throws: ManifestError.self) { try Self.read(text) }
            } else {
                #expect(try Self.read(text).point == point)
            }
        }
    }

    @Test(
        arguments: [
            ("{\n}", "manifest 'e/a.json': point: it is missing"),
            ("{\n\n\"point\": \"shar\"}", "manifest 'e/a.json', line 3: point: 'shar' is not an extension point"),
            (
                "{\"point\":\n\"widget\"}",
                "line 1: point: a widget is no extension that runs for a request; move the file"
            ),
            (
                #"{"point": "share", "identifier": "a", "executable": "b","# + "\n\n" + #""attribute": {}}"#,
                "line 3: attribute: there is no such field; did you mean 'attributes'?"
            ),
            (
                #"{"point": "share", "identifier": "a", "executable": "b", "types": {"# + "\n" + #""png": 1}}"#,
                "line 2: types.png: it is not a type"
            ),
            (
                #"{"point": "share", "identifier": "a", "executable": "b", "types": {"image/png": 0}}"#,
                "line 1: types.image/png: it must be an integer from 1"
            ),
            (
                #"{"point": "share", "identifier": "a", "executable": "b", "types": {"a/b": 1, "A/B": 1}}"#,
                "the type is there twice"
            ),
            (#"{"point": "share", "identifier": "a/b"}"#, "identifier: 'a/b' is not an identifier"),
            (#"{"point": "share", "identifier": "a", "executable": "b", "attributes": 1}"#, "it must be an object"),
            (#"{"version": 2, "point": "share"}"#, "line 1: version: it is newer than 1"),
            ("{\n,", "manifest 'e/a.json', line 2: it is not JSON: a name in quotes is missing"),
        ])
    func `an invalid manifest is refused with the field, its line and the cause`(text: String, fault: String) {
        do throws(ManifestError) {
            Issue.record("read: \(try Self.read(text))")
        } catch {
            #expect("\(error)".contains(fault), "\(error)")
        }
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
            if let manifest = try? ExtensionManifest(bytes, file: "a", directory: "") {
                #expect(!manifest.identifier.isEmpty && !manifest.executable.isEmpty)
            }
        }
    }

    @Test func `matching extensions are those of the point that take the items, in the user's order`() throws {
        let directory = try TemporaryDirectory()
        for (name, point, types) in [
            ("a", "share", #"{"url": 1}"#), ("b", "share", #"{"url": 2, "text": 1}"#), ("c", "action", #"{"url": 1}"#),
            ("d", "share", #"{"text": 1}"#),
        ] {
            try directory.put(
                #"{"point": "\#(point)", "identifier": "\#(name)", "executable": "/bin/true", "types": \#(types)}"#,
                at: "\(name).json")
        }
        try directory.put("{", at: "e.json")
        try directory.put("d\nb\n", at: "order")
        let host = ExtensionHost(directory: directory.path)
        let installed = host.installed()
        #expect(installed.extensions.map(\.identifier) == ["d", "b", "a", "c"])
        #expect(installed.faults.count == 1 && installed.faults.first?.contains("e.json', line 1") == true)
        let link = Attachment(.text("https://example.com"), type: .url)
        #expect(host.matching([ExtensionItem(attachments: [link])], at: .share).map(\.identifier) == ["b", "a"])
        let two = [ExtensionItem(attachments: [link]), ExtensionItem(attachments: [link])]
        #expect(host.matching(two, at: .share).map(\.identifier) == ["b"], "the attachments of all items count")
        #expect(host.matching([ExtensionItem(text: "no attachment")], at: .share).isEmpty)
    }
}
