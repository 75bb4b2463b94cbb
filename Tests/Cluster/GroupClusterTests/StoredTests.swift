import GroupBytes
@testable import GroupCluster
import TestSupport
import Testing

private func operation(_ number: UInt64) -> ClusterName { ClusterName(high: 7, low: number) }
private func item(_ number: UInt64) -> ItemName { ItemName(operation(number), 0) }
private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private let file = ItemContent(.file, [1])
private let directory = ItemContent(.directory, mode: 0o755)

/// What a machine has stored is read like any input: another process may have written it.
@Suite struct `What a machine has stored` {
    private func local(_ parent: UInt64, _ name: String, _ content: ItemContent = directory) -> LocalTree.Node {
        LocalTree.Node(LocalItem(parent), bytes(name), content)
    }

    private func node(_ parent: ItemName, _ name: String, _ content: ItemContent = directory) -> ClusterTree.Node {
        ClusterTree.Node(parent, bytes(name), placed: operation(1), content, version: operation(1))
    }

    private func clusterChain(_ length: UInt64) -> [ItemName: ClusterTree.Node] {
        var nodes: [ItemName: ClusterTree.Node] = [:]
        for number in 1...length { nodes[item(number)] = node(number == 1 ? .root : item(number - 1), "d") }
        return nodes
    }

    private func chain(_ length: UInt64) -> [LocalItem: LocalTree.Node] {
        Dictionary(uniqueKeysWithValues: (1...length).map { (LocalItem($0), local($0 - 1, "d")) })
    }

    @Test func `items of the disk that are no tree are refused`() throws {
        let wrong: [String: [LocalItem: LocalTree.Node]] = [
            "its own directory": [LocalItem(1): local(1, "a")],
            "a circle": [LocalItem(1): local(2, "a"), LocalItem(2): local(1, "b")],
            "below a circle": [LocalItem(1): local(2, "a"), LocalItem(2): local(1, "b"), LocalItem(3): local(2, "c")],
            "no directory": [LocalItem(1): local(9, "a")],
            "in a file": [LocalItem(1): local(0, "a", file), LocalItem(2): local(1, "b")],
            "two at one place": [LocalItem(1): local(0, "a"), LocalItem(2): local(0, "a", file)],
            "the root": [.root: local(1, "a"), LocalItem(1): local(0, "b")], "too deep": chain(2_049),
        ]
        for (what, nodes) in wrong {
            #expect(throws: ClusterDamage.self, "\(what)") { try LocalTree(nodes) }
        }
        let deep = try LocalTree(chain(2_048))
        #expect(deep.ancestors(LocalItem(2_048)).count == 2_047)
        #expect(deep.descendants(of: .root).count == 2_048)
        #expect(deep.child(of: LocalItem(1), bytes("d")) == LocalItem(2))
        let files = try LocalTree([LocalItem(1): local(0, "a"), LocalItem(2): local(1, "b", file)])
        #expect(files.isWithin(LocalItem(2), LocalItem(1)) && !files.isWithin(LocalItem(1), LocalItem(2)))
    }

    @Test func `items of the cluster that are no tree are refused`() throws {
        let wrong: [String: [ItemName: ClusterTree.Node]] = [
            "its own directory": [item(1): node(item(1), "a")],
            "a circle": [item(1): node(item(2), "a"), item(2): node(item(1), "b")],
            "no directory": [item(1): node(item(9), "a")],
            "in a file": [item(1): node(.root, "a", file), item(2): node(item(1), "b")],
            "two at one place": [item(1): node(.root, "a"), item(2): node(.root, "a")],
            "the root": [.root: node(item(1), "a"), item(1): node(.root, "b")],
            "too deep": clusterChain(2_049),
        ]
        for (what, nodes) in wrong {
            #expect(throws: ClusterDamage.self, "\(what)") { try ClusterTree(nodes) }
        }
        #expect(try ClusterTree([item(1): node(.root, "a"), item(2): node(item(1), "b", file)]).nodes.count == 2)
    }

    @Test func `a walk over a tree with a circle ends`() {
        var tree = LocalTree()
        tree.put(LocalItem(1), local(2, "a"))
        tree.put(LocalItem(2), local(1, "b"))
        #expect(!tree.isWithin(LocalItem(1), .root) && tree.isWithin(LocalItem(1), LocalItem(2)))
        #expect(tree.ancestors(LocalItem(1)).count <= 3 && tree.descendants(of: LocalItem(1)).count <= 3)
    }

    @Test func `a number that cannot be added to is refused`() throws {
        for number in [UInt64.max, 1 << 63, (1 << 62) + 1] as [UInt64] {
            let last = ClusterFold.Last(number: number, operation: operation(1), outcome: .accepted)
            #expect(throws: ClusterDamage.self) { try ClusterFold.Last(bytes: last.bytes) }
            #expect(throws: ClusterDamage.self) { try LocalItem(bytes: LocalItem(number).bytes) }
            #expect(throws: ClusterDamage.self) { try LocalTree.Node(bytes: local(number, "a").bytes) }
            let base = ClusterMirror.Base(node: node(.root, "a"), local: LocalItem(number))
            #expect(throws: ClusterDamage.self) { try ClusterMirror.Base(bytes: base.bytes) }
            let message = ClusterFold.Message(number: number, operation: operation(1), body: [])
            #expect(throws: ClusterDamage.self) { try ClusterFold.Message(bytes: message.bytes) }
            let channel = try ClusterFold.Channel(last: number, messages: [])
            #expect(throws: ClusterDamage.self) { try ClusterFold.Channel(bytes: channel.bytes, messages: []) }
            for place in [
                StoredPosition(index: number), StoredPosition(revision: number), StoredPosition(number: number),
                StoredPosition(lastLocal: number),
            ] {
                #expect(throws: ClusterDamage.self) { try StoredPosition(bytes: place.bytes) }
            }
        }
        let place = StoredPosition(index: 1 << 62, revision: 2, chain: .max, number: 3, lastLocal: 4)
        #expect(try StoredPosition(bytes: place.bytes) == place)
        for number in [0, .max] as [UInt64] {
            let inFlight = ClusterOutbox.InFlight(number: number, entry: ClusterEntry(operation(1)), sent: [])
            #expect(throws: ClusterDamage.self) { try ClusterOutbox.InFlight(bytes: inFlight.bytes) }
        }
    }

    @Test func `the root is no item of the disk`() {
        let base = ClusterMirror.Base(node: node(.root, "a"), local: .root)
        #expect(throws: ClusterDamage.self) { try ClusterMirror.Base(bytes: base.bytes) }
        #expect(throws: ClusterDamage.self) { try LocalItem(bytes: LocalItem.root.bytes) }
    }

    @Test func `messages that are not the last ones of their channel are refused`() throws {
        func message(_ number: UInt64) -> ClusterFold.Message {
            ClusterFold.Message(number: number, operation: operation(number), body: [])
        }
        for numbers in [[3], [5], [2, 4], [4, 4], [0, 1, 2, 3, 4]] as [[UInt64]] {
            #expect(throws: ClusterDamage.self, "\(numbers)") {
                try ClusterFold.Channel(last: 4, messages: numbers.map(message))
            }
        }
        let channel = try ClusterFold.Channel(last: 4, messages: [message(4), message(3)])
        #expect(channel.newest.map(\.number) == [3, 4])
        #expect(try ClusterFold.Channel(bytes: channel.bytes, messages: channel.newest) == channel)
    }

    @Test func `a note of a file that came out has no path that leads elsewhere`() throws {
        for path in ["", "/a", "a/", "a//b", "..", "../a", "a/../b", ".", ".group/journal/1.log", "a/.group", "a\0"] {
            for (one, other) in [(path, "a"), ("a", path)] {
                let note = StoredTaken(path: bytes(one), aside: bytes(other), expected: [file])
                #expect(throws: ClusterDamage.self, "\(path)") { try StoredTaken(bytes: note.bytes) }
            }
        }
        let note = StoredTaken(
            path: bytes("d/a"), aside: bytes("d/a (conflict x)"), expected: [file, ItemContent(.link, bytes("../t"))])
        #expect(try StoredTaken(bytes: note.bytes) == note)
    }

    @Test func `a name of an item of the disk leads nowhere`() {
        for name in ["", ".", "..", "a/b", "a\0", ".group", String(repeating: "a", count: 256)] {
            #expect(throws: ClusterDamage.self, "\(name)") { try LocalTree.Node(bytes: local(0, name).bytes) }
        }
    }

    @Test func `20,000 changed rows are values or typed errors`() throws {
        let stored = StoredLocal(inode: 1, size: 2, modified: 3, changed: 4, local(5, "name", file))
        #expect(try StoredLocal(bytes: stored.bytes) == stored)
        let samples = [
            stored.bytes, StoredPosition(index: 1).bytes, LocalItem(3).bytes,
            StoredTaken(path: bytes("a"), aside: bytes("b"), expected: [file]).bytes,
        ]
        var random = SeededGenerator(seed: faultSeed)
        for round in 0..<20_000 {
            let row = mutated(samples[round % samples.count], using: &random)
            if let local = try? StoredLocal(bytes: row) { #expect(local.bytes == row) }
            if let place = try? StoredPosition(bytes: row) { #expect(place.bytes == row) }
            if let item = try? LocalItem(bytes: row) { #expect(item.bytes == row) }
            if let note = try? StoredTaken(bytes: row) { #expect(note.bytes == row) }
        }
    }
}
