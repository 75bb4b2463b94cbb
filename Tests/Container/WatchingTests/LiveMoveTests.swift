import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Stream of external moves` {
    @Test(arguments: [("f", "g"), ("f", "F"), ("f", "d/f"), ("d/e/x", "x"), ("d/e/x", "d/y"), ("d/e", "e"), ("d", "D")])
    func `a move is reported as one move, with both paths`(from: String, to: String) async throws {
        let watched = try await WatchedContainer("mkdir -p d/e; printf 1 > f; printf 22 > d/e/x")
        let changes = try await watched.changes(by: "mv \(from) \(to)")
        #expect(changes.map(\.summary) == ["moved \(from) to \(to)"])
        #expect(changes.first?.type == (["d", "d/e"].contains(from) ? "directory" : "file"))
    }

    @Test func `a move out of the container is reported as a removal`() async throws {
        let watched = try await WatchedContainer("printf 1 > f")
        #expect(try await watched.reported(by: "mv f ../f") == ["removed f"])
    }

    @Test func `a move into the container is reported as a creation`() async throws {
        let watched = try await WatchedContainer("printf 1 > ../f")
        let changes = try await watched.changes(by: "mv ../f f")
        #expect(changes.map(\.summary) == ["created f"] && changes.first?.size == 1)
    }

    @Test func `a move into the container over a file is reported as a modification`() async throws {
        let watched = try await WatchedContainer("printf 1 > f; printf 22 > ../f")
        let changes = try await watched.changes(by: "mv ../f f")
        #expect(changes.map(\.summary) == ["modified f"] && changes.first?.size == 2)
    }

    @Test func `a move over a file inside the container is reported as a modification and a removal`() async throws {
        let watched = try await WatchedContainer("printf 1 > f; printf 22 > g")
        #expect(try await watched.reported(by: "mv g f").sorted() == ["modified f", "removed g"])
    }

    @Test func `two moves, out and in, of different files are reported as a removal and a creation`() async throws {
        let watched = try await WatchedContainer("printf same > f; printf same > ../g; touch -r f ../g")
        #expect(try await watched.reported(by: "mv f ../f; mv ../g g").sorted() == ["created g", "removed f"])
    }

    @Test func `several moves that follow each other lead to the right tree`() async throws {
        let watched = try await WatchedContainer("printf 1 > a; printf 22 > b")
        let reported = try await watched.reported(by: "mv a c; mv b a; mv c b")
        // The tree is compared with the disk. Which of the three are reported as moves depends on how many of them have
        // happened by the time the leader looks: it reports what it finds.
        let names = Set(reported.compactMap { $0.split(separator: " ").last })
        #expect(!reported.isEmpty && names.isSubset(of: ["a", "b", "c"]), "\(reported)")
    }

    @Test func `every item of a directory that is moved into the container is reported`() async throws {
        let watched = try await WatchedContainer(
            "mkdir -p ../in/a/b; for n in 1 2 3; do printf $n > ../in/$n; printf $n > ../in/a/b/$n; done")
        let reported = try await watched.reported(by: "mv ../in in")
        let inner = ["1", "2", "3", "a", "a/b", "a/b/1", "a/b/2", "a/b/3"]
        #expect(reported.sorted() == (["created in"] + inner.map { "created in/\($0)" }).sorted())
        #expect(try await watched.reported(by: "touch -d 2001-01-01 in/a/b/2") == ["touched in/a/b/2"])
    }

    @Test func `every item of a directory that is moved out is reported as removed, and nothing after that`()
        async throws
    {
        let watched = try await WatchedContainer("mkdir -p d/e; : > d/e/f")
        #expect(try await watched.reported(by: "mv d ../d") == ["removed d/e/f", "removed d/e", "removed d"])
        #expect(try await watched.reported(by: ": > ../d/e/g; rm ../d/e/f; mkdir ../d/h") == [])
    }

    @Test func `a change in a directory that was renamed is reported with its new path`() async throws {
        let watched = try await WatchedContainer("mkdir -p a/b ab; : > a/b/f; : > ab/f")
        #expect(try await watched.reported(by: "mv a c") == ["moved a to c"])
        #expect(try await watched.reported(by: ": > c/b/g").withoutRepetitions == ["created c/b/g"])
        #expect(try await watched.reported(by: ": > ab/g").withoutRepetitions == ["created ab/g"])
        #expect(try await watched.reported(by: "chmod 600 c/b/f") == ["touched c/b/f"])
    }

    @Test func `a change in a directory right after it is renamed is reported with its new path`() async throws {
        let watched = try await WatchedContainer("mkdir -p a/b; : > a/b/f")
        let reported = try await watched.reported(by: "mv a c; : > c/b/g; mkdir c/h; : > c/h/i")
        #expect(reported.filter { $0 == "created c/b/g" }.count == 1, "\(reported)")
        #expect(reported.filter { $0 == "created c/h/i" }.count == 1, "\(reported)")
        #expect(reported.allSatisfy { !$0.hasPrefix("created a/") }, "\(reported)")
    }

    @Test func `a directory that is renamed twice is reported as moved and nothing else`() async throws {
        let watched = try await WatchedContainer("mkdir -p a/b; : > a/b/f")
        let reported = try await watched.reported(by: "mv a b; mv b c")
        #expect([["moved a to c"], ["moved a to b", "moved b to c"]].contains(reported), "\(reported)")
        #expect(try await watched.reported(by: ": > c/b/g").withoutRepetitions == ["created c/b/g"])
        #expect(try await watched.reported(by: "mv c a") != [])
        #expect(try await watched.reported(by: "printf x >> a/b/f").withoutRepetitions == ["modified a/b/f"])
    }

    @Test func `directories that trade their places are reported with their paths at the end`() async throws {
        let watched = try await WatchedContainer("mkdir -p a/x b/y; : > a/x/1; : > b/y/2")
        try await watched.changes(by: "mv a c; mv b a; mv c b")
        #expect(
            try await watched.reported(by: ": > a/y/3; : > b/x/4").withoutRepetitions == [
                "created a/y/3", "created b/x/4",
            ])
    }
}
