import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Stream of external file changes` {
    @Test func `a file that touch makes is reported as created once`() async throws {
        let watched = try await WatchedContainer()
        let reported = try await watched.reported(by: "touch f")
        // touch(1) sets the dates after it made the file: the leader may have looked in between.
        #expect(reported.filter { $0 == "created f" }.count == 1 && reported.first == "created f", "\(reported)")
        #expect(reported.dropFirst().allSatisfy { $0 == "touched f" }, "\(reported)")
    }

    @Test func `a new file is reported as created, and then with its content`() async throws {
        let watched = try await WatchedContainer()
        let changes = try await watched.changes(by: "printf x > f")
        #expect(changes.first?.kind == "created" && changes.first?.type == "file")
        #expect(changes.dropFirst().allSatisfy { $0.kind == "modified" }, "\(changes.map(\.summary))")
        #expect(changes.allSatisfy { $0.path == "f" } && changes.last?.size == 1)
        #expect(changes.allSatisfy { $0.generation == $0.sequence })
    }

    @Test func `appending to a file twice is reported as modifications, with its final size`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        let changes = try await watched.changes(by: "printf two >> f; printf three >> f")
        #expect(changes.map(\.summary).withoutRepetitions == ["modified f"])
        #expect(changes.count <= 2 && changes.last?.size == 11)
    }

    @Test func `truncating and writing a file is reported as modifications`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        let changes = try await watched.changes(by: ": > f; printf other > f")
        // The second truncation, of an empty file, changes dates only.
        #expect(changes.allSatisfy { ["modified f", "touched f"].contains($0.summary) }, "\(changes.map(\.summary))")
        #expect(changes.first?.kind == "modified" && changes.last?.kind == "modified" && changes.last?.size == 5)
    }

    @Test func `a modification that keeps the file's size is reported`() async throws {
        let watched = try await WatchedContainer("printf one > f")
        #expect(try await watched.reported(by: "printf two 1<> f") == ["modified f"])
    }

    @Test(arguments: ["chmod 600 f", "touch f", "touch -d 2001-01-01 f", "printf same 1<> f"])
    func `a change that keeps the file's content is reported as a touch and nothing else`(script: String) async throws {
        let watched = try await WatchedContainer("printf same > f; chmod 644 f")
        #expect(try await watched.reported(by: script) == ["touched f"])
    }

    @Test func `a file that is renamed over another is reported as one modification`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        let reported = try await watched.reported(by: "printf new > f.tmp; mv f.tmp f")
        #expect(reported.filter { !$0.hasSuffix("f.tmp") } == ["modified f"], "\(reported)")
    }

    @Test func `a file of the same content that is renamed over another is reported as a touch`() async throws {
        let watched = try await WatchedContainer("printf same > f; printf same > ../other")
        #expect(try await watched.reported(by: "mv ../other f") == ["touched f"])
    }

    @Test func `a file that is made and removed at once is reported as both in order, or not at all`() async throws {
        let watched = try await WatchedContainer()
        let reported = try await watched.reported(by: ": > f; rm f")
        #expect(reported.isEmpty || reported == ["created f", "removed f"], "\(reported)")
    }

    @Test func `a file that is removed and made again is reported as it is at the end`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        let changes = try await watched.changes(by: "rm f; printf newer > f")
        #expect(changes.allSatisfy { $0.path == "f" } && changes.last?.size == 5, "\(changes.map(\.summary))")
    }

    @Test func `the removal of a file is reported once`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        #expect(try await watched.reported(by: "rm f") == ["removed f"])
    }

    @Test func `a directory in a file's place, and a file in its place again, are reported in order`() async throws {
        let watched = try await WatchedContainer("printf old > f")
        var reported = try await watched.reported(by: "rm f; mkdir f; : > f/g")
        #expect(reported.withoutRepetitions == ["removed f", "created f", "created f/g"], "\(reported)")
        reported = try await watched.reported(by: "rm -r f; printf new > f")
        #expect(reported.prefix(3) == ["removed f/g", "removed f", "created f"], "\(reported)")
    }

    @Test func `a name with a newline, a tab or bytes that are not UTF-8 is reported exactly`() async throws {
        let watched = try await WatchedContainer()
        #expect(try await watched.reported(by: #": > "$(printf 'a\nb\tc')""#).withoutRepetitions == ["created a\nb\tc"])
        let changes = try await watched.changes(by: #": > "$(printf 'a\377')""#)
        #expect(changes.map(\.pathBytes).withoutRepetitions == ["Yf8="])
        let lines = try await watched.container.done("changes", "--since", "start").lines
        #expect(lines.contains(#"created"# + "\t" + #"a\nb\tc"#), "\(lines)")
        #expect(lines.contains("created\t" + #"a\377"#), "\(lines)")
    }

    @Test func `a symbolic link is reported as a link, and nothing that it leads to is`() async throws {
        let watched = try await WatchedContainer("mkdir ../elsewhere d; : > ../elsewhere/f")
        let reported = try await watched.reported(
            by: "ln -s . loop; ln -s ../elsewhere out; ln -s nowhere dangling; ln -s .. d/up")
        #expect(reported.sorted() == ["created d/up", "created dangling", "created loop", "created out"])
        #expect(try await watched.reported(by: ": > ../elsewhere/new; printf x > ../elsewhere/f") == [])
        #expect(try await watched.reported(by: "ln -sfn d out") != [])
        #expect(try await watched.reported(by: ": > d/in").withoutRepetitions == ["created d/in"])
    }
}
