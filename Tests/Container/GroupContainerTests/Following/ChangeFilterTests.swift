import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite struct `Change filters` {
    static func filter(_ rules: String...) -> ChangeFilter {
        var filter = ChangeFilter()
        for rule in rules {
            if rule.hasPrefix("-") { filter.exclude("\(rule.dropFirst())") } else { filter.include(rule) }
        }
        return filter
    }

    @Test(
        arguments: [
            (filter(), "any/thing", true),
            (filter("Library/**"), "Library/a/b", true), (filter("Library/**"), "Library", false),
            (filter("Library/**"), "other", false),
            (filter("-**/*.tmp"), "a/b.tmp", false), (filter("-**/*.tmp"), "a/b", true),
            (filter("-**/*.log", "keep.log"), "keep.log", true), (filter("-**/*.log", "keep.log"), "x.log", false),
            (filter("keep.log", "-**/*.log"), "keep.log", false), (filter("keep.log", "-**/*.log"), "x", false),
            (filter("a/**", "-a/b/**", "a/b/c"), "a/b/c", true), (filter("a/**", "-a/b/**", "a/b/c"), "a/b/d", false),
        ])
    func `the last matching pattern decides, and without a match the opposite of the first pattern`(
        filter: ChangeFilter, path: String, expected: Bool
    ) {
        #expect(filter.matches(ItemPath(path)) == expected)
    }

    @Test(
        arguments: [
            (filter(), "a", ChangeFilter.Coverage.all), (filter("a/**"), "a", .all), (filter("a/**"), "a/b", .all),
            (filter("a/**"), "b", .none), (filter("a/*"), "a", .some), (filter("a/*"), "a/b", .none),
            (filter("**/x/**"), "a", .some), (filter("**/x/**"), "a/x", .all),
            (filter("-a/**"), "a", .none), (filter("-a/**", "a/b/*"), "a", .some), (filter("-a/**"), "b", .all),
            (filter("-**/*.tmp"), "a", .some), (filter("a/**", "-**"), "a", .none),
        ])
    func `a filter knows whether it includes all, some or none of what is below a directory`(
        filter: ChangeFilter, directory: String, expected: ChangeFilter.Coverage
    ) {
        #expect(filter.coverage(below: Array(directory.utf8)) == expected)
    }

    @Test func `a filter chooses kinds and excludes purposes, but never a marker`() throws {
        var filter = ChangeFilter()
        filter.kinds = [.removed]
        let part = { (kind: ChangeRecord.Kind) in
            ChangePart(kind: kind, path: Array("a".utf8), state: ModelTree.state(.file, 1))
        }
        #expect(try Change.changes([part(.created)], at: 1, by: filter)?.isEmpty == true)
        #expect(try Change.changes([part(.removed)], at: 1, by: filter)?.count == 1)
        filter.excludedPurposes = [""]
        #expect(try Change.changes([part(.removed)], at: 1, by: filter)?.isEmpty == true)
        for kind in [Change.Kind.rescan, .bookmark, .degraded(reason: "x")] {
            #expect(filter.wants(Change(kind, sequence: 1, cursor: .sample(1), time: 0)))
        }
    }

    private static let state = ModelTree.state(.file, 7)
    private static let directory = ModelTree.state(.directory, 8)

    private func treeIndex(_ paths: String...) -> TreeIndex {
        var treeIndex = TreeIndex()
        for (index, path) in paths.enumerated() {
            let type: ItemType = path.hasSuffix("/") ? .directory : .file
            let name = path.hasSuffix("/") ? "\(path.dropLast())" : path
            let part = ChangePart(
                kind: .created, path: Array(name.utf8), state: ModelTree.state(type, UInt64(index + 1)))
            treeIndex.apply(part, at: UInt64(index + 1))
        }
        return treeIndex
    }

    private func reported(
        _ from: String, _ to: String, _ state: ItemState, _ filter: ChangeFilter, _ treeIndex: TreeIndex
    )
        throws -> [String]
    {
        let part = ChangePart(kind: .moved, path: Array(to.utf8), from: Array(from.utf8), state: state)
        return try #require(try Change.changes([part], at: 9, by: filter, before: treeIndex)).map(\.summary)
    }

    @Test func `a file moved across a filter's border is reported as created or removed`() throws {
        let filter = Self.filter("in/**")
        #expect(try reported("in/a", "in/b", Self.state, filter, treeIndex()) == ["moved in/b from in/a"])
        #expect(try reported("out/a", "in/a", Self.state, filter, treeIndex()) == ["created in/a"])
        #expect(try reported("in/a", "out/a", Self.state, filter, treeIndex()) == ["removed in/a"])
        #expect(try reported("out/a", "b", Self.state, filter, treeIndex()) == [])
    }

    @Test func `a directory moved into a filter is reported with its contents, each with its own generation`() throws {
        let filter = Self.filter("in/**", "-**/*.tmp")
        let before = treeIndex("in/", "out/", "out/f/", "out/f/a", "out/f/b.tmp", "out/f/g/", "out/f/g/c")
        let expected = ["created in/f", "created in/f/a", "created in/f/g", "created in/f/g/c"]
        #expect(try reported("out/f", "in/f", Self.directory, filter, before) == expected)
        #expect(try reported("in/f", "out/f", Self.directory, filter, before) == ["removed in/f"])
        let part = ChangePart(
            kind: .moved, path: Array("in/f".utf8), from: Array("out/f".utf8), state: Self.directory)
        let changes = try #require(try Change.changes([part], at: 9, by: filter, before: before))
        #expect(changes.map(\.generation) == [9, 4, 6, 7] && changes.allSatisfy { $0.sequence == 9 })
        #expect(changes.map { $0.transaction?.index } == [0, 1, 2, 3] && changes[0].transaction?.count == 4)
        #expect(try Change.changes([part], at: 9, by: filter, before: nil) == nil, "the items in it are not known")
    }

    @Test func `a filter reads the tree only if it needs it`() throws {
        let part = ChangePart(kind: .moved, path: Array("b".utf8), from: Array("a".utf8), state: Self.directory)
        for filter in [Self.filter("-**/*.tmp"), Self.filter("a/**", "b/**"), Self.filter("c/**"), Self.filter()] {
            let reported = try FilteredChange.reported([part], by: filter) { () throws -> TreeIndex? in
                Issue.record("the tree was requested")
                return nil
            }
            #expect(reported?.count == (filter == Self.filter("c/**") ? 0 : 1))
        }
    }

    private static func ignoring(_ patterns: String..., including included: String...) -> ChangeFilter {
        var filter = ChangeFilter(including: included)
        #expect(throws: Never.self) { for pattern in patterns { try filter.ignore(pattern) } }
        return filter
    }

    @Test func `a directory that is moved out of an ignored one is reported with its contents`() throws {
        let filter = Self.ignoring("tmp/", "*.o")
        let before = treeIndex("tmp/", "tmp/d/", "tmp/d/a", "tmp/d/b.o", "d/", "d/c", "d/e.o")
        #expect(try reported("tmp/d", "f", Self.directory, filter, before) == ["created f", "created f/a"])
        #expect(try reported("d", "tmp/e", Self.directory, filter, before) == ["removed d"])
        #expect(try reported("d", "f", Self.directory, filter, before) == ["moved f from d"])
        #expect(try reported("tmp/d", "tmp/e", Self.directory, filter, before) == [])
        #expect(try reported("d/e.o", "d/e", Self.state, filter, before) == ["created d/e"])
        #expect(try reported("d/c", "d/c.o", Self.state, filter, before) == ["removed d/c"])
        // The name decides that a directory is ignored.
        #expect(try reported("d", "g/tmp", Self.directory, filter, before) == ["removed d"])
        #expect(try reported("d/c", "g/tmp", Self.state, filter, before) == ["moved g/tmp from d/c"])
    }

    @Test func `an item that is replaced by an ignored one of another type is reported as removed`() throws {
        func reported(
            _ kind: ChangeRecord.Kind, _ path: String, from: String? = nil, _ state: ItemState?,
            other: ItemState? = nil, _ filter: ChangeFilter, _ before: TreeIndex
        ) throws -> [String] {
            let part = ChangePart(
                kind: kind, path: Array(path.utf8), from: from.map { Array($0.utf8) }, state: state, otherState: other)
            return try #require(try Change.changes([part], at: 9, by: filter, before: before)).map(\.summary)
        }
        let noDirectory = Self.ignoring("build/")
        let (file, directory) = (treeIndex("build", "x/", "x/a"), treeIndex("build/", "build/c", "p"))
        #expect(try reported(.created, "build", Self.directory, noDirectory, file) == ["removed build"])
        #expect(try reported(.created, "build", Self.directory, noDirectory, treeIndex()) == [])
        #expect(try reported(.created, "build", Self.state, noDirectory, directory) == ["created build"])
        #expect(try reported(.touched, "build", nil, noDirectory, directory) == [])
        #expect(try reported(.touched, "build", nil, noDirectory, file) == ["touched build"])
        // An external removal is recorded without the type.
        #expect(try reported(.removed, "build", nil, noDirectory, directory) == [])
        #expect(try reported(.removed, "build", nil, noDirectory, file) == ["removed build"])
        #expect(
            try reported(.moved, "build", from: "x", Self.directory, noDirectory, file)
                == ["removed build", "removed x"])
        #expect(
            try reported(.exchanged, "build", from: "p", Self.state, other: Self.directory, noDirectory, directory)
                == ["removed p", "created build", "created p", "created p/c"])
        let onlyDirectory = Self.ignoring("build", "!build/")
        #expect(try reported(.created, "build", Self.state, onlyDirectory, directory) == ["removed build"])
        #expect(try reported(.removed, "build", nil, onlyDirectory, file) == [])
        #expect(
            try reported(.moved, "build", from: "p", Self.state, onlyDirectory, directory)
                == ["removed build", "removed p"])
        let part = ChangePart(kind: .removed, path: Array("build".utf8), state: nil)
        #expect(try Change.changes([part], at: 9, by: noDirectory, before: nil) == nil, "the type is not known")
    }

    private static let filters = [
        filter(), filter("a/**"), filter("-a/**"), filter("**/*.txt"), filter("-**/*.txt"), filter("a", "a/**", "b/a"),
        filter("-b/**", "b/a/**", "-**/c.txt"), filter("*"), filter("*/*"), filter("**/a/**"), filter("-**/b"),
        ignoring("a/"), ignoring("b", "!b/"), ignoring("*", "!*/", "!c.txt"), ignoring("/a/b/", "c.txt"),
        ignoring("*.txt", "!/c.txt"), ignoring("a/**", "!a/b/"), ignoring("a/**/b", "b/c.txt/"),
        ignoring("b/", including: "a/**", "b/**"), ignoring("/*", "!/a/"), ignoring("**/b/", "!a/b/"),
    ]

    @Test(arguments: filters.indices, 1...6 as ClosedRange<UInt64>)
    func `a copy that applies filtered changes at random equals the part of the tree in the filter`(
        index: Int, seed: UInt64
    ) throws {
        let filter = Self.filters[index]
        var tree = ModelTree(seed: seed)
        var treeIndex = TreeIndex()
        var copy = ModelCopy()
        var log: [String] = []
        for sequence in 1...200 as ClosedRange<UInt64> {
            var parts: [ChangePart] = []
            for _ in 0...(tree.number(below: 4) / 3) {
                let items = tree.items
                guard let part = tree.step() else { continue }
                if part.kind == .removed && sequence.isMultiple(of: 2) {
                    parts += externalRemoval(of: part, items)
                } else {
                    parts.append(part)
                }
            }
            if parts.isEmpty { continue }
            let reported = try #require(try Change.changes(parts, at: sequence, by: filter, before: treeIndex))
            for part in parts { treeIndex.apply(part, at: sequence) }
            for change in reported { copy.apply(change) }
            log = reported.map(\.summary)
            let expected = ModelCopy(of: tree) { filter.matches(ItemPath($0), type: tree.items[$0]?.type) }
            try #require(copy == expected, "change \(sequence): \(parts) was reported as \(log)")
        }
    }

    /// Returns the removal as the leader records it: item by item, the deepest first, without their types.
    private func externalRemoval(of removal: ChangePart, _ items: [String: ItemState]) -> [ChangePart] {
        let path = String(decoding: removal.path, as: UTF8.self)
        return items.keys.filter { $0 == path || $0.hasPrefix(path + "/") }.sorted().reversed().map {
            ChangePart(kind: .removed, path: Array($0.utf8), state: nil)
        }
    }
}
