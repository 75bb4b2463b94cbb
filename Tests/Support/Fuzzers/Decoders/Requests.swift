import FoundationEssentials
import GroupManifests
import GroupProtocolLines
@testable import ExtensionHosting
@testable import Extensions
@testable import GroupContainer
@testable import Transfers

/// What an extension, its host, an author of manifests and a server have written.
extension Decoder {
    static let requests = [extensionManifest, toExtension, toExtensionHost, transferRecord, transferResponse]

    private static let extensionManifest = Decoder(
        "extension-manifest",
        [
            "whole": [UInt8](
                """
                {"point": "share", "identifier": "com.example.a", "title": "A", "icon": "a", "executable": "../bin/a",
                 "arguments": ["b"], "group": "group.com.example.a", "types": {"image/*": 10, "url": 1, "text/plain": 2},
                 "attributes": {"a": [1, true, null, 0.5, {"b": "c"}]}, "version": 1}
                """)
        ]
    ) { bytes in
        var findings: [ManifestError] = []
        let manifest: ExtensionManifest
        do throws(ManifestError) {
            manifest = try ExtensionManifest(bytes, file: "a.json", directory: "f", &findings)
        } catch {
            try expect(error.file == "a.json" && !error.cause.isEmpty, "an error without a place: \(error)")
            return false
        }
        try expect(!manifest.identifier.isEmpty && !manifest.executable.isEmpty, "something is missing")
        try expect(manifest.rule.entries.allSatisfy { $0.maximum > 0 }, "none of a type")
        return true
    }

    private static let item = ExtensionItem(
        title: "t", text: "x",
        attachments: [
            Attachment(.text("a"), type: .text), Attachment(.bytes([0, 255]), type: .text, name: "n"),
            Attachment(.item("a/b"), type: .text),
            Attachment(.propertyList(.dictionary(["k": .array([.integer(1), .double(0.5)])])), type: .propertyList),
        ])

    private static var line: ItemLine? {
        try? ItemLine(item) { _ throws(AttachmentError) in throw .file("a", reason: "there is none") }
    }

    private static let toExtension = Decoder(
        "extension-host-lines",
        [
            "all": [
                ExtensionHostMessage.begin(
                    .init(point: .share, extension: "a", items: line.map { [$0] } ?? [], deadline: 0.5)), .cancel,
            ].flatMap { (ProtocolLine.encoded($0) ?? []) + [0x0A] }
        ]
    ) { bytes in
        try bytes.split(separator: 0x0A).map { line in
            guard let message = try returned(ExtensionHostMessage.self, Array(line)) else { return false }
            if case .begin(let request) = message { use(request.items) }
            return true
        }.contains(true)
    }

    private static let toExtensionHost = Decoder(
        "extension-lines",
        [
            "all": [
                ExtensionMessage.complete(line.map { [$0] } ?? []),
                .cancel(ExtensionError(domain: "a", code: 1, text: "b")),
                .open(url: "a://b"), .log("l"),
            ].flatMap { (ProtocolLine.encoded($0) ?? []) + [0x0A] }
        ]
    ) { bytes in
        try bytes.split(separator: 0x0A).map { line in
            guard let message = try returned(ExtensionMessage.self, Array(line)) else { return false }
            if case .complete(let items) = message { use(items) }
            return true
        }.contains(true)
    }

    /// Makes the items of lines, each of which is one or a typed error.
    private static func use(_ lines: [ItemLine]) {
        for line in lines {
            _ = try? line.item(in: nil) { number throws(AttachmentError) in
                throw .file("descriptor \(number)", reason: "there is none")
            }
        }
    }

    /// Returns the message of a line, which comes back as the same line after encoding and decoding.
    private static func returned<Message: Codable>(_ type: Message.Type, _ line: [UInt8]) throws -> Message? {
        let fault = ProtocolLine.fault(type, in: line)
        guard let message = ProtocolLine.decoded(type, from: line) else {
            try expect(!fault.isEmpty, "a fault without a word")
            return nil
        }
        guard let encoded = ProtocolLine.encoded(message), !encoded.contains(0x0A),
            let again = ProtocolLine.decoded(type, from: encoded)
        else { throw Broken("it has no line: \(message)") }
        try expect(ProtocolLine.encoded(again) == encoded, "\(again), and not \(message)")
        return message
    }

    private static var transfer: Transfer {
        Transfer(
            .download, url: "http://a/b", path: "c", sha256: nil, length: 9, opening: "d://e", id: "0123456789abcdef",
            now: TransferClock(wall: 1_000_000_000_000, boot: nil), timeout: .seconds(60))
    }

    private static let transferRecord = Decoder(
        "transfer-record", ["new": (try? TransferRecords.encode(transfer)).flatMap(json) ?? []]
    ) { bytes in
        guard let record = TransferRecords.decode(.json(bytes), transfer.id) else { return false }
        _ = (record.deadline.nanoseconds, record.needsWork, record.result)
        try expectReturn(record, { json(try TransferRecords.encode($0)) ?? [] }) { bytes in
            guard let again = TransferRecords.decode(.json(bytes), transfer.id) else { throw Broken("no record") }
            return again
        }
        return true
    }

    private static func json(_ value: DefaultsValue) -> [UInt8]? {
        if case .json(let bytes) = value { return bytes }
        return nil
    }

    /// The head of a response, line by line.
    private static let transferResponse = Decoder(
        "transfer-response",
        [
            "part": [UInt8](
                "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 5\r\n\r\n"
            ),
            "later": [UInt8]("HTTP/2 503 \r\nRetry-After: 120\r\n\r\n"),
        ]
    ) { bytes in
        var response: TransferResponse?
        for line in bytes.split(separator: 0x0A) {
            TransferResponse.take(String(decoding: line, as: UTF8.self), &response)
        }
        guard let response else { return false }
        for offset in [0, 5, .max] as [UInt64] {
            for total in [nil, 10, .max] as [UInt64?] {
                let decision = response.decision(
                    offset: offset, tag: "\"a\"", total: total, expected: total, hasHash: true)
                switch decision {
                case .append:
                    try expect(
                        response.status == 206 && response.contentRange?.bytes?.lowerBound == offset, "\(decision)")
                case .begin: try expect(response.status == 200, "\(decision)")
                case .complete: try expect(response.contentRange?.total == offset, "\(decision)")
                case .retry(_, let after): try expect(after ?? 0 >= 0, "\(decision)")
                case .startOver, .redirect, .fail: break
                }
            }
        }
        if let tag = response.strongTag { try expect(!tag.hasPrefix("W/"), tag) }
        return true
    }
}
