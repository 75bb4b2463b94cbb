import FoundationEssentials
import GroupCommands
@testable import GroupCommandLine
@testable import GroupContainer
@testable import GroupTodayView

extension Decoder {
    static let texts = [cursor, format, json, propertyList, keys, accessControlList, glob]

    private static let cursor = Decoder(
        "cursor",
        ["one": [UInt8](Cursor(container: 1, segment: 2, offset: 4_096, sequence: 9, checksum: .max).description)]
    ) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        guard let cursor = Cursor(text) else { return false }
        try expect(cursor.description.utf8.elementsEqual(text.utf8), "no cursor has ever printed this")
        try expect(Cursor(cursor.description) == cursor, "another one comes back")
        return true
    }

    /// A format file as it is written, but with fixed instead of random numbers.
    private static let formatSample = """
        {"container": "000102030405060708090a0b0c0d0e0f", "format": 3, "hashKey": "000102030405060708090a0b0c0d0e0f",
         "identifier": "group.com.example.todo", "lockInode": 123, "origin": "ff0102030405060708090a0b0c0d0e0f",
         "journalSize": 1048576, "journalAge": 3600}
        """

    private static let format = Decoder(
        "format", ["whole": [UInt8](formatSample)]
    ) { bytes in
        let format: ContainerFormat
        do throws(CoordinationError) { format = try ContainerFormat(decoding: bytes) } catch {
            try expect([.damaged, .newerFormat, .olderFormat].contains(error.code), "\(error)")
            return false
        }
        try expect(format.containerBytes?.count == 16 && format.originBytes?.count == 16, "no identifier")
        try expect(format.key != nil && format.retention.age >= .zero, "no key, or a strange age")
        try expect(format.adopted(lockInode: 1).originBytes == format.originBytes, "a copy is another's")
        return true
    }

    private static let json = Decoder(
        "json",
        [
            "text": [UInt8](#"{"a":[1,-2.5e3,true,null,"é\n\u00e9\ud83d\ude00"],"b":{},"c":[]}"#),
            "number": [UInt8]("-12345678901234567890"),
        ]
    ) { bytes in
        let value: JSONValue
        do throws(TextFault) { value = try JSONReader.value(of: bytes, deepest: 40) } catch {
            try expect(error.line >= 1 && !error.what.isEmpty, "a fault without a place: \(error)")
            return false
        }
        let again = try JSONReader.value(of: [UInt8](value.encoded()), deepest: 40)
        try expect(again == value, "\(again), and not \(value)")
        return true
    }

    private static let members: [String: DefaultsValue] = [
        "": .string("\r\n\t<&>\"'😀"), "<k>": .bool(false), "i": .integer(.min), "r": .double(0.1),
        "n": .double(-.infinity), "d": .date(Date(timeIntervalSinceReferenceDate: -1_000_000)),
        "b": .data([UInt8](repeating: 0xFB, count: 80)),
        "a": .array([.array([]), .dictionary(["x": .array([.integer(1)])]), .data([])]), "e": .dictionary([:]),
    ]

    private static let propertyList = Decoder(
        "plist",
        [
            "all": (try? PropertyList.text(of: members)).map { [UInt8]($0) } ?? [],
            "by-hand": [UInt8](
                """
                <?xml version="1.0" encoding="UTF-8"?><!-- a > b --><!DOCTYPE plist PUBLIC "-//A//B" "x">
                <plist version='1.0' ><dict ><key>a<![CDATA[<&]]>&#x41;</key ><real> +infinity </real>
                <key>b</key><integer>-0x1F</integer><key>c</key><date>2001-01-01T00:00:01Z</date></dict></plist>
                """),
        ]
    ) { bytes in
        let members: [String: DefaultsValue]
        do throws(TextFault) { members = try PropertyList.members(of: bytes) } catch {
            try expect(error.line >= 1 && !error.what.isEmpty, "a fault without a place: \(error)")
            return false
        }
        // A value that was read can be written, and is read again as the same value.
        try expectReturn(
            members, { [UInt8](try PropertyList.text(of: $0)) }, { try PropertyList.members(of: $0) })
        return true
    }

    /// However the bytes are cut into pieces, the keys are the same.
    private static let keys = Decoder(
        "keys",
        ["some": [UInt8]("a\u{1B}[A\u{1B}OB\u{1B}[1;2A\u{1B}[5~\u{1B}[200~past\u{1B}[201~é\t\r\u{1B}")]
    ) { bytes in
        var whole = KeyDecoder()
        let expected = whole.take(bytes) + whole.timeIsOver()
        var inPieces = KeyDecoder()
        var keys: [Key] = []
        for byte in bytes { keys += inPieces.take([byte]) }
        keys += inPieces.timeIsOver()
        try expect(keys == expected, "\(keys) byte by byte, and \(expected) at once")
        try expect(inPieces == whole, "another state")
        return !keys.isEmpty
    }

    private static let accessControlList = Decoder(
        "acl",
        [
            "four": AccessControlList([
                .init(tag: .owner, permissions: 6), .init(tag: .user, permissions: 4, identifier: 1_000),
                .init(tag: .owningGroup, permissions: 4), .init(tag: .mask, permissions: 4),
                .init(tag: .others, permissions: 0),
            ]).encoded()
        ]
    ) { bytes in
        guard let list = AccessControlList(decoding: bytes) else { return false }
        try expect(list.encoded() == bytes, "other bytes")
        let permitted = list.permissions
        try expect(permitted < 0o1000 && list.permissionsWithoutList < 0o1000, "no mode")
        try expect(list.limited(to: 0).permissions == 0, "more than the mode permits")
        _ = list.withholdingFromOwningGroup()
        return true
    }

    /// A pattern and a path, with a zero between them. If the pattern matches the path, it also matches the path in a
    /// directory with `**` before it.
    private static let glob = Decoder("glob", ["one": [UInt8]("a/**/[b-d]*?\\*\0a/x/y/cdz*")]) { bytes in
        let parts = bytes.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].count < 200, parts[1].count < 1_000 else { return false }
        let matches = Glob(Array(parts[0])).matches(Array(parts[1]))
        if matches, !parts[0].isEmpty {
            let below = Glob([UInt8]("**/") + parts[0]).matches([UInt8]("x/") + parts[1])
            try expect(below, "not in a directory")
        }
        return matches
    }
}
