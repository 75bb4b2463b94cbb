import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.tags(.process, .root)) struct `A container inside another` {
    /// The outer container has the directory `d`, with a file and the container `d/sub`, which has a file, too.
    private func nest() async throws -> TemporaryContainer {
        let container = try TemporaryContainer()
        let made = try await container.shell(
            """
            set -e; cd "$1"; mkdir d; printf 1 > d/f; printf 1 > g; groupctl create ./d/sub; printf 2 | groupctl write ./d/sub in
            """)
        #expect(made.status == 0, "\(made)")
        return container
    }

    /// Everything in the inner container that no reader changes.
    private func picture(_ container: TemporaryContainer, _ place: String = "d/sub") async throws -> [String] {
        try await container.shell(
            """
            cd "$1/$2" && find . -printf '%P %y %m %i %s\\n' | sort && cat in .group/format
            """, place
        ).lines
    }

    @Test(arguments: [
        ["read", "d/sub/in"], ["write", "d/sub/in"], ["write", "d/sub/new/item"], ["update", "d/sub/in", "--", "echo"],
        ["list", "d/sub"], ["list", "d/sub/.group"], ["mkdir", "d/sub/new"], ["remove", "d/sub/in"],
        ["move", "d/sub/in", "out"], ["move", "g", "d/sub/g"], ["move", "g", "d/sub/in"],
        ["copy", "d/sub/in", "out"],
        ["copy", "g", "d/sub/g"], ["copy", "-r", "d/sub", "copy"], ["copy", "-r", "d", "copy"],
        ["lock", "d/sub/in", "--", "echo"], ["read", "d/sub/.group/format"], ["write", "d/sub/.group/format"],
        ["write", "d/sub/.group/new"], ["remove", "-r", "d/sub/.group"], ["move", "d/sub/.group", "taken"],
        ["copy", "d/sub/.group/format", "taken"], ["mkdir", "d/sub/.group/new"], ["mkdir", "d/.group"],
        ["write", "e/.group/format"],
    ]) func `the items of an inner container are refused to commands on the outer one`(call: [String]) async throws {
        let container = try await nest()
        let before = try await picture(container)
        let words = [call[0], container.path] + call.dropFirst()
        let outcome = try await container.start("groupctl", words, input: "x").finish()
        #expect(outcome.status == 77 && outcome.output.isEmpty, "\(outcome)")
        let isOwnDirectory = call.contains { $0.contains(".group") }
        #expect(
            outcome.errors.contains(
                isOwnDirectory ? "'.group' is a container's own directory" : "another container"),
            "\(outcome)")
        if ["list d/sub", "read d/sub/in"].contains(call.joined(separator: " ")) {
            #expect(outcome.errors.contains("open that container: \(container.path)/d/sub\n"), "\(outcome)")
        }
        #expect(try await picture(container) == before)
        #expect(try await container.done("list").lines == ["d/", "g"])
        #expect(try await container.done("list", "d").lines == ["d/f", "d/sub/"])
    }

    @Test func `an inner container is one item in lists and in the journal`() async throws {
        let container = try await nest()
        #expect(try await container.done("list", "d").lines == ["d/f", "d/sub/"])
        let printed = try await container.done("changes", "--since", "start", "--json").lines.map {
            try JSONChange($0).path
        }
        #expect(Set(printed) == ["d", "d/f", "d/sub", "g"], "\(printed)")
    }

    @Test(arguments: [
        ["remove", "-r", "d"], ["remove", "-r", "d/sub"], ["move", "d", "e"], ["move", "d/sub", "e"],
        ["delete-group", "--yes"],
    ]) func `an inner container with members is not removed or moved, and the members are named`(call: [String])
        async throws
    {
        let container = try await nest()
        let member = try container.start(
            "watch-group", ["--verbose", "--purpose", "inside", container.path + "/d/sub"])
        #expect(try await member.readLine(from: .errors)?.hasPrefix("watching") == true)
        let before = try await picture(container)
        let words = [call[0], container.path] + call.dropFirst() + ["--json"]
        let refused = try await container.start("groupctl", words).finish()
        #expect(refused.status == 75, "\(refused)")
        let error = try JSONError(refused)
        #expect(error.holders.map(\.pid) == [member.identifier] && error.holders.map(\.purpose) == ["inside"])
        #expect(error.cause.contains("another container") || error.item == "d/sub", "\(error)")
        #expect(try await picture(container) == before)
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
        // The member still has the container open.
        #expect(
            try await container.start("groupctl", ["write", container.path + "/d/sub", "new"], input: "x").finish()
                .status == 0)
        #expect(try await member.readLine()?.contains("new") == true)
        member.signal(SIGTERM)
        _ = try await member.finish()
        #expect(try await container.start("groupctl", words).finish().status == 0)
    }

    @Test func `an inner container is moved whole with the directory around it`() async throws {
        let container = try await nest()
        let before = try await picture(container)
        try await container.done("move", "d", "e")
        #expect(try await picture(container, "e/sub") == before)
        #expect(try await container.shell("groupctl read \"$1/e/sub\" in").text == "2")
        try await container.done("remove", "-r", "e")
        #expect(try await container.done("list").lines == ["g"])
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    @Test(.enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
    func `an inner container that the user may not read is not removed or moved`() async throws {
        let container = try TemporaryContainer(creating: false)
        let made = try await container.shell(
            """
            set -e; chmod 755 "${1%/*}"; groupctl create "$1" --unix-group nogroup; cd "$1"; mkdir d; chmod 777 d
            groupctl create ./d/sub; printf 2 | groupctl write ./d/sub in
            """)
        #expect(made.status == 0, "\(made)")
        for call in [["remove", "-r", "d"], ["move", "d", "e"]] {
            let words = nobody() + [BuildDirectory.resolve("groupctl"), call[0], container.path] + call.dropFirst()
            let outcome = try await container.start("setpriv", words).finish()
            #expect(outcome.status == 77 && outcome.errors.contains("d/sub"), "\(outcome)")
        }
        #expect(try await container.shell("groupctl read \"$1/d/sub\" in").text == "2")
    }

    @Test(arguments: ["x", "x/y", "journal", "../.group/x", "staging/x"])
    func `create inside another container's .group is refused`(place: String) async throws {
        let container = try TemporaryContainer()
        let before = try await container.shell("cd \"$1/.group\"; find . | sort").lines
        for script in [
            "groupctl create \"$1/.group/$2\"", "cd \"$1\"; groupctl create \".group/$2\"",
            "cd \"$1/.group\"; groupctl create \"./$2\"", "cd \"$1/.group/journal\"; groupctl create \"../$2\"",
            "ln -s \"$1/.group\" \"$1/../l\"; groupctl create \"$1/../l/$2\"; s=$?; rm \"$1/../l\"; exit $s",
        ] {
            let outcome = try await container.shell(script, place)
            #expect(outcome.status == 77, "\(script) \(outcome)")
            #expect(outcome.errors.contains("'.group' is a container's own directory"), "\(outcome)")
            #expect(try await container.shell("cd \"$1/.group\"; find . | sort").lines == before)
        }
    }

    @Test(.enabled(if: Strace.isThere, "strace(1) is missing, or may not put faults into system calls"))
    func `an inner container created during a removal of its directory is kept or not created`() async throws {
        // The remover is stopped after its check and before its rename.
        let model = try TemporaryContainer()
        _ = try await model.shell("mkdir -p \"$1/d/e\"")
        let calls = try Strace.calls(of: ["groupctl", "remove", "-r", model.path, "d"], input: "", in: model)
        let rename = try #require(calls.lastIndex { $0.name == "renameat2" })
        let call = try #require(calls[..<rename].last { $0.name == "write" || $0.name == "pwrite64" })
        let container = try TemporaryContainer()
        _ = try await container.shell("mkdir -p \"$1/d/e\"")
        let remover = try Strace.start(["groupctl", "remove", "-r", container.path, "d"], fault: .stop, at: call)
        try #require(try remover.waitUntilStopped())
        let member = try container.start(
            "sh",
            ["-c", "groupctl create \"$1\" && exec watch-group --verbose \"$1\"", "sh", container.path + "/d/e/sub"])
        #expect(try await member.readLine(from: .errors)?.hasPrefix("watching") == true)
        remover.resume()
        let outcome = try remover.finish()
        #expect(outcome.status == 75, "\(outcome)")
        #expect(try await container.shell("groupctl write \"$1/d/e/sub\" new < /dev/null").status == 0)
        #expect(try await member.readLine()?.contains("new") == true)
        let printed = try await container.done("changes", "--since", "start").text
        #expect(!printed.contains("removed"), "\(printed)")
    }

    @Test(.enabled(if: Strace.isThere, "strace(1) is missing, or may not put faults into system calls"))
    func `an inner container whose directory was removed meanwhile is not opened`() async throws {
        let container = try await nest()
        // The process has the directory open, and does not have the lock yet.
        let calls = try Strace.calls(of: ["groupctl", "list", container.path + "/d/sub"], input: "", in: container)
        let before = try #require(calls.first { $0.name == "openat2" && $0.arguments.contains("\"lock\"") })
        let opener = try Strace.start(["groupctl", "list", container.path + "/d/sub"], fault: .stop, at: before)
        try #require(try opener.waitUntilStopped())
        try await container.done("move", "d", "e")
        opener.resume()
        let outcome = try opener.finish()
        #expect(outcome.status == 66 && outcome.text.contains("was moved"), "\(outcome)")
    }
}
