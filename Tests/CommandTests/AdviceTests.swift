import Foundation
import TestSupport
import Testing

/// What an error says is to be done can be done, and helps.
@Suite(.serialized)
struct `Advice` {
    private func groupctl(
        _ words: String..., in container: TemporaryContainer, environment: [String: String?] = [:]
    ) async throws -> Command.Outcome {
        try await container.start("groupctl", words, environment: environment).finish()
    }

    private func inDirectory(_ container: TemporaryContainer, _ words: String...) async throws -> Command.Outcome {
        try await Command(
            "groupctl", words, environment: container.environment, directory: container.directory
        ).finish()
    }

    @Test func `create says where the container of an identifier is, and nothing of a path`() async throws {
        let container = try await TemporaryContainer(creating: false)
        let named = try await groupctl("create", "shared", in: container)
        #expect(named.status == 0 && named.text == container.directory + "/home/shared\n" && named.errors == "")
        #expect(try await groupctl("create", "shared", in: container).text == named.text, "also where it was there")
        #expect(try await groupctl("create", container.path, in: container).output.isEmpty)
    }

    @Test func `a name without a slash leads to the container here that is meant`() async throws {
        let container = try await TemporaryContainer()
        for words in [["list", "container"], ["read", "container", "a"], ["delete-group", "container", "--yes"]] {
            let outcome = try await Command(
                "groupctl", words, environment: container.environment, directory: container.directory
            ).finish()
            #expect(outcome.status == 66, "\(outcome)")
            #expect(outcome.errors.contains("there is one at ./container: name it so"), "\(outcome)")
        }
        let doctor = try await inDirectory(container, "doctor", "container")
        #expect(doctor.text.contains("one of that name stands at ./container"), "\(doctor)")
        let made = try await inDirectory(container, "create", "container")
        #expect(made.status == 0 && made.text == container.directory + "/home/container\n")
        #expect(made.errors == "groupctl: ./container is another container, which stays as it is\n", "\(made)")
        #expect(try await inDirectory(container, "list", "elsewhere").errors.contains("make it with groupctl create"))
    }

    @Test func `where the working directory was deleted, that is what is said`() async throws {
        let container = try await TemporaryContainer(creating: false)
        for verb in ["create", "list"] {
            let outcome = try await container.shell("mkdir \"$1\"; cd \"$1\"; rmdir \"$1\"; groupctl \(verb) ./x")
            #expect(outcome.status == 66, "\(outcome)")
            #expect(
                outcome.errors.contains("'./x': the working directory was deleted; go to one that is there"),
                "\(outcome)")
        }
    }

    @Test(arguments: ["HOME", "XDG_DATA_HOME"])
    func `a home that is no absolute path is not said to be missing`(variable: String) async throws {
        let container = try await TemporaryContainer(creating: false)
        var environment: [String: String?] = ["GROUP_CONTAINERS_HOME": nil, "XDG_DATA_HOME": nil, "HOME": nil]
        environment[variable] = "some/where"
        let outcome = try await groupctl("create", "g", in: container, environment: environment)
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("\(variable) is 'some/where', which is no absolute path"), "\(outcome)")
    }

    @Test func `a file of the user's that cannot be kept is not looked for in the container`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "1")
        let none = container.directory + "/none/file"
        for outcome in [
            try await container.watch("--since", "start", "--cursor-file", none, "-n", "1").finish(),
            try await container.run("read", "a", "--generation-file", none),
        ] {
            #expect(outcome.status == 66 && outcome.errors.contains("make the directory that it is to stand in, first"))
            #expect(!outcome.errors.contains("groupctl list"), "\(outcome)")
        }
        let imported = try await container.run("defaults import", "s", none)
        #expect(imported.status == 66 && imported.errors.contains("; check the path"), "\(imported)")
    }
}

@Suite(
    .serialized, .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that everybody may enter"))
struct `Advice to another user` {
    private func asNobody(
        _ words: [String], in container: TemporaryContainer, environment: [String: String?] = [:]
    ) async throws -> Command.Outcome {
        try await container.start(
            "setpriv", nobody() + [BuildDirectory.resolve("groupctl")] + words, environment: environment
        ).finish()
    }

    @Test func `who is not in the Unix group of a container is told which it is`() async throws {
        let container = try await TemporaryContainer(creating: false)
        try await container.done("create", "--unix-group", "games")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        let outcome = try await asNobody(["list", container.path], in: container)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.errors.contains("is shared with the Unix group 'games': have user 65534 put into it"))
        #expect(!outcome.errors.contains("--unix-group"), "\(outcome)")
    }

    @Test func `who has no home is told where nothing can be made`() async throws {
        let container = try await TemporaryContainer(creating: false)
        #expect(unsafe chmod(container.directory, 0o755) == 0)
        let environment: [String: String?] = ["GROUP_CONTAINERS_HOME": nil, "HOME": container.directory + "/nobody"]
        let outcome = try await asNobody(["create", "g"], in: container, environment: environment)
        #expect(outcome.status == 77, "\(outcome)")
        #expect(
            outcome.errors.contains("may make nothing in \(container.directory) (mode 0755, of user 0)"), "\(outcome)")
        #expect(!outcome.errors.contains("--unix-group"), "\(outcome)")
    }
}
