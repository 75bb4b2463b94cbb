import TestSupport
import Testing

@testable import GroupContainer

@Suite struct `Debounced changes` {
    /// Changes in a short notation, one nanosecond apart: `+a` created, `~a` modified, `.a` touched, `-a` removed,
    /// `a>b` moved, `a%b` exchanged. A `/` at the end is a directory, a `!` in front a change without coordination.
    private struct Script {
        var debouncer: Debouncer
        var now: Int64 = 0
        var sequence: UInt64 = 0

        init(quiet: Int64 = 100, atMost: Int64 = 1_000) { debouncer = Debouncer(quiet: quiet, atMost: atMost) }

        mutating func note(_ words: String) throws {
            for word in words.split(separator: " ") {
                debouncer.note(try change(word), from: .sample(sequence - 1), at: now)
            }
        }

        mutating func change(_ word: Substring) throws -> Change {
            (now, sequence) = (now + 1, sequence + 1)
            let isForeign = word.hasPrefix("!")
            let isDirectory = word.hasSuffix("/")
            let type: ItemType = isDirectory ? .directory : .file
            let name = word.dropFirst(isForeign ? 1 : 0).dropLast(isDirectory ? 1 : 0)
            let kinds: [Character: ChangeRecord.Kind] = ["+": .created, "~": .modified, ".": .touched, "-": .removed]
            let state = ModelTree.state(type, sequence)
            var part: ChangePart
            if let at = name.firstIndex(where: { $0 == ">" || $0 == "%" }) {
                part = ChangePart(
                    kind: name[at] == ">" ? .moved : .exchanged, path: Array(name[name.index(after: at)...].utf8),
                    from: Array(name[..<at].utf8), state: state, otherState: state)
                if name[at] == ">" { part.otherState = nil }
            } else {
                let kind = kinds[name.first ?? " "] ?? .created
                part = ChangePart(
                    kind: kind, path: Array(name.dropFirst().utf8), state: kind == .removed ? nil : state,
                    wasDirectory: isDirectory && kind == .removed)
            }
            var change = try #require(try Change.changes([part], at: sequence)?.first)
            if isForeign { change.author = nil }
            return change
        }

        mutating func all() -> [String] { debouncer.release(at: .max, end: .sample(sequence)).map(\.summary) }
    }

    @Test(
        arguments: [
            ("+a ~a ~a", ["created a"]), ("~a .a", ["modified a"]), (".a .a", ["touched a"]), ("+a -a", []),
            ("~a -a", ["removed a"]), ("-a +a", ["modified a"]), ("-a +a -a", ["removed a"]),
            ("+a -a +a", ["created a"]),
            ("+d/ +d/a -d/a -d/", []), ("+d/ +d/a -d/", []), ("~d/a -d/", ["removed d"]),
            ("-a +a/", ["removed a", "created a"]),
            ("-a +a/ -a/", ["removed a"]), ("+a ~b ~a ~b", ["created a", "modified b"]),
            // A file is written under another name and renamed.
            ("+t ~t !t>a", ["created a"]), ("-a +t !t>a", ["modified a"]), ("~a +t t>a", ["modified a"]),
            ("+t t>a -a", ["removed a"]), ("+t !t>a -a", []),
            ("+d/ +d/x +e/ !d>e/d/", ["created e", "created e/d", "created e/d/x"]),
            // An item is moved several times, also back.
            ("!a>b !b>c", ["moved c from a"]), ("a>b b>c", ["moved b from a", "moved c from b"]),
            ("!a>b !b>a", []), ("!a>b ~b !b>a", ["modified a"]), ("!a>b -b", ["removed a"]),
            ("!a>b ~b -b", ["removed a"]),
            // An editor moves the old file aside, writes a new one, and removes the old one.
            ("!a>b +a -b", ["modified a"]), ("!a>b +a ~a ~b -b", ["modified a"]), ("~a !a>b +a -b", ["modified a"]),
            ("!a>b +t !t>a -b", ["modified a"]), ("!a>b +a -b -a", ["removed a"]),
            ("!a>b +d/ !b>d/b +a -d/b", ["created d", "modified a"]),
            ("!d>e/ +d/ +d/x -e/", ["removed d", "created d", "created d/x"]),
            ("!a>b +a/ -b", ["removed a", "created a"]),
            ("~a !a>b", ["moved b from a", "modified b"]),
            ("~d/x .d/ !d>e/", ["moved e from d", "modified e/x", "touched e"]),
            ("!a>b +a !b>c", ["moved c from a", "created a"]),
            ("!a>b +d/ !b>d/b", ["moved b from a", "created d", "moved d/b from b"]),
            ("~b a>b", ["moved b from a"]), ("-b a>b b>c", ["removed b", "moved c from a"]),
            ("d/x>y/ y>d/", ["moved y from d/x", "moved d from y"]),
            ("!d/x>y/ y>d/", ["moved y from d/x", "moved d from y"]),
            ("~a a%b ~a", ["modified a", "exchanged b from a", "modified a"]),
        ])
    func `several changes of a path are debounced to their net changes`(script: String, expected: [String]) throws {
        var sample = Script()
        try sample.note(script)
        #expect(Set(sample.all()) == Set(expected))
        var again = Script()
        try again.note(script)
        #expect(again.all().count == expected.count)
    }

    @Test func `a path is released once it was quiet long enough, or after the longest wait`() throws {
        var sample = Script()
        try sample.note("+a +b")
        sample.now = 60
        try sample.note("~b")
        #expect(sample.debouncer.due == 101)
        #expect(sample.debouncer.release(at: 100, end: .sample(3)).isEmpty)
        #expect(sample.debouncer.release(at: 101, end: .sample(3)).map(\.summary) == ["created a"])
        #expect(sample.debouncer.due == 161)
        for moment in stride(from: 100 as Int64, to: 1_002, by: 50) {
            sample.now = moment
            try sample.note("~b")
            #expect(sample.debouncer.release(at: moment + 2, end: .sample(3)).isEmpty == (moment < 1_000), "\(moment)")
        }
        #expect(sample.debouncer.isEmpty)
    }

    @Test func `changes that concern each other are released in their order`() throws {
        var sample = Script()
        try sample.note("~d/x")
        sample.now = 50
        try sample.note("!d>e/")
        #expect(sample.debouncer.release(at: 120, end: .sample(2)).isEmpty, "the file is quiet, its directory is not")
        #expect(
            sample.debouncer.release(at: 151, end: .sample(2)).map(\.summary) == ["moved e from d", "modified e/x"])
        sample = Script(atMost: 60)
        try sample.note("~d/x")
        sample.now = 50
        try sample.note("!d>e/")
        let expected = ["moved e from d", "modified e/x"]
        #expect(sample.debouncer.release(at: 61, end: .sample(2)).map(\.summary) == expected, "the file may not wait")
    }

    @Test func `the cursor of each released change skips no change that is held back`() throws {
        var sample = Script()
        try sample.note("+a +b +c")
        sample.now = 50
        try sample.note("~b")
        let first = sample.debouncer.release(at: 110, end: .sample(4))
        #expect(first.map(\.summary) == ["created a", "created c"])
        #expect(first.map(\.cursor.sequence) == [1, 1], "b is held back still, from the second on")
        #expect(sample.debouncer.resumeCursor(end: .sample(9)).sequence == 1)
        let rest = sample.debouncer.release(at: 200, end: .sample(9))
        #expect(rest.map(\.summary) == ["created b"] && rest[0].cursor.sequence == 9 && rest[0].sequence == 4)
        #expect(sample.debouncer.resumeCursor(end: .sample(9)).sequence == 9)
    }

    /// 300 random changes, and what is released of them, as they come.
    private struct Run {
        var original: [Change] = []
        var released: [Change] = []
        var exact = ModelCopy()

        init(seed: UInt64, moves: Bool) throws {
            var tree = ModelTree(seed: seed, moves: moves)
            var debouncer = Debouncer(quiet: Int64(tree.number(below: 60)), atMost: Int64(20 + tree.number(below: 200)))
            for moment in 1...300 as ClosedRange<Int64> {
                guard let part = tree.step() else { continue }
                let number = UInt64(original.count + 1)
                var change = try #require(try Change.changes([part], at: number)?.first)
                // The leader found the move, and reported first that the replaced item is gone: then nothing is
                // replaced.
                if case .moved = change.kind, exact.items[change.path.description] == nil, !seed.isMultiple(of: 3) {
                    change.author = nil
                }
                exact.apply(change)
                original.append(change)
                debouncer.note(change, from: .sample(number - 1), at: moment * 5)
                released += debouncer.release(at: moment * 5, end: .sample(number))
            }
            released += debouncer.release(at: 0, end: .sample(UInt64(original.count)), all: true)
            #expect(debouncer.isEmpty)
        }
    }

    @Test(arguments: 1...100 as ClosedRange<UInt64>)
    func `released changes make the same tree as all changes, in fewer lines, at random`(seed: UInt64) throws {
        let run = try Run(seed: seed, moves: true)
        var copy = ModelCopy()
        for change in run.released { copy.apply(change) }
        try #require(
            copy == run.exact, "\(run.original.map(\.summary)) was released as \(run.released.map(\.summary))")
        #expect(run.released.count <= run.original.count)
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `resuming from the cursor of any released change skips nothing, at random`(seed: UInt64) throws {
        let run = try Run(seed: seed, moves: false)
        var copy = ModelCopy()
        for change in run.released {
            copy.apply(change)
            var again = copy
            for missed in run.original where missed.sequence > change.cursor.sequence { again.apply(missed) }
            try #require(again == run.exact, "from behind \(change.summary)")
        }
    }
}
