import FoundationEssentials
import GroupContainer
import GroupProtocolLines
import TestSupport
import Testing

@testable import Extensions

@Suite struct `Messages of extensions` {
    /// An item of a line, whose descriptors are not taken.
    private static func item(_ text: String) throws -> ExtensionItem {
        let line = try #require(ProtocolLine.decoded(ItemLine.self, from: Array(text.utf8)), "\(text)")
        return try line.item(in: nil) { _ throws(AttachmentError) in throw .notReturnable }
    }

    @Test(arguments: [
        #"{"attachments":[{"type":"text"}]}"#, #"{"attachments":[{"type":"text","text":"a","url":"b:c"}]}"#,
        #"{"attachments":[{"type":"url","url":"no scheme"}]}"#, #"{"attachments":[{"type":"url","url":""}]}"#,
        #"{"attachments":[{"type":"text","descriptor":3}]}"#,
    ])
    func `an attachment without exactly one content is malformed`(text: String) {
        #expect(throws: (any Error).self) { try Self.item(text) }
    }

    @Test(arguments: [
        #"{"attachments":[{"type":"no type","text":"a"}]}"#, #"{"attachments":[{"text":"a"}]}"#,
        #"{"attachments":[{"type":"a/b","bytes":"no base 64"}]}"#, #"{"values":{"a":null}}"#,
        #"{"values":{"a":{"$date":"x"}}}"#, #"{"values":{"a":{"$double":"x"}}}"#, #"{"values":{"a":{"$other":"x"}}}"#,
        #"{"title":7}"#, "[]",
    ])
    func `a line of another form is no item`(text: String) {
        #expect(ProtocolLine.decoded(ItemLine.self, from: Array(text.utf8)) == nil)
        #expect(ProtocolLine.fault(ItemLine.self, in: Array(text.utf8)) != "")
    }

    @Test(arguments: [100, 1_000, 100_000]) func `a value that is nested too deeply is a fault`(depth: Int) {
        let text = #"{"values":{"a":"# + String(repeating: "[", count: depth)
        let line = Array((text + String(repeating: "]", count: depth) + "}}").utf8)
        #expect((ProtocolLine.decoded(ItemLine.self, from: line) == nil) == (depth > 100))
    }

    @Test func `a line of too many values is refused before it is decoded`() {
        let many = String(repeating: "{},", count: ProtocolLine.mostValues)
        #expect(ProtocolLine.hasTooManyValues(Array("[\(many){}]".utf8)))
        #expect(ProtocolLine.fault([Int].self, in: Array("[\(many){}]".utf8)).contains("values"))
        #expect(!ProtocolLine.hasTooManyValues(Array(#"{"text":"\#(many)\\",\","x":[1,2]}"#.utf8)))
    }

    @Test func `a plain JSON value is a property list`() throws {
        let item = try Self.item(#"{"values":{"a":[1,2.5,true,"x",{"b":{}}],"$url":{"$url":"todo:"}}}"#)
        #expect(
            item.values == [
                "a": .array([
                    .integer(1), .double(2.5), .bool(true), .string("x"), .dictionary(["b": .dictionary([:])]),
                ]),
                "$url": .url("todo:"),
            ])
    }

    @Test func `a path that is not UTF-8 comes back`() throws {
        let item = ExtensionItem(attachments: [Attachment(.item(ItemPath(bytes: [0x61, 0xFF])), type: .bytes)])
        let line = try ItemLine(item) { _ throws(AttachmentError) in throw .notReturnable }
        let text = try #require(ProtocolLine.encoded(line))
        #expect(try Self.item(String(decoding: text, as: UTF8.self)) == item)
    }

    @Test(arguments: UInt64(0)..<20) func `random bytes are a message or a typed error`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sample = Array(
            #"{"say":"complete","do":"begin","version":1,"point":"share","extension":"a","deadline":3,"items":[{"title":"t","attachments":[{"type":"url","url":"a:b"},{"type":"a/b","bytes":"AAE="},{"type":"a/b","item":"c","name":"d"}],"values":{"a":{"$data":"AA=="},"b":[1,{"c":1e3}]}}]}"#
                .utf8)
        for _ in 0..<200 {
            var bytes = sample
            for _ in 0...Int.random(in: 0..<4, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes.removeSubrange(place...)
                default: bytes.insert(UInt8.random(in: .min ... .max, using: &random), at: place)
                }
            }
            if case .complete(let lines)? = ProtocolLine.decoded(ExtensionMessage.self, from: bytes) {
                for line in lines { _ = try? line.item(in: nil) { _ throws(AttachmentError) in throw .notReturnable } }
            }
            let message = ProtocolLine.decoded(ExtensionHostMessage.self, from: bytes)
            #expect((message == nil) == (ProtocolLine.fault(ExtensionHostMessage.self, in: bytes) != ""))
        }
    }

    @Test func `an error is described by its domain and text`() {
        struct Failed: Error, CustomStringConvertible { var description: String { "it failed" } }
        #expect(ExtensionError(Failed()).text == "it failed" && ExtensionError(Failed()).code == 0)
        #expect(ExtensionError(CancellationError()) == .cancelled)
        let own = ExtensionError(domain: "a.b", code: 3, text: "c")
        #expect(ExtensionError(own) == own)
    }
}
