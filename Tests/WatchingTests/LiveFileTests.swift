import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2)))
struct `Of a file that is changed without coordination, the stream tells` {
    @Test func `one creation, when it is touched`() async throws {
        let watched = try await WatchedContainer()
        let told = try await watched.told(by: "touch f")
        // touch(1) sets the dates after it made the file: the leader may have been there in between.
        #expect(told.filter { $0 == "created f" }.count == 1 && told.first == "created f", "\(told)")
        #expect(told.dropFirst().allSatisfy { $0 == "touched f" }, "\(told)")
    }

    @Test func `its creation, and then its content`() async throws {
        let watched = try await WatchedContainer()
        let changes = try await watched.changes(by: "printf x > f")
        #expect(changes.first?.kind == "created" && changes.first?.type == "file")
        #expect(changes.dropFirst().allSatisfy { $0.kind == "modified" }, "\(changes.map(\.summary))")
        #expect(changes.allSatisfy { $0.path == "f" } && changes.last?.size == 1)
        #expect(changes.allSatisfy { $0.generation == $0.sequence })
    }

    @Test func `modifications, when something is appended twice, and what it has at the end`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        let changes = try await watched.changes(by: "printf two >> f; printf three >> f")
        #expect(changes.map(\.summary).withoutRepetitions == ["modified f"])
        #expect(changes.count <= 2 && changes.last?.size == 11)
    }

    @Test func `modifications, when it is truncated and written`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        let changes = try await watched.changes(by: ": > f; printf other > f")
        // The second truncation, of what is empty already, changes dates only.
        #expect(changes.allSatisfy { ["modified f", "touched f"].contains($0.summary) }, "\(changes.map(\.summary))")
        #expect(changes.first?.kind == "modified" && changes.last?.kind == "modified" && changes.last?.size == 5)
    }

    @Test func `a modification that keeps its size`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        #expect(try await watched.told(by: "printf two 1<> f") == ["modified f"])
    }

    @Test(arguments: ["chmod 600 f", "touch f", "touch -d 2001-01-01 f", "printf same 1<> f"])
    func `that it was touched, and nothing else, when its content stays`(script: String) async throws {
        let watched = try await WatchedContainer("printf same > f; chmod 644 f")
        #expect(try await watched.told(by: script) == ["touched f"])
    }

    @Test func `one modification, and no ghost, when another one is renamed over it`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        let told = try await watched.told(by: "printf new > f.tmp; mv f.tmp f")
        #expect(told.filter { !$0.hasSuffix("f.tmp") } == ["modified f"], "\(told)")
    }

    @Test func `that it was touched, when one of the same content is renamed over it`() async throws {
        let watched = try await WatchedContainer("printf same > f; printf same > ../other")
        #expect(try await watched.told(by: "mv ../other f") == ["touched f"])
    }

    @Test func `nothing, or both in order, when it is made and removed at once`() async throws {
        let watched = try await WatchedContainer()
        let told = try await watched.told(by: ": > f; rm f")
        #expect(told.isEmpty || told == ["created f", "removed f"], "\(told)")
    }

    @Test func `what is there at the end, when it is removed and made again`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        let changes = try await watched.changes(by: "rm f; printf newer > f")
        #expect(changes.allSatisfy { $0.path == "f" } && changes.last?.size == 5, "\(changes.map(\.summary))")
    }

    @Test func `its removal, once`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        #expect(try await watched.told(by: "rm f") == ["removed f"])
    }

    @Test func `a directory in its place, and a file in its place again`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        var told = try await watched.told(by: "rm f; mkdir f; : > f/g")
        #expect(told.withoutRepetitions == ["removed f", "created f", "created f/g"], "\(told)")
        told = try await watched.told(by: "rm -r f; printf new > f")
        #expect(told.prefix(3) == ["removed f/g", "removed f", "created f"], "\(told)")
    }

    @Test func `a name with a newline, a tab and what is not UTF-8`() async throws {
        let watched = try await WatchedContainer()
        #expect(try await watched.told(by: #": > "$(printf 'a\nb\tc')""#).withoutRepetitions == ["created a\nb\tc"])
        let changes = try await watched.changes(by: #": > "$(printf 'a\377')""#)
        #expect(changes.map(\.pathBytes).withoutRepetitions == ["Yf8="])
        let lines = try await watched.container.done("changes", "--since", "start").lines
        #expect(lines.contains(#"created"# + "\t" + #"a\nb\tc"#), "\(lines)")
        #expect(lines.contains("created\t" + #"a\377"#), "\(lines)")
    }

    @Test func `a link as a link, and nothing of where it leads`() async throws {
        let watched = try await WatchedContainer("mkdir ../elsewhere d; : > ../elsewhere/f")
        let told = try await watched.told(
            by: "ln -s . loop; ln -s ../elsewhere out; ln -s nowhere dangling; ln -s .. d/up")
        #expect(told.sorted() == ["created d/up", "created dangling", "created loop", "created out"])
        #expect(try await watched.told(by: ": > ../elsewhere/new; printf x > ../elsewhere/f") == [])
        #expect(try await watched.told(by: "ln -sfn d out") != [])
        #expect(try await watched.told(by: ": > d/in").withoutRepetitions == ["created d/in"])
    }
}
