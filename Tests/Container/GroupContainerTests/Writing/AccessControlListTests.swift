import Testing

@testable import GroupContainer

@Suite
struct `Access control lists` {
    private typealias Entry = AccessControlList.Entry

    private static let list = AccessControlList([
        Entry(tag: .owner, permissions: 7), Entry(tag: .user, permissions: 6, identifier: 1_000),
        Entry(tag: .owningGroup, permissions: 5), Entry(tag: .group, permissions: 7, identifier: 60),
        Entry(tag: .mask, permissions: 6), Entry(tag: .others, permissions: 1),
    ])
    private static let minimal = AccessControlList([
        Entry(tag: .owner, permissions: 7), Entry(tag: .owningGroup, permissions: 7),
        Entry(tag: .others, permissions: 5),
    ])

    @Test func `an access control list of setfacl is decoded, and encoded to the same bytes`() throws {
        let bytes: [UInt8] = [
            2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 4, 0, 0xe8, 3, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255,
            16, 0, 4, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255, 255, 255, 255,
        ]
        let list = try #require(AccessControlList(decoding: bytes))
        #expect(list.entries[1] == Entry(tag: .user, permissions: 4, identifier: 1_000))
        #expect(list.entries.map(\.tag) == [.owner, .user, .owningGroup, .mask, .others])
        #expect(list.permissions == 0o640)
        #expect(list.encoded() == bytes)
        #expect(AccessControlList(decoding: Self.list.encoded()) == Self.list)
    }

    @Test func `an access control list that is cut, or of another version or kind, is refused`() {
        let bytes = Self.list.encoded()
        for end in 0..<bytes.count where end % 8 != 4 {
            #expect(AccessControlList(decoding: Array(bytes[..<end])) == nil)
        }
        #expect(AccessControlList(decoding: [3] + bytes.dropFirst()) == nil)
        #expect(AccessControlList(decoding: bytes[..<4] + [64] + bytes[5...]) == nil)
    }

    @Test func `an access control list shows its mask in the mode, and gives the group no more without it`() {
        #expect(Self.list.permissions == 0o761)
        #expect(Self.list.permissionsWithoutList == 0o741)
        #expect(Self.minimal.permissions == 0o775 && Self.minimal.permissionsWithoutList == 0o775)
    }

    @Test func `a default access control list is limited by the mode, through its mask if there is one`() {
        let file = Self.list.limited(to: 0o640)
        #expect(file.permissions == 0o640)
        #expect(file.entries.map(\.permissions) == [6, 6, 5, 7, 4, 0])
        #expect(Self.minimal.limited(to: 0o666).permissions == 0o664)
    }

    @Test func `an access control list gives a wrong owning group the permissions of others`() {
        #expect(Self.list.withholdingFromOwningGroup().entries.map(\.permissions) == [7, 6, 1, 7, 6, 1])
    }
}
