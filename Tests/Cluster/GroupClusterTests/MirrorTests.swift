import GroupCluster
import Testing

private let machine = ClusterName(high: 1, low: 1)
private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func file(_ digest: UInt8) -> ItemContent { ItemContent(.file, [digest]) }

/// A machine without a network: its changes are folded at once, and others' in between.
private struct Alone {
    var fold = ClusterFold()
    var machine = SimulatedMachine(GroupClusterTests.machine)
    var last: UInt64 = 100

    mutating func name() -> ClusterName {
        last += 1
        return ClusterName(high: 9, low: last)
    }

    mutating func make(_ name: String, in parent: LocalItem = .root, _ content: ItemContent) -> LocalItem {
        let local = machine.newLocal()
        machine.put(local, LocalTree.Node(parent, bytes(name), content))
        return local
    }

    mutating func fold(_ changes: [ClusterChange], _ operation: ClusterName) throws -> ClusterFold.Verdict {
        let number = (fold.machines[machine.core.outbox.machine]?.number ?? 0) + 1
        let verdict = try fold.apply(
            OrderedEntry(
                index: fold.index + 1, revision: fold.revision + 1, machine: machine.core.outbox.machine,
                number: number, bytes: ClusterEntry(operation, changes).bytes))
        machine.core.fold = fold
        machine.core.mirror.mark(verdict.items)
        return verdict
    }

    /// Makes all steps that are possible. Returns them.
    @discardableResult
    mutating func apply(deferred: Set<ItemName> = []) -> [MirrorStep] {
        var steps: [MirrorStep] = []
        for _ in 0..<100 {
            let fresh = name()
            guard
                let step = machine.core.mirror.nextStep(
                    to: fold.tree, on: machine.disk, inFlight: [], deferred: deferred, fresh: fresh)
            else { break }
            machine.perform(step)
            steps.append(step)
        }
        return steps
    }

    /// Sends what the disk has. Returns the outcome of each entry.
    mutating func send() throws -> [ClusterFold.Outcome] {
        var outcomes: [ClusterFold.Outcome] = []
        while case .item(let local)? = machine.core.outbox.next() {
            let operation = name()
            let (changes, sent) = machine.core.mirror.changes(
                of: [local], on: machine.disk, in: fold.tree, operation: operation)
            if changes.isEmpty { continue }
            outcomes.append(try fold(changes, operation).outcome)
            machine.core.mirror.folded(sent, operation)
            apply()
        }
        return outcomes
    }

    /// Paths of the cluster's tree, which the disk has, too.
    var paths: [String] {
        let tree = fold.tree.nodes.keys.map { item in
            fold.tree.path(item).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
        }
        let disk = machine.paths.keys.sorted()
        return tree.sorted() == disk ? disk : ["disk \(disk)", "tree \(tree.sorted())"]
    }
}

@Suite("The base between the cluster's tree and the disk")
struct MirrorTests {
    @Test("two items exchange their places, and a file replaced under its name is a write")
    func exchange() throws {
        var alone = Alone()
        let (x, y) = (alone.make("x", file(1)), alone.make("y", file(2)))
        #expect(try alone.send() == [.accepted, .accepted])
        let before = Set(alone.fold.tree.nodes.keys)
        alone.machine.put(x, LocalTree.Node(.root, bytes("t"), file(1)))
        alone.machine.put(y, LocalTree.Node(.root, bytes("x"), file(2)))
        alone.machine.put(x, LocalTree.Node(.root, bytes("y"), file(1)))
        #expect(try alone.send() == [.accepted])
        alone.machine.put(x, nil)
        _ = alone.make("y", file(3))
        #expect(try alone.send() == [.accepted])
        #expect(alone.paths == ["x", "y"])
        #expect(Set(alone.fold.tree.nodes.keys) == before)
    }

    @Test("a deep tree is sent with what is above it, and removed from below")
    func depth() throws {
        var alone = Alone()
        let directory = alone.make("d", ItemContent(.directory))
        let inner = alone.make("e", in: directory, ItemContent(.directory))
        let leaf = alone.make("f", in: inner, file(1))
        _ = alone.machine.core.outbox.next()
        _ = alone.machine.core.outbox.next()
        #expect(try alone.send() == [.accepted])
        #expect(alone.paths == ["d", "d/e", "d/e/f"])
        for local in [leaf, inner, directory] { alone.machine.put(local, nil) }
        #expect(try alone.send() == [.accepted, .accepted, .accepted])
        #expect(alone.paths.isEmpty)
    }

    @Test("unsent content that is in the way of another machine's gets a conflict name")
    func aside() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        _ = try alone.send()
        let item = try #require(alone.fold.tree.child(of: .root, bytes("x")))
        let base = try #require(alone.fold.tree[item]?.version)
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), file(2)))
        let other = alone.name()
        let write = ItemChange(item, bytes("x"), .write(file(3), base: base))
        #expect(try alone.fold([.item(write)], other).outcome == .accepted)
        alone.apply()
        #expect(alone.machine.disk[x]?.content == file(3))
        #expect(try alone.send() == [.accepted])
        #expect(alone.paths.count == 2)
    }

    @Test("what is in the way of an item in flight waits for its fate")
    func inFlight() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        let (tree, mine, fresh) = (alone.fold.tree, alone.name(), alone.name())
        let (changes, sent) = alone.machine.core.mirror.changes(
            of: [x], on: alone.machine.disk, in: tree, operation: mine)
        let other = alone.name()
        _ = try alone.fold([.item(ItemChange(ItemName(other, 0), bytes("x"), .create(file(2))))], other)
        let step = alone.machine.core.mirror.nextStep(
            to: alone.fold.tree, on: alone.machine.disk, inFlight: sent, fresh: fresh)
        #expect(step == nil)
        #expect(try alone.fold(changes, mine).outcome == .conflict)
        alone.machine.core.mirror.folded(sent, mine)
        alone.apply()
        #expect(alone.paths == ["x", "x (conflict \(mine.text))"])
        #expect(alone.machine.disk[x]?.content == file(1))
    }

    @Test func `a directory that is removed while its creation is in flight is not made again`() throws {
        var alone = Alone()
        let directory = alone.make("d", ItemContent(.directory, mode: 0o755))
        let file = alone.make("f", in: directory, file(1))
        let mine = alone.name()
        let (changes, sent) = alone.machine.core.mirror.changes(
            of: [directory, file], on: alone.machine.disk, in: alone.fold.tree, operation: mine)
        alone.machine.put(file, nil)
        alone.machine.put(directory, nil)
        #expect(try alone.fold(changes, mine).outcome == .accepted)
        alone.machine.core.mirror.folded(sent, mine)
        alone.apply()
        #expect(alone.machine.disk.nodes.isEmpty, "nothing is made again")
        // A directory waits for what was in it.
        while alone.machine.core.outbox.next() != nil {}
        alone.machine.core.outbox.add(.item(file))
        alone.machine.core.outbox.add(.item(directory))
        #expect(try alone.send() == [.accepted, .accepted])
        #expect(alone.paths.isEmpty)
    }

    @Test func `an item of another kind at the place of one that is gone is created behind the removal`() throws {
        var alone = Alone()
        let old = alone.make("x", file(1))
        _ = try alone.send()
        alone.machine.put(old, nil)
        let new = alone.make("x", ItemContent(.directory, mode: 0o755))
        #expect(try alone.send() == [.accepted, .accepted])
        #expect(alone.paths == ["x/"] || alone.paths == ["x"], "\(alone.paths)")
        #expect(alone.machine.disk[new]?.content.kind == .directory)
    }

    @Test func `an equal item that another machine made first takes over the one here while its content is loaded`()
        throws
    {
        for content in [file(1), ItemContent(.directory, mode: 0o755)] {
            var alone = Alone()
            let x = alone.make("x", content)
            let (other, mine) = (alone.name(), alone.name())
            let theirs = ItemName(other, 0)
            _ = try alone.fold([.item(ItemChange(theirs, bytes("x"), .create(content)))], other)
            let (changes, sent) = alone.machine.core.mirror.changes(
                of: [x], on: alone.machine.disk, in: ClusterTree(), operation: mine)
            #expect(try alone.fold(changes, mine).outcome == .accepted)
            alone.machine.core.mirror.folded(sent, mine)
            #expect(alone.apply(deferred: [theirs]).isEmpty, "nothing is removed, to be made again")
            #expect(alone.machine.core.mirror.base[theirs]?.local == x)
            #expect(alone.apply().isEmpty)
            #expect(alone.paths == ["x"] && alone.machine.core.mirror.differences(on: alone.machine.disk).isEmpty)
        }
    }

    @Test func `a mode that is changed here while another machine writes is kept with the other content`() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        _ = try alone.send()
        let item = try #require(alone.fold.tree.child(of: .root, bytes("x")))
        func base() throws -> ClusterName { try #require(alone.fold.tree[item]?.version) }
        func write(_ content: ItemContent) throws {
            let (base, other) = (try base(), alone.name())
            let write = ItemChange(item, bytes("x"), .write(content, base: base))
            #expect(try alone.fold([.item(write)], other).outcome == .accepted)
            alone.apply()
        }
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), ItemContent(.file, mode: 0o755, [1])))
        try write(file(2))
        #expect(alone.machine.disk[x]?.content == ItemContent(.file, mode: 0o755, [2]))
        #expect(try alone.send() == [.accepted])
        #expect(alone.fold.tree[item]?.content == ItemContent(.file, mode: 0o755, [2]))
        // Of two modes, the cluster's stands.
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), ItemContent(.file, mode: 0o700, [2])))
        try write(ItemContent(.file, mode: 0o600, [2]))
        #expect(alone.machine.disk[x]?.content == ItemContent(.file, mode: 0o600, [2]))
        // A content that is written here as well has a conflict name, with its mode.
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), ItemContent(.file, mode: 0o755, [3])))
        try write(ItemContent(.file, mode: 0o600, [4]))
        #expect(alone.machine.disk[x]?.content == ItemContent(.file, mode: 0o600, [4]))
        _ = try alone.send()
        #expect(alone.paths.count == 2)
        // A content stays here if the cluster has only another mode.
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), ItemContent(.file, mode: 0o600, [5])))
        try write(ItemContent(.file, mode: 0o755, [4]))
        #expect(alone.machine.disk[x]?.content == ItemContent(.file, mode: 0o755, [5]))
        #expect(try alone.send() == [.accepted])
        #expect(alone.fold.tree[item]?.content == ItemContent(.file, mode: 0o755, [5]) && alone.paths.count == 2)
        let copies = alone.machine.disk.nodes.filter { $0.key != x }.map(\.value.content)
        #expect(copies == [ItemContent(.file, mode: 0o755, [3])])
    }

    @Test func `a new item at the path of a moved one needs no other name when both are sent at once`() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        _ = try alone.send()
        alone.machine.put(x, LocalTree.Node(.root, bytes("y"), file(1)))
        let new = alone.make("x", file(2))
        let operation = alone.name()
        let (changes, sent) = alone.machine.core.mirror.changes(
            of: [x, new], on: alone.machine.disk, in: alone.fold.tree, operation: operation)
        #expect(changes.count == 2, "\(changes)")
        #expect(try alone.fold(changes, operation).outcome == .accepted)
        alone.machine.core.mirror.folded(sent, operation)
        alone.apply()
        #expect(alone.paths == ["x", "y"])
    }

    @Test func `an exchange that was made before a kill, and not stored, is no change of this machine`() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        _ = try alone.send()
        let item = try #require(alone.fold.tree.child(of: .root, bytes("x")))
        let (base, second, third) = (try #require(alone.fold.tree[item]?.version), alone.name(), alone.name())
        _ = try alone.fold([.item(ItemChange(item, bytes("x"), .write(file(2), base: base)))], second)
        let tree = alone.fold.tree
        // The exchange was made, and then the program was killed: the base is still the old one.
        alone.machine.put(x, LocalTree.Node(.root, bytes("x"), file(2)))
        var cutOff = alone
        _ = try alone.fold([.item(ItemChange(item, bytes("x"), .write(file(3), base: second)))], third)
        alone.machine.core.mirror.madeEarlier(
            exchangeOf: x, expected: .init(file(1)), new: .init(file(2)), in: alone.fold.tree)
        alone.apply()
        #expect(try alone.send().isEmpty)
        #expect(alone.paths == ["x"] && alone.machine.disk[x]?.content == file(3))
        // A write on top of it has it as its base.
        cutOff.machine.core.mirror.madeEarlier(exchangeOf: x, expected: .init(file(1)), new: .init(file(2)), in: tree)
        cutOff.machine.put(x, LocalTree.Node(.root, bytes("x"), file(4)))
        #expect(try cutOff.send() == [.accepted])
        #expect(cutOff.paths == ["x"] && cutOff.fold.tree[item]?.content == file(4))
    }

    @Test func `an exchange that was made before a kill is kept until its entry is read again`() throws {
        var alone = Alone()
        let x = alone.make("x", file(1))
        _ = try alone.send()
        let item = try #require(alone.fold.tree.child(of: .root, bytes("x")))
        let (base, second, third) = (try #require(alone.fold.tree[item]?.version), alone.name(), alone.name())
        // The entry was read, the exchange was made, and neither was stored when the program was killed.
        alone.machine.disk.put(x, LocalTree.Node(.root, bytes("x"), file(2)))
        alone.machine.core.mirror.madeEarlier(
            exchangeOf: x, expected: .init(file(1)), new: .init(file(2)), in: alone.fold.tree)
        alone.machine.core.mirror.markDifferences(to: alone.fold.tree)
        #expect(alone.apply().isEmpty && alone.machine.core.mirror.stale.isEmpty)
        #expect(alone.machine.core.mirror.differences(on: alone.machine.disk).isEmpty)
        // Another machine has written on top of it.
        _ = try alone.fold([.item(ItemChange(item, bytes("x"), .write(file(2), base: base)))], second)
        _ = try alone.fold([.item(ItemChange(item, bytes("x"), .write(file(3), base: second)))], third)
        #expect(alone.apply().count == 1)
        #expect(alone.paths == ["x"] && alone.machine.disk[x]?.content == file(3), "and no conflict copy")
    }

    @Test func `where most items are gone, removals are withheld until each is back or a person accepts`() throws {
        var alone = Alone()
        let locals = (0..<10).map { alone.make("\($0)", file(UInt8($0))) }
        _ = try alone.send()
        var guarded = RemovalGuard()
        func check() -> RemovalGuard.Event? {
            guarded.check(alone.machine.core.mirror, alone.machine.disk, at: 0)
        }
        func withholds(_ local: LocalItem) -> Bool {
            guarded.withholds(local, alone.machine.core.mirror, alone.machine.disk)
        }
        func bring(_ number: Int) {
            alone.machine.put(
                locals[number], LocalTree.Node(.root, Array("\(number)".utf8), file(UInt8(number))))
        }
        for local in locals.prefix(5) { alone.machine.put(local, nil) }
        var event = check()
        #expect(event == nil && !withholds(locals[0]))
        alone.machine.put(locals[5], nil)
        event = check()
        #expect(event == .began && withholds(locals[0]) && !withholds(locals[6]))
        #expect(guarded.withheldCount(alone.machine.core.mirror, alone.machine.disk) == 6)
        // A coordinated change is intended.
        guarded.note(meant: [locals[6]])
        alone.machine.put(locals[6], nil)
        event = check()
        #expect(event == nil && !withholds(locals[6]) && withholds(locals[0]))
        // A backup that is restored comes half way, and then all the way.
        for number in 0..<5 { bring(number) }
        event = check()
        #expect(event == nil && withholds(locals[5]) && guarded.withheld == [locals[5]])
        bring(5)
        event = check()
        #expect(event == .ended && !guarded.isWithholding)
        // What is accepted is gone now. What goes later is counted anew.
        for local in locals.prefix(6) { alone.machine.put(local, nil) }
        event = check()
        let accepted = [guarded.accept(alone.machine.core.mirror, alone.machine.disk), nil]
        #expect(event == .began && accepted == [6, nil] && !withholds(locals[0]) && guarded.isUnstored)
        event = check()
        #expect(event == nil)
        for local in locals[7...] { alone.machine.put(local, nil) }
        event = check()
        #expect(event == nil, "three of ten, as the others are intended")
        bring(0)
        guarded.forgetPresent { alone.machine.disk[$0] != nil }
        #expect(!guarded.meant.contains(locals[0]) && guarded.meant.count == 6)
        guarded.sentAll()
        #expect(guarded.meant.isEmpty)
        event = check()
        #expect(event == .began)
    }

    @Test func `of few items all may be removed at once`() throws {
        var alone = Alone()
        let locals = (0..<7).map { alone.make("\($0)", file(UInt8($0))) }
        _ = try alone.send()
        for local in locals { alone.machine.put(local, nil) }
        var guarded = RemovalGuard()
        let event = guarded.check(alone.machine.core.mirror, alone.machine.disk, at: 0)
        #expect(event == nil)
    }

    @Test func `a removal long after a loss is counted apart from it`() throws {
        var alone = Alone()
        let locals = (0..<30).map { alone.make("\($0)", file(UInt8($0))) }
        _ = try alone.send()
        var guarded = RemovalGuard()
        func check(_ seconds: Int64) -> RemovalGuard.Event? {
            guarded.check(alone.machine.core.mirror, alone.machine.disk, at: seconds * 1_000_000_000)
        }
        func remove(_ numbers: Range<Int>) { for local in locals[numbers] { alone.machine.put(local, nil) } }
        remove(0..<16)
        var event = check(100)
        #expect(event == .began && guarded.withheld.count == 16)
        // The same directory is still being removed.
        remove(16..<18)
        event = check(125)
        remove(18..<19)
        #expect(event == nil && guarded.withheld.count == 18)
        event = check(150)
        #expect(event == nil && guarded.withheld.count == 19)
        // One of the other items is removed on purpose, and then most of those that are left are gone.
        remove(19..<20)
        event = check(200)
        #expect(event == nil && guarded.withheld.count == 19, "\(guarded)")
        #expect(!guarded.withholds(locals[19], alone.machine.core.mirror, alone.machine.disk))
        // It was not sent yet when most of what was left was gone, too.
        remove(20..<26)
        event = check(300)
        #expect(event == nil && guarded.withheld.count == 26)
        // A run that begins anew knows no time.
        guarded = RemovalGuard(withheld: guarded.withheld)
        remove(26..<27)
        event = check(0)
        #expect(event == nil && guarded.withheld.count == 26)
    }
}
