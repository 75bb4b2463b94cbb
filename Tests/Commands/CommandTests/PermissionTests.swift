import Foundation
import TestSupport
import Testing

@Suite(
    .tags(.process, .root),
    .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
struct `Another user of a container` {
    /// A container of root, in a directory that every user may enter.
    private func container(_ options: String...) async throws -> TemporaryContainer {
        let container = try TemporaryContainer(creating: false)
        _ = try await container.start("groupctl", ["create", container.path] + options).finish()
        try await container.done("write", "a", input: "secret")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        return container
    }

    private func asNobody(_ words: [String], in container: TemporaryContainer, groups: String? = nil) async throws
        -> RunningProcess.Outcome
    {
        try await container.start(
            "setpriv", nobody(groups: groups) + [BuildDirectory.resolve("groupctl")] + words, input: "changed"
        ).finish()
    }

    @Test func `the owner of a directory that its mode closes copies, moves and removes it`() async throws {
        let surroundings = try TemporaryContainer(creating: false)
        #expect(try await surroundings.shell("chmod 777 \"${1%/*}\"").status == 0)
        _ = try await asNobody(["create", surroundings.path], in: surroundings)
        let script = "cd \"$1\" && mkdir -p d e/sub && echo x >d/f && chmod 555 d e e/sub"
        _ = try await surroundings.start("setpriv", nobody() + ["sh", "-c", script, "sh", surroundings.path]).finish()
        func call(_ words: String...) async throws -> RunningProcess.Outcome {
            try await asNobody([words[0], surroundings.path] + words.dropFirst(), in: surroundings)
        }
        for words in [["copy", "-r", "d", "new/d"], ["copy", "-r", "e", "e2"], ["move", "d", "new/moved"]] {
            let outcome = try await asNobody([words[0], surroundings.path] + words.dropFirst(), in: surroundings)
            #expect(outcome.status == 0, "\(words): \(outcome)")
        }
        let modes = try await surroundings.shell("cd \"$1\"; stat -c %a e2 e2/sub new/d new/moved")
        #expect(modes.lines == ["555", "555", "555", "555"], "\(modes)")
        #expect(try surroundings.content("new/d/f") == "x\n")
        let refused = try await call("remove", "e2/sub")
        #expect(
            refused.status == 77
                && refused.errors.contains("'e2' is this user's own, and its mode refuses it; chmod u+w on 'e2'"),
            "\(refused)")
        #expect(try await call("remove", "-r", "new/moved").status == 0)
        #expect(try await call("remove", "-r", "e2").status == 0)
        let left = try await surroundings.shell("cd \"$1\"; ls; ls new .group/staging")
        #expect(left.lines == ["e", "new", ".group/staging:", "", "new:", "d"], "\(left)")
    }

    @Test(arguments: [
        ["create"], ["path"], ["list"], ["read", "a"], ["write", "a"], ["write", "b"], ["status"],
        ["update", "a", "--", "cat"], ["changes", "--since", "start"],
    ])
    func `another user is refused by a private container`(call: [String]) async throws {
        let container = try await container()
        let words = [call[0], container.path] + call.dropFirst()
        let outcome = try await asNobody(words, in: container)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.output.isEmpty)
        #expect(outcome.errors.contains("Permission denied") && outcome.errors.contains("--unix-group"), "\(outcome)")
        let error = try JSONError(try await asNobody(words.insertingJSON, in: container))
        #expect(error.code == "notPermitted" && error.item == container.path, "\(error)")
        #expect(try container.content("a") == "secret")
    }

    @Test func `another user is refused by a private container in an open directory`() async throws {
        let container = try await container()
        #expect(try await container.shell("chmod 777 \"$1\"").status == 0)
        let outcome = try await asNobody(["read", container.path, "a"], in: container)
        #expect(outcome.status == 77, "\(outcome)")
    }

    @Test func `a user of the Unix group shares the container, and another user is refused`() async throws {
        let container = try await container("--unix-group", "games")
        #expect(try container.mode() == 0o2770)
        let games = "60"
        #expect(try await asNobody(["read", container.path, "a"], in: container).status == 77)
        let read = try await asNobody(["read", container.path, "a"], in: container, groups: games)
        #expect(read.status == 0 && read.text == "secret", "\(read)")
        let written = try await asNobody(["write", container.path, "b"], in: container, groups: games)
        #expect(written.status == 0, "\(written)")
        #expect(try container.content("b") == "changed")
        #expect(try await container.done("changes", "--since", "start").lines == ["created\ta", "created\tb"])
    }

    @Test func `another user of the Unix group cannot write in a directory that is only readable`() async throws {
        let container = try await container("--unix-group", "games")
        #expect(try await container.shell("mkdir -m 750 \"$1/private\"").status == 0)
        let outcome = try await asNobody(["write", container.path, "private/x"], in: container, groups: "60")
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.errors.contains("'private/x'"))
        #expect(try await container.done("list", "private").output.isEmpty)
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }
}
