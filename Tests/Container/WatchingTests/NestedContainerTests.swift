import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Outer stream of a nested container` {
    private static let inside =
        "printf x | groupctl write ./d/sub in; groupctl mkdir ./d/sub e; : > d/sub/e/f; : > d/sub/g"

    @Test func `a new nested container is reported, and nothing in it is`() async throws {
        let watched = try await WatchedContainer("mkdir d")
        let made = try await watched.reported(by: "groupctl create --adopt ./d/sub").filter {
            $0 != "touched d" && $0 != "touched d/sub"
        }
        #expect(made.withoutRepetitions == ["created d/sub"])
        #expect(try await watched.reported(by: Self.inside) == [])
        #expect(try await watched.reported(by: "rm d/sub/g; mv d/sub/e d/sub/h; : > d/sub/h/i; : > d/sub/k") == [])
        #expect(try await watched.reported(by: ": > d/f") == ["created d/f"])
    }

    @Test func `a nested container that was made before watching is reported, and nothing in it is`() async throws {
        let watched = try await WatchedContainer("mkdir d; groupctl create ./d/sub; " + Self.inside)
        #expect(Set(watched.tree.items.keys) == ["d", "d/sub"])
        #expect(try await watched.reported(by: "printf 2 > d/sub/g; : > d/sub/e/f2") == [])
        try await watched.unwatched {
            try await WatchedContainer.run("printf 3 > d/sub/g; : > d/sub/e/f3", in: watched.container)
        }
        #expect(try await watched.reported(by: ": > d/f") == ["created d/f"])
    }

    @Test func `a directory named .group without a container in it hides nothing, until it is one`() async throws {
        let watched = try await WatchedContainer("mkdir -p d/sub/.group; : >d/sub/f; groupctl read ./ d/sub/f")
        #expect(Set(watched.tree.items.keys) == ["d", "d/sub", "d/sub/f"])
        #expect(try await watched.reported(by: ": >d/sub/g; mkdir d/.group") == ["created d/sub/g"])
        #expect(try await watched.reported(by: ": >d/h; rmdir d/.group; : >d/i") == ["created d/h", "created d/i"])
        try await WatchedContainer.run(
            "groupctl copy -r ./ d e; test -d e/sub; test ! -e e/sub/.group", in: watched.container)
        try await watched.settle()
        let removed = try await watched.reported(by: ": >d/sub/.group/lock")
        #expect(Set(removed) == ["removed d/sub/f", "removed d/sub/g"])
        let outcome = try await watched.container.shell("cd \"$1/..\"; groupctl read ./container/ d/sub/f")
        #expect(outcome.status != 0 && outcome.errors.contains("./container/d/sub"), "\(outcome)")
    }

    @Test
    func `a directory's items are reported as removed when it becomes a container, and as new later`()
        async throws
    {
        let watched = try await WatchedContainer("mkdir -p d/sub/e; : > d/sub/e/f; : > d/sub/g")
        let reported = try await watched.reported(by: "groupctl create --adopt ./d/sub")
        #expect(
            reported.filter { !$0.hasPrefix("touched") } == ["removed d/sub/g", "removed d/sub/e/f", "removed d/sub/e"]
                || Set(reported.filter { !$0.hasPrefix("touched") }) == [
                    "removed d/sub/g", "removed d/sub/e/f", "removed d/sub/e",
                ],
            "\(reported)")
        #expect(try await watched.reported(by: ": > d/sub/e/f2; printf 2 > d/sub/g") == [])
        let again = try await watched.reported(by: "mv d/sub/.group ../kept")
        #expect(
            Set(again.filter { !$0.hasPrefix("touched") })
                == ["created d/sub/e", "created d/sub/e/f", "created d/sub/e/f2", "created d/sub/g"], "\(again)")
        #expect(try await watched.reported(by: ": > d/sub/e/f3") == ["created d/sub/e/f3"])
    }

    @Test func `a nested container is reported as moved and removed`() async throws {
        let watched = try await WatchedContainer("mkdir d; groupctl create ./d/sub; " + Self.inside)
        #expect(try await watched.reported(by: "mv d/sub s") == ["moved d/sub to s"])
        #expect(try await watched.reported(by: ": > s/new; : > s/e/new") == [])
        #expect(
            try await watched.reported(by: "mv d/ e; mv s e/s").filter { !$0.hasPrefix("touched") } == [
                "moved d to e", "moved s to e/s",
            ])
        #expect(try await watched.reported(by: ": > e/s/new2; : > e/s/e/new2") == [])
        #expect(
            try await watched.reported(by: "groupctl delete-group --yes ./e/s").filter { !$0.hasPrefix("touched") } == [
                "removed e/s"
            ])
        #expect(
            try await watched.reported(by: "mkdir e/s; : > e/s/f").withoutRepetitions == [
                "created e/s", "created e/s/f",
            ])
    }

    @Test func `items moved out of a nested container are reported as new, items moved into it as gone`() async throws {
        let watched = try await WatchedContainer("mkdir d h; : > h/f; groupctl create ./d/sub; " + Self.inside)
        #expect(
            try await watched.reported(by: "mv d/sub/e d/e").withoutRepetitions == ["created d/e", "created d/e/f"])
        #expect(Set(try await watched.reported(by: "mv h d/sub/h")) == ["removed h/f", "removed h"])
        #expect(try await watched.reported(by: ": > d/sub/h/new") == [])
    }
}
