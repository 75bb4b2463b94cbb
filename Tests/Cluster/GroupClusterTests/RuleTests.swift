import GroupCluster
import Testing

private let a = ClusterName(high: 1, low: 1)
private let b = ClusterName(high: 2, low: 2)

private func operation(_ number: UInt64) -> ClusterName { ClusterName(high: 7, low: number) }
private func item(_ number: UInt64) -> ItemName { ItemName(operation(number), 0) }
private func file(_ digest: UInt8) -> ItemContent { ItemContent(.file, [digest]) }
private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private let directory = ItemContent(.directory, mode: 0o755)

/// Folds entries one after the other, each of the machine `a`.
private struct Log {
    var fold = ClusterFold()
    var entries: [OrderedEntry] = []

    mutating func add(_ entry: ClusterEntry, by machine: ClusterName = a) throws -> ClusterFold.Outcome {
        let ordered = OrderedEntry(
            index: fold.index + 1, revision: fold.revision + 2, machine: machine,
            number: (fold.machines[machine]?.number ?? 0) + 1, bytes: entry.bytes)
        entries.append(ordered)
        return try fold.apply(ordered).outcome
    }

    mutating func add(_ number: UInt64, isStrict: Bool = false, _ changes: ItemChange...) throws -> ClusterFold.Outcome
    {
        try add(ClusterEntry(operation(number), isStrict: isStrict, changes.map { .item($0) }))
    }

    /// Lines "path digest", of directories "path/".
    var tree: [String] {
        fold.tree.nodes.map { item, node in
            let path = fold.tree.path(item).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
            return path + (node.content.kind == .directory ? "/" : " \(node.content.digest[0])")
        }
        .sorted()
    }
}

@Suite("Rules of the fold")
struct RuleTests {
    private let mark = "(conflict \(operation(9).text))"

    /// A directory `d` (1) with a file `d/f.txt` (2), a file `g` (3), a directory `e` (4).
    private func log() throws -> Log {
        var log = Log()
        _ = try log.add(1, ItemChange(item(1), bytes("d"), .create(directory)))
        _ = try log.add(2, ItemChange(item(2), in: [Ancestor(item(1), bytes("d"))], bytes("f.txt"), .create(file(1))))
        _ = try log.add(3, ItemChange(item(3), bytes("g"), .create(file(2))))
        _ = try log.add(4, ItemChange(item(4), bytes("e"), .create(directory)))
        return log
    }

    private var f: [Ancestor] { [Ancestor(item(1), bytes("d"))] }

    @Test("a write whose base is no longer right is a copy beside the item, or refused if it is strict")
    func write() throws {
        var log = try log()
        let outcomes = [
            try log.add(5, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(3), base: operation(2)))),
            try log.add(9, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(4), base: operation(2)))),
            try log.add(
                10, isStrict: true, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(5), base: operation(2)))),
            try log.add(11, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(3), base: operation(2)))),
        ]
        #expect(outcomes == [.accepted, .conflict, .conflict, .accepted])
        #expect(log.tree == ["d/", "d/f \(mark).txt 4", "d/f.txt 3", "e/", "g 2"])
    }

    @Test func `of two machines that make or write the same, there is one item with the mode of the first`() throws {
        var log = try log()
        func content(_ mode: UInt16) -> ItemContent { ItemContent(.file, mode: mode, [5]) }
        let outcomes = [
            try log.add(5, ItemChange(item(5), bytes("x"), .create(content(0o600)))),
            try log.add(6, ItemChange(item(6), bytes("x"), .create(content(0o755)))),
            try log.add(7, ItemChange(item(3), bytes("g"), .write(content(0o755), base: operation(3)))),
            try log.add(8, ItemChange(item(3), bytes("g"), .write(content(0o600), base: operation(3)))),
            try log.add(
                10, isStrict: true, ItemChange(item(3), bytes("g"), .write(content(0o600), base: operation(3)))),
        ]
        #expect(outcomes == [.accepted, .accepted, .accepted, .accepted, .conflict])
        #expect(log.tree == ["d/", "d/f.txt 1", "e/", "g 5", "x 5"])
        #expect(log.fold.tree[item(5)]?.content.mode == 0o600 && log.fold.tree[item(3)]?.content.mode == 0o755)
    }

    @Test func `a move that is refused makes no directory, and neither does a path to a directory that was moved`()
        throws
    {
        var log = try log()
        let (d, e) = (Ancestor(item(1), bytes("d")), Ancestor(item(4), bytes("e")))
        #expect(try log.add(29, ItemChange(item(1), in: [e], bytes("d"), .move(base: operation(1)))) == .accepted)
        let before = log.tree
        // `e` to `d/gone/x`, where `d` is in `e` by now, and `gone` was removed.
        let circle = [d, Ancestor(item(30), bytes("gone"))]
        #expect(try log.add(30, ItemChange(item(4), in: circle, bytes("x"), .move(base: operation(4)))) == .conflict)
        #expect(log.tree == before)
        // `d` was in `gone` when the change was made, and was moved out before `gone` was removed.
        let line = [Ancestor(item(30), bytes("gone")), d]
        #expect(try log.add(31, ItemChange(item(31), in: line, bytes("y"), .create(file(7)))) == .accepted)
        #expect(log.tree == (before + ["e/d/y 7"]).sorted())
        let strict = ItemChange(item(32), in: line, bytes("z"), .create(file(7)))
        #expect(try log.add(32, isStrict: true, strict) == .conflict)
    }

    @Test("a strict entry changes all or nothing")
    func atomicity() throws {
        var log = try log()
        let before = log.fold
        let outcome = try log.add(
            9, isStrict: true, ItemChange(item(3), bytes("g"), .write(file(7), base: operation(3))),
            ItemChange(item(3), bytes("d"), .move(base: operation(3))))
        #expect(outcome == .conflict)
        #expect(log.fold.tree == before.tree)
    }

    @Test("a check holds for the item at its place with its version, or for nothing there, and changes nothing")
    func checks() throws {
        var log = try log()
        let checks: [(ItemChange, Bool)] = [
            (ItemChange(item(3), bytes("g"), .check(base: operation(3))), true),
            (ItemChange(item(3), bytes("g"), .check(base: operation(2))), false),
            (ItemChange(item(3), bytes("h"), .check(base: operation(3))), false),
            (ItemChange(item(2), in: f, bytes("f.txt"), .check(base: operation(2))), true),
            (ItemChange(item(9), bytes("h"), .check(base: .zero)), true),
            (ItemChange(item(9), bytes("g"), .check(base: .zero)), false),
            (ItemChange(item(9), in: [Ancestor(item(8), bytes("none"))], bytes("h"), .check(base: .zero)), true),
            (ItemChange(item(9), in: f, bytes("f.txt"), .check(base: .zero)), false),
        ]
        var number: UInt64 = 20
        for (check, holds) in checks {
            let before = log.tree
            let created = ItemChange(item(number), bytes("n\(number)"), .create(file(1)))
            let outcome = try log.add(number, isStrict: true, check, created)
            #expect(outcome == (holds ? .accepted : .conflict), "\(check)")
            #expect(log.tree.count == before.count + (holds ? 1 : 0))
            number += 1
        }
    }

    @Test("an entry with a check is of a version that an older program does not fold")
    func versions() throws {
        let check = ItemChange(item(3), bytes("g"), .check(base: operation(3)))
        let removal = ItemChange(item(3), bytes("g"), .remove(base: operation(3)))
        var encoded = ClusterEntry(operation(7), isStrict: true, [.item(check), .item(removal)]).bytes
        #expect(encoded.first == 2 && ClusterEntry(operation(7), isStrict: true, [.item(removal)]).bytes.first == 1)
        #expect(try ClusterEntry(bytes: encoded).changes == [.item(check), .item(removal)])
        encoded[0] = 1
        #expect(throws: ClusterDamage.self) { try ClusterEntry(bytes: encoded) }
        encoded[0] = 4
        #expect(throws: ClusterDamage.newerVersion(4)) { try ClusterEntry(bytes: encoded) }
    }

    @Test("a modification beats a deletion, in either order; what was removed above is made anew")
    func modificationAndDeletion() throws {
        var log = try log()
        _ = try log.add(5, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(3), base: operation(2))))
        #expect(try log.add(6, ItemChange(item(2), in: f, bytes("f.txt"), .remove(base: operation(2)))) == .conflict)
        #expect(try log.add(7, ItemChange(item(1), bytes("d"), .remove(base: operation(1)))) == .conflict)
        #expect(log.tree == ["d/", "d/f.txt 3", "e/", "g 2"])
        _ = try log.add(8, ItemChange(item(2), in: f, bytes("f.txt"), .remove(base: operation(5))))
        _ = try log.add(9, ItemChange(item(1), bytes("d"), .remove(base: operation(1))))
        #expect(log.tree == ["e/", "g 2"])
        _ = try log.add(10, ItemChange(item(2), in: f, bytes("f.txt"), .write(file(4), base: operation(5))))
        #expect(log.tree == ["d/", "d/f.txt 4", "e/", "g 2"])
    }

    @Test("a write below a moved directory follows it; a move into the item itself, and the later of two, is refused")
    func moves() throws {
        var log = try log()
        let toE = ItemChange(item(1), in: [Ancestor(item(4), bytes("e"))], bytes("d"), .move(base: operation(1)))
        #expect(try log.add(5, toE) == .accepted)
        #expect(try log.add(6, ItemChange(item(12), in: f, bytes("new"), .create(file(8)))) == .accepted)
        #expect(try log.add(7, ItemChange(item(4), in: f, bytes("e"), .move(base: operation(4)))) == .conflict)
        #expect(try log.add(8, ItemChange(item(1), bytes("x"), .move(base: operation(1)))) == .conflict)
        #expect(try log.add(9, ItemChange(item(3), bytes("e"), .move(base: operation(3)))) == .conflict)
        #expect(log.tree == ["e \(mark) 2", "e/", "e/d/", "e/d/f.txt 1", "e/d/new 8"])
    }

    @Test("of a file and a directory at one place, the later one conflicts; two directories become one")
    func places() throws {
        var log = try log()
        let line = [Ancestor(item(9), bytes("g"))]
        #expect(try log.add(9, ItemChange(item(9), bytes("g"), .create(directory))) == .conflict)
        #expect(try log.add(10, ItemChange(item(10), in: line, bytes("below"), .create(file(3)))) == .accepted)
        #expect(try log.add(11, ItemChange(item(11), bytes("d"), .create(directory))) == .accepted)
        let inD = [Ancestor(item(11), bytes("d"))]
        #expect(try log.add(12, ItemChange(item(12), in: inD, bytes("h"), .create(file(4)))) == .accepted)
        #expect(log.tree == ["d/", "d/f.txt 1", "d/h 4", "e/", "g \(mark)/", "g \(mark)/below 3", "g 2"])
    }

    @Test("sets take the order, bases are compared, additions add, messages are numbered")
    func values() throws {
        var log = Log()
        let key = bytes("k")
        let changes: [(ValueChange, ClusterFold.Outcome)] = [
            (ValueChange(key, .setNumber(5)), .accepted),
            (ValueChange(key, .add(2)), .accepted),
            (ValueChange(key, .setNumber(1), base: operation(1)), .conflict),
            (ValueChange(key, .add(.max)), .conflict),
            (ValueChange(key, .set([1]), base: operation(2)), .accepted),
            (ValueChange(key, .add(1)), .conflict),
            (ValueChange(key, .remove), .accepted),
            (ValueChange(key, .setNumber(3), base: .zero), .accepted),
        ]
        for (place, (change, outcome)) in changes.enumerated() {
            let entry = ClusterEntry(operation(UInt64(place) + 1), isStrict: place % 2 == 0, [.value(change)])
            #expect(try log.add(entry) == outcome)
        }
        #expect(log.fold.values[key]?.value == .number(3))
        for number in 20..<23 {
            let entry = ClusterEntry(operation(UInt64(number)), [.message(channel: key, body: [UInt8(number)])])
            _ = try log.add(entry)
        }
        #expect(log.fold.channels[key]?.newest.map(\.number) == [1, 2, 3])
    }

    @Test("changes of one key become one change")
    func joinedChanges() {
        let key = bytes("k")
        func joined(_ first: ValueChange.Action, _ second: ValueChange.Action) -> ValueChange.Action? {
            ValueChange(key, first).joined(with: ValueChange(key, second))?.action
        }
        let actions: [ValueChange.Action] = [.set([1]), .setNumber(5), .add(3), .remove]
        for first in actions {
            for second in actions {
                guard let both = joined(first, second) else {
                    Issue.record("\(first), \(second)")
                    continue
                }
                for start: ClusterFold.Value? in [nil, .number(1), .bytes([7])] {
                    let expected = second.applied(to: first.applied(to: start))
                    #expect(both.applied(to: start) == expected, "\(first), \(second) on \(String(describing: start))")
                }
            }
        }
        #expect(joined(.add(.max), .add(1)) == nil)
        #expect(joined(.setNumber(.max), .add(1)) == .setNumber(.max))
        #expect(ValueChange(key, .add(1), base: .zero).joined(with: ValueChange(key, .add(1))) == nil)
    }

    @Test("conflict names stay within 255 bytes, and end between characters")
    func conflictNames() {
        let cases = [
            ("name.ext", "name \(mark).ext"), ("name", "name \(mark)"), (".name", ".name \(mark)"),
            ("a.tar.gz", "a.tar \(mark).gz"),
        ]
        for (name, expected) in cases {
            #expect(FileNames.conflict(bytes(name), operation(9)) { _ in false } == bytes(expected))
        }
        let long = FileNames.conflict(bytes(String(repeating: "ä", count: 127)), operation(9)) { _ in false }
        #expect(long.count <= 255)
        #expect(String(validating: long, as: UTF8.self) != nil)
        let second = FileNames.conflict(bytes("a.b"), operation(9)) { $0 == bytes("a \(mark).b") }
        #expect(second == bytes("a (conflict \(operation(9).text)-1).b"))
    }

    @Test func `the name of an item is found in that of its conflict copy`() {
        for name in ["name.ext", "name", ".name", "a.tar.gz", "a b (c).d", "a \(mark).b"] {
            for count in [0, 1, 12] {
                var taken = count
                let copy = FileNames.conflict(bytes(name), operation(9)) { _ in
                    taken -= 1
                    return taken >= 0
                }
                #expect(FileNames.original(ofConflict: copy) == bytes(name), "\(name)")
            }
        }
        for name in [
            "", "name", mark, " \(mark)", "a (conflict )", "a (conflict 12).b", "a \(mark)b", "a \(mark.dropLast())",
            "a (conflict \(operation(9).text)-x)",
        ] {
            #expect(FileNames.original(ofConflict: bytes(name)) == nil, "\(name)")
        }
    }

    @Test("an entry that cannot be the next one changes nothing; damaged bytes count as an empty one")
    func nextEntry() throws {
        var log = try log()
        let last = try #require(log.entries.last)
        var jump = last
        jump.index += 2
        #expect(throws: ClusterDamage.self) { try log.fold.apply(last) }
        #expect(throws: ClusterDamage.self) { try log.fold.apply(jump) }
        #expect([log.fold.arrival(of: last), log.fold.arrival(of: jump)] == [.repeated, .gap])
        var next = last
        (next.index, next.revision, next.number) = (last.index + 1, last.revision + 1, last.number + 1)
        next.bytes = [4]
        #expect(throws: ClusterDamage.newerVersion(4)) { try log.fold.apply(next) }
        next.bytes = [1, 2, 3]
        #expect(try log.fold.apply(next).outcome == .damaged)
    }

    @Test(
        "entries and snapshots are what was written; cut or changed bytes are an error, or something else that is valid"
    )
    func codings() throws {
        let log = try log()
        #expect(try ClusterFold(snapshot: log.fold.snapshot) == log.fold)
        let changes: [ClusterChange] = [
            .item(ItemChange(item(2), in: f, bytes("f.txt"), .write(file(3), base: operation(2)))),
            .value(ValueChange(bytes("k"), .set([1, 2]), base: operation(1))),
            .message(channel: bytes("c"), body: [1]),
        ]
        let entry = ClusterEntry(operation(1), isStrict: true, changes)
        #expect(try ClusterEntry(bytes: entry.bytes) == entry)
        for count in 0..<entry.bytes.count {
            #expect(throws: ClusterDamage.self) { try ClusterEntry(bytes: Array(entry.bytes.prefix(count))) }
        }
        for place in 0..<entry.bytes.count {
            var changed = entry.bytes
            changed[place] ^= 0xFF
            guard let other = try? ClusterEntry(bytes: changed) else { continue }
            #expect(other.bytes == changed)
        }
        let snapshot = log.fold.snapshot
        for place in snapshot.indices {
            var changed = snapshot
            changed[place] ^= 0xFF
            guard let other = try? ClusterFold(snapshot: changed) else { continue }
            #expect(try ClusterFold(snapshot: other.snapshot) == other)
        }
        for name in ["", ".", "..", "a/b", "a\0", ".group", ".group-x", String(repeating: "a", count: 256)] {
            let hostile = ClusterEntry(operation(1), [.item(ItemChange(item(1), bytes(name), .create(file(1))))])
            #expect(throws: ClusterDamage.self, "\(name)") { try ClusterEntry(bytes: hostile.bytes) }
        }
        let (inner, outer) = (Ancestor(item(9), bytes("i")), Ancestor(item(8), bytes("o")))
        for line in [[Ancestor(item(1), bytes("d"))], [Ancestor(.root, bytes("d"))], [inner, outer, inner]] {
            let circle = ClusterEntry(
                operation(1), [.item(ItemChange(item(1), in: line, bytes("f"), .create(file(1))))])
            #expect(throws: ClusterDamage.self, "\(line)") { try ClusterEntry(bytes: circle.bytes) }
        }
    }

    @Test func `an entry and a snapshot with a .groupignore have versions that stop an older program`() throws {
        var log = try log()
        for (name, line) in [
            (".groupignore", []), ("a", [Ancestor(item(8), bytes(".groupignore"))]),
            (".groupignore \(mark)", [Ancestor(item(8), bytes("d"))]),
        ] {
            let entry = ClusterEntry(
                operation(40), [.item(ItemChange(item(40), in: line, bytes(name), .create(file(1))))])
            #expect(entry.bytes.first == ClusterEntry.versionWithIgnoreFile)
            #expect(try ClusterEntry(bytes: entry.bytes) == entry)
            #expect(throws: ClusterDamage.self) {
                try ClusterEntry(bytes: [ClusterEntry.version] + entry.bytes.dropFirst())
            }
        }
        #expect(log.fold.snapshot.first == ClusterFold.version)
        _ = try log.add(
            ClusterEntry(operation(41), [.item(ItemChange(item(41), bytes(".groupignore"), .create(file(1))))]))
        let snapshot = log.fold.snapshot
        #expect(snapshot.first == ClusterFold.versionWithIgnoreFile)
        #expect(try ClusterFold(snapshot: snapshot) == log.fold)
        #expect(throws: ClusterDamage.self) { try ClusterFold(snapshot: [ClusterFold.version] + snapshot.dropFirst()) }
    }

    @Test("numbers that no count reaches are refused, and no entry makes a tree too deep for a disk")
    func bounds() throws {
        for number in [UInt64.max, 1 << 63] {
            var fold = try ClusterFold(
                index: number, revision: 1, chain: 0, machines: [:], nodes: [:], values: [:], channels: [:])
            #expect(throws: ClusterDamage.self) { try ClusterFold(snapshot: fold.snapshot) }
            let last = ClusterFold.Last(number: number, operation: operation(1), outcome: .accepted)
            fold = try ClusterFold(index: 1, revision: 1, chain: 0, machines: [a: last], nodes: [:])
            #expect(throws: ClusterDamage.self) { try ClusterFold(snapshot: fold.snapshot) }
            fold = try ClusterFold(
                index: 1, revision: 1, chain: 0, machines: [:], nodes: [:],
                channels: [bytes("c"): ClusterFold.Channel(last: number, messages: [])])
            #expect(throws: ClusterDamage.self) { try ClusterFold(snapshot: fold.snapshot) }
        }
        // Each move doubles the depth; each directory but the first is made in the one before.
        var log = Log()
        for number in 1...1_500 as ClosedRange<UInt64> {
            let line = number == 1 ? [] : [Ancestor(item(number - 1), bytes("d"))]
            #expect(
                try log.add(number, ItemChange(item(number), in: line, bytes("d"), .create(directory))) == .accepted)
        }
        for number in 2_001...3_000 as ClosedRange<UInt64> {
            let line = number == 2_001 ? [] : [Ancestor(item(number - 1), bytes("d"))]
            _ = try log.add(number, ItemChange(item(number), in: line, bytes("e"), .create(directory)))
        }
        let deep = [Ancestor(item(1_500), bytes("d"))]
        #expect(
            try log.add(4_000, ItemChange(item(2_001), in: deep, bytes("x"), .move(base: operation(2_001))))
                == .conflict)
        let higher = [Ancestor(item(1_000), bytes("d"))]
        #expect(
            try log.add(4_001, ItemChange(item(2_001), in: higher, bytes("x"), .move(base: operation(2_001))))
                == .accepted)
        #expect(log.fold.tree.path(item(3_000)).count == 2_000)
    }

    @Test("a reading goes on, or is another history")
    func readings() throws {
        let old = try log()
        var log = old
        _ = try log.add(ClusterEntry(operation(20)), by: b)
        _ = try log.add(ClusterEntry(operation(21)))
        let all = ClusterReading(count: 6, snapshot: nil, entries: log.entries)
        #expect(try old.fold.continued(by: all, own: (a, 4)) == .entries(Array(log.entries.suffix(2))))
        let snapshot = ClusterReading(count: 6, snapshot: log.fold.snapshot, entries: [])
        #expect(try old.fold.continued(by: snapshot, own: (a, 4)) == .snapshot(log.fold, []))
        #expect(try log.fold.continued(by: snapshot, own: (a, 5)) == .entries([]))

        // A backup of before the last two: shorter, as long with other entries, or with a snapshot of these.
        let short = ClusterReading(count: 4, snapshot: nil, entries: old.entries)
        #expect(try log.fold.continued(by: short, own: (a, 5)) == .otherHistory)
        var other = old
        for number: UInt64 in 30...32 { _ = try other.add(ClusterEntry(operation(number)), by: b) }
        let long = ClusterReading(count: 7, snapshot: nil, entries: other.entries)
        #expect(try log.fold.continued(by: long, own: (a, 5)) == .otherHistory)
        let later = ClusterReading(count: 7, snapshot: other.fold.snapshot, entries: [])
        #expect(try log.fold.continued(by: later, own: (a, 5)) == .otherHistory)
        // What is missing there is another machine's.
        #expect(try log.fold.continued(by: later, own: (b, 1)) == .otherHistory)
        let hole = ClusterReading(count: 6, snapshot: nil, entries: Array(log.entries.dropFirst()))
        #expect(throws: ClusterDamage.self) { try old.fold.continued(by: hole, own: (a, 4)) }
    }

    @Test("the fate of an entry comes from the fold; a caller that gives up gets one of two fates; a clone is noticed")
    func outbox() {
        func last(_ number: UInt64, _ operation: ClusterName) -> ClusterFold.Last {
            ClusterFold.Last(number: number, operation: operation, outcome: .accepted)
        }
        var outbox = ClusterOutbox(machine: a)
        let (one, two) = (ClusterEntry(operation(1), isStrict: true), ClusterEntry(operation(2), isStrict: true))
        outbox.add(.entry(two, nil))
        #expect(outbox.giveUp(operation(2), empty: operation(8)) == .unavailable)
        let hidden = ClusterEntry(operation(3), [.item(ItemChange(item(3), bytes(".group"), .create(file(1))))])
        let isSent = [outbox.send(hidden), outbox.send(one, token: LockToken(lock: [1], grant: b))]
        #expect(isSent == [false, true])
        let request = outbox.request
        #expect(request?.number == 1)
        var sent = outbox
        #expect(sent.giveUp(operation(1), empty: operation(8)) == nil)
        #expect(sent.request?.bytes == ClusterEntry(operation(8)).bytes)
        for (name, fate) in [(operation(1), Fate.accepted), (operation(8), .unavailable)] {
            var copy = sent
            guard case .fate(_, let got) = copy.folded(last(1, name)) else {
                Issue.record("no fate")
                return
            }
            #expect(got == fate)
            #expect(copy.folded(last(1, name)) == .known)
            #expect(copy.folded(last(2, name)) == .clone)
        }
        #expect(sent.folded(last(1, operation(3))) == .clone)
        guard let request else { return }
        #expect(outbox.refused(request, counter: 1, hasToken: false) == nil)
        #expect(sent.refused(request, counter: 0, hasToken: false) == nil)
        #expect(outbox.refused(request, counter: 0, hasToken: false)?.entry == one)
        #expect(outbox.request == nil)
    }
}
