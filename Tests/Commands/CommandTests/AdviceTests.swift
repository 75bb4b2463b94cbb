import Foundation
import TestSupport
import Testing

/// The advice of each error can be followed, and helps.
@Suite(.tags(.process, .root))
struct `Advice of error messages` {
    private func groupctl(
        _ words: String..., in container: TemporaryContainer, environment: [String: String?] = [:]
    ) async throws -> RunningProcess.Outcome {
        try await container.start("groupctl", words, environment: environment).finish()
    }

    private func inDirectory(_ container: TemporaryContainer, _ words: String...) async throws -> RunningProcess.Outcome
    {
        try await RunningProcess(
            "groupctl", words, environment: container.environment, directory: container.directory
        ).finish()
    }

    @Test func `create prints the path of an identifier's container, and nothing for a path`() async throws {
        let container = try TemporaryContainer(creating: false)
        let named = try await groupctl("create", "shared", in: container)
        #expect(named.status == 0 && named.text == container.directory + "/home/shared\n" && named.errors == "")
        #expect(
            try await groupctl("create", "shared", in: container).text == named.text, "also if the container exists")
        #expect(try await groupctl("create", container.path, in: container).output.isEmpty)
    }

    @Test func `the error of a name without a slash advises the container in this directory`() async throws {
        let container = try TemporaryContainer()
        for words in [["list", "container"], ["read", "container", "a"], ["delete-group", "container", "--yes"]] {
            let outcome = try await RunningProcess(
                "groupctl", words, environment: container.environment, directory: container.directory
            ).finish()
            #expect(outcome.status == 66, "\(outcome)")
            #expect(outcome.errors.contains("open the container at ./container by that path"), "\(outcome)")
        }
        let doctor = try await inDirectory(container, "doctor", "container")
        #expect(doctor.text.contains("one of that name stands at ./container"), "\(doctor)")
        let made = try await inDirectory(container, "create", "container")
        #expect(made.status == 0 && made.text == container.directory + "/home/container\n")
        #expect(made.errors == "groupctl: ./container is another container, which is unchanged\n", "\(made)")
        #expect(try await inDirectory(container, "list", "elsewhere").errors.contains("groupctl create makes it"))
    }

    @Test func `the error in a deleted working directory names the deletion`() async throws {
        let container = try TemporaryContainer(creating: false)
        for verb in ["create", "list"] {
            let outcome = try await container.shell("mkdir \"$1\"; cd \"$1\"; rmdir \"$1\"; groupctl \(verb) ./x")
            #expect(outcome.status == 66, "\(outcome)")
            #expect(
                outcome.errors.contains("'./x': the working directory was deleted; change to an existing directory"),
                "\(outcome)")
        }
    }

    @Test(arguments: ["HOME", "XDG_DATA_HOME"])
    func `the error of a home that is a relative path names the variable`(variable: String) async throws {
        let container = try TemporaryContainer(creating: false)
        var environment: [String: String?] = ["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": nil, "HOME": nil]
        environment[variable] = "some/where"
        let outcome = try await groupctl("create", "g", in: container, environment: environment)
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("\(variable) is 'some/where', which is no absolute path"), "\(outcome)")
    }

    @Test func `the error of a user's file that cannot be written names that file`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let none = container.directory + "/none/file"
        for outcome in [
            try await container.watch("--since", "start", "--cursor-file", none, "-n", "1").finish(),
            try await container.run("read", "a", "--generation-file", none),
        ] {
            #expect(outcome.status == 66 && outcome.errors.contains("create the directory of the file first"))
            #expect(!outcome.errors.contains("groupctl list"), "\(outcome)")
        }
        let imported = try await container.run("defaults import", "s", none)
        #expect(imported.status == 66 && imported.errors.contains("; check the path"), "\(imported)")
    }
}

@Suite(
    .tags(.process, .root),
    .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
struct `Advice to another user` {
    private func asNobody(
        _ words: [String], in container: TemporaryContainer, environment: [String: String?] = [:]
    ) async throws -> RunningProcess.Outcome {
        try await container.start(
            "setpriv", nobody() + [BuildDirectory.resolve("groupctl")] + words, environment: environment
        ).finish()
    }

    @Test func `the error for a user outside a container's Unix group names the group`() async throws {
        let container = try TemporaryContainer(creating: false)
        try await container.done("create", "--unix-group", "games")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        let outcome = try await asNobody(["list", container.path], in: container)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.errors.contains("is shared with the Unix group 'games': have user 65534 added to it"))
        #expect(!outcome.errors.contains("--unix-group"), "\(outcome)")
    }

    @Test func `the error for a user without a home names the directory that is not writable`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(unsafe chmod(container.directory, 0o755) == 0)
        let environment: [String: String?] = ["GROUP_CONTAINERS_HOME": nil, "HOME": container.directory + "/nobody"]
        let outcome = try await asNobody(["create", "g"], in: container, environment: environment)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(
            outcome.errors.contains("may make nothing in \(container.directory) (mode 0755, of user 0)"), "\(outcome)")
        #expect(!outcome.errors.contains("--unix-group"), "\(outcome)")
    }
}
