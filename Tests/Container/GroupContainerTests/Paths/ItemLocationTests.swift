import Testing

@testable import GroupContainer

@Suite
struct `Item locations` {
    private static func location(_ text: String) throws -> ItemLocation { try ItemLocation(Array(text.utf8)) }

    @Test(arguments: [
        "a", "a/b", ".hidden", "..a", "a..", "...", ".groups", ".group.json", "Å/ß", "with space", "a\nb",
        String(repeating: "c", count: 255), String(repeating: "d/", count: 2_047) + "d",
    ])
    func `a path that names an item below the root is a location`(text: String) throws {
        #expect(try Self.location(text).bytes == Array(text.utf8))
    }

    @Test(
        arguments: [
            ("", ItemLocation.Fault.empty), ("/", .absolute), ("/etc/passwd", .absolute), ("..", .leadsOut),
            ("a/../b", .leadsOut), ("a/..", .leadsOut), ("../a", .leadsOut), (".group", .reserved),
            (".group/lock", .reserved), ("a/.group", .reserved), ("a/b/.group/format", .reserved),
            (".group.deleted", .reserved), ("a/.group.deleted/x", .reserved), (".", .malformed), ("./a", .malformed),
            ("a/./b", .malformed),
            ("a//b", .malformed), ("a/", .malformed), ("a\0b", .nulByte), ("\0", .nulByte),
            (String(repeating: "c", count: 256), .componentTooLong),
            ("a/" + String(repeating: "c", count: 256), .componentTooLong),
            (String(repeating: "d/", count: 2_047) + "dd", .tooLong),
        ])
    func `a path that names no item is refused with its fault`(text: String, fault: ItemLocation.Fault) {
        #expect(throws: fault) { try Self.location(text) }
    }

    @Test func `a location may have bytes that are not UTF-8`() throws {
        #expect(try ItemLocation([0xff, 0x2f, 0xc3]).components.map(Array.init) == [[0xff], [0xc3]])
    }

    @Test func `a location knows its name, its parent and its ancestors, the uppermost first`() throws {
        let place = try Self.location("a/bb/c")
        #expect(place.name == Array("c".utf8))
        #expect(place.parent == (try Self.location("a/bb")))
        #expect(place.ancestors == [try Self.location("a"), try Self.location("a/bb")])
        let top = try Self.location("top")
        #expect(top.name == Array("top".utf8))
        #expect(top.parent == nil)
        #expect(top.ancestors.isEmpty)
    }

    @Test(
        arguments: [
            ("a/b", "a", true), ("a/b/c", "a", true), ("a", "a", false), ("ab", "a", false), ("ab/c", "a", false),
            ("a", "a/b", false), ("b/a", "a", false),
        ])
    func `a location is below a directory only if whole components agree`(
        inner: String, directory: String, expected: Bool
    ) throws {
        #expect(try Self.location(inner).isBelow(Self.location(directory)) == expected)
    }

    @Test(
        arguments: [
            ("link", "target", "target"), ("a/link", "target", "a/target"), ("a/link", "../b", "b"),
            ("a/link", "./b/./c", "a/b/c"), ("a/b/link", "../../c", "c"), ("a/link", "b//c/", "a/b/c"),
            ("a/link", "../a/../b", "b"),
        ])
    func `a symbolic link's location and its target give the target's location`(
        link: String, target: String, expected: String
    ) throws {
        #expect(try Self.location(link).following(link: Array(target.utf8)) == Self.location(expected))
    }

    @Test(
        arguments: [
            ("link", "/etc", ItemLocation.Fault.absolute), ("link", "..", .leadsOut), ("a/link", "../../b", .leadsOut),
            ("link", "../container/b", .leadsOut), ("link", ".group/lock", .reserved),
            ("a/link", "../.group", .reserved), ("link", ".", .empty), ("a/link", "..", .empty),
        ])
    func `a symbolic link that leads out of the container gives no location`(
        link: String, target: String, fault: ItemLocation.Fault
    ) throws {
        let place = try Self.location(link)
        #expect(throws: fault) { try place.following(link: Array(target.utf8)) }
    }
}
