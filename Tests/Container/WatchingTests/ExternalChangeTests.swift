import Testing

@testable import GroupContainer

@Suite struct `Deciding on external changes` {
    static let every: [Hint] = [.attributes, .comparison, .content]

    private static func state(_ type: ItemType = .file, hash: UInt64? = 7) -> ItemState {
        ItemState(
            type: type, inode: 1, size: 10, modified: 100, changed: 200, mode: 0o644, owner: 0, group: 0,
            contentHash: type == .file ? hash : nil)
    }

    private static func changed(_ state: ItemState, _ change: (inout ItemState) -> Void) -> ItemState {
        var state = state
        state.contentHash = nil
        change(&state)
        return state
    }

    @Test(arguments: every) func `an item that was not there and is not there has not changed`(hint: Hint) {
        #expect(ExternalChange.decide(known: nil, found: nil, by: hint) == .nothing)
    }

    @Test(arguments: ItemType.allCases, every)
    func `an item that only was there was removed, and one that only is there was created`(
        type: ItemType, hint: Hint
    ) {
        #expect(ExternalChange.decide(known: nil, found: Self.state(type), by: hint) == .created)
        #expect(ExternalChange.decide(known: Self.state(type), found: nil, by: hint) == .removed)
    }

    @Test(arguments: ItemType.allCases, ItemType.allCases)
    func `an item of another type at the same place is a replacement`(known: ItemType, found: ItemType) {
        if known == found { return }
        for hint in Self.every {
            let change = ExternalChange.decide(known: Self.state(known), found: Self.state(found), by: hint)
            #expect(change == .replaced, "\(hint)")
        }
    }

    @Test(arguments: ItemType.allCases, [Hint.attributes, .comparison])
    func `an item that looks the same has not changed`(type: ItemType, hint: Hint) {
        let found = Self.changed(Self.state(type)) { _ in }
        #expect(ExternalChange.decide(known: Self.state(type), found: found, by: hint) == .nothing)
    }

    @Test(arguments: [ItemType.directory, .symbolicLink, .other])
    func `an item without content of its own that looks the same has not changed`(type: ItemType) {
        let found = Self.changed(Self.state(type)) { _ in }
        #expect(ExternalChange.decide(known: Self.state(type), found: found, by: .content) == .nothing)
    }

    @Test func `a file that may have been written is read even if it looks the same, as dates are coarse`() {
        let found = Self.changed(Self.state()) { _ in }
        #expect(ExternalChange.decide(known: Self.state(), found: found, by: .content) == .needsContent)
        #expect(ExternalChange.decide(known: Self.state(hash: nil), found: found, by: .content) == .nothing)
    }

    @Test(arguments: every) func `a file of another size was modified`(hint: Hint) {
        for hash in [nil, UInt64(7)] {
            let found = Self.changed(Self.state()) { $0.size = 11 }
            #expect(ExternalChange.decide(known: Self.state(hash: hash), found: found, by: hint) == .modified)
        }
    }

    @Test func `a change of attributes is a touch, without reading the content`() {
        let found = Self.changed(Self.state()) { ($0.mode, $0.changed) = (0o600, 201) }
        for hash in [nil, UInt64(7)] {
            #expect(ExternalChange.decide(known: Self.state(hash: hash), found: found, by: .attributes) == .touched)
        }
    }

    @Test func `a change of attributes of another inode needs the content`() {
        let found = Self.changed(Self.state()) { ($0.inode, $0.changed) = (2, 201) }
        #expect(ExternalChange.decide(known: Self.state(), found: found, by: .attributes) == .needsContent)
        #expect(ExternalChange.decide(known: Self.state(hash: nil), found: found, by: .attributes) == .modified)
    }

    @Test(arguments: [Hint.comparison, .content])
    func `a change of dates needs the content if its hash is known`(hint: Hint) {
        let found = Self.changed(Self.state()) { ($0.modified, $0.changed) = (101, 201) }
        #expect(ExternalChange.decide(known: Self.state(), found: found, by: hint) == .needsContent)
        #expect(ExternalChange.decide(known: Self.state(hash: nil), found: found, by: hint) == .modified)
    }

    @Test func `a change of the inode's date is a touch of a file that was never read if mode or owner explain it`() {
        let known = Self.state(hash: nil)
        for attribute in [\ItemState.mode, \.owner, \.group] {
            let found = Self.changed(known) { ($0[keyPath: attribute], $0.changed) = (0o600, 201) }
            #expect(ExternalChange.decide(known: known, found: found, by: .comparison) == .touched)
            #expect(ExternalChange.decide(known: known, found: found, by: .content) == .modified)
        }
        let found = Self.changed(known) { $0.changed = 201 }
        #expect(ExternalChange.decide(known: known, found: found, by: .comparison) == .modified)
        #expect(ExternalChange.decide(known: known, found: found, by: .attributes) == .touched)
    }

    @Test(arguments: [Hint.comparison, .content])
    func `a large file with other dates was modified, without reading it`(hint: Hint) {
        var known = Self.state()
        known.size = ItemState.largestHashed + 1
        let found = Self.changed(known) { ($0.modified, $0.changed) = (101, 201) }
        #expect(ExternalChange.decide(known: known, found: found, by: hint) == .modified)
        known.size = ItemState.largestHashed
        let smaller = Self.changed(known) { ($0.modified, $0.changed) = (101, 201) }
        #expect(ExternalChange.decide(known: known, found: smaller, by: hint) == .needsContent)
    }

    @Test(arguments: every) func `a change of a directory's entries does not change the directory`(hint: Hint) {
        let found = Self.changed(Self.state(.directory)) { ($0.size, $0.modified, $0.changed) = (60, 101, 201) }
        #expect(ExternalChange.decide(known: Self.state(.directory), found: found, by: hint) == .nothing)
        let closed = Self.changed(Self.state(.directory)) { $0.mode = 0o700 }
        #expect(ExternalChange.decide(known: Self.state(.directory), found: closed, by: hint) == .touched)
    }

    @Test(arguments: [ItemType.symbolicLink, .other])
    func `a symbolic link that is another one was modified`(type: ItemType) {
        for hint in Self.every {
            let other = Self.changed(Self.state(type)) { ($0.inode, $0.modified, $0.changed) = (2, 101, 201) }
            #expect(ExternalChange.decide(known: Self.state(type), found: other, by: hint) == .modified)
            let touched = Self.changed(Self.state(type)) { $0.changed = 201 }
            #expect(ExternalChange.decide(known: Self.state(type), found: touched, by: hint) == .touched)
        }
    }

    @Test func `the content's hash decides between a modification, a touch and no change`() {
        let known = Self.state()
        let later = Self.changed(known) { ($0.modified, $0.changed) = (101, 201) }
        #expect(ExternalChange.decide(hash: 8, known: known, found: later) == .modified)
        #expect(ExternalChange.decide(hash: 7, known: known, found: later) == .touched)
        #expect(ExternalChange.decide(hash: 7, known: known, found: Self.changed(known) { _ in }) == .nothing)
    }

    @Test(arguments: ItemType.allCases) func `the same item with the same dates at another place was moved`(
        type: ItemType
    ) {
        let gone = Self.state(type)
        #expect(ExternalChange.isMove(of: gone, to: Self.changed(gone) { $0.changed = 201 }))
        #expect(!ExternalChange.isMove(of: gone, to: Self.changed(gone) { $0.inode = 2 }))
        #expect(!ExternalChange.isMove(of: gone, to: Self.changed(gone) { $0.modified = 101 }))
        for other in ItemType.allCases where other != type {
            #expect(!ExternalChange.isMove(of: gone, to: Self.changed(gone) { $0.type = other }))
        }
    }

    @Test func `a file of another size at another place was not moved`() {
        #expect(!ExternalChange.isMove(of: Self.state(), to: Self.changed(Self.state()) { $0.size = 11 }))
    }
}
