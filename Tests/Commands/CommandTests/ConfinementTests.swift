import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `Confinement to the container` {
    // fault: bad-name
    @Test(arguments: [
        "../x", "..", "/etc/passwd", "a/../../x", "a/..", ".group/format", ".group", ".group/journal/1.log",
    ])
    func `a path that leads out of the container is refused to reads and writes`(path: String) async throws {
        let container = try TemporaryContainer()
        try "secret".write(toFile: container.directory + "/x", atomically: false, encoding: .utf8)
        for call in [["read"], ["write"], ["list"], ["update"]] {
            let command = call == ["update"] ? ["--", "echo", "changed"] : []
            let words = call + [container.path, path] + command
            let outcome = try await container.start("groupctl", words, input: "changed").finish()
            #expect(outcome.status == 77, "\(call) \(outcome)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.errors.hasPrefix("groupctl: cannot \(call[0]) '\(path)'"), "\(outcome)")
            let error = try JSONError(try await container.start("groupctl", words.insertingJSON).finish())
            #expect(error.code == "outsideContainer" && error.item == path && error.operation == call[0], "\(error)")
        }
        #expect(try container.content("../x") == "secret")
        #expect(try await container.done("changes", "--since", "start").output.isEmpty)
    }

    // fault: symbolic-link
    @Test(arguments: ["/etc/hostname", "../secret", "inner/../../secret"])
    func `a symbolic link out of the container is refused as an item and as a directory`(target: String) async throws {
        let container = try TemporaryContainer()
        try "secret".write(toFile: container.directory + "/secret", atomically: false, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: container.path + "/link", withDestinationPath: target)
        try FileManager.default.createSymbolicLink(atPath: container.path + "/up", withDestinationPath: "..")
        for path in ["link", "up/secret", "up/new"] {
            for call in [["read"], ["write"], ["update"]] {
                let command = call == ["update"] ? ["--", "echo", "changed"] : []
                let outcome = try await container.start(
                    "groupctl", call + [container.path, path] + command, input: "changed"
                ).finish()
                #expect(outcome.status == 77, "\(call) \(path) \(outcome)")
                #expect(outcome.output.isEmpty)
                #expect(outcome.errors.contains("'\(path)'"), "\(outcome)")
            }
        }
        #expect(try await container.run("list", "up").status == 77)
        #expect(try container.content("../secret") == "secret")
        #expect(!FileManager.default.fileExists(atPath: container.directory + "/new"))
    }

    @Test func `a symbolic link inside the container is followed and kept`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "directory/target", input: "old")
        try FileManager.default.createSymbolicLink(
            atPath: container.path + "/link", withDestinationPath: "directory/target")
        #expect(try await container.done("read", "link").text == "old")
        try await container.done("write", "link", input: "new")
        #expect(try container.content("directory/target") == "new")
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: container.path + "/link")
        #expect(target == "directory/target")
    }

    @Test func `a loop of symbolic links is refused`() async throws {
        let container = try TemporaryContainer()
        try FileManager.default.createSymbolicLink(atPath: container.path + "/a", withDestinationPath: "b")
        try FileManager.default.createSymbolicLink(atPath: container.path + "/b", withDestinationPath: "a")
        let outcome = try await container.run("read", "a")
        #expect(outcome.status == 77, "\(outcome)")
        #expect(outcome.errors.contains("loop"))
    }

    @Test(arguments: ["", "a//b", "./a", "a/.", "a/"])
    func `a malformed path is a usage error`(path: String) async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.run("write", path, input: "x")
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("cannot write '\(path)'"), "\(outcome)")
        #expect(try await container.done("list").output.isEmpty)
    }

    // fault: bad-name
    @Test func `a name of over 255 bytes and a path of over 4095 are refused before any change`() async throws {
        let container = try TemporaryContainer()
        let name = String(repeating: "ä", count: 128)
        let long = try await container.run("write", "a/\(name)", "--json", input: "x")
        #expect(long.status == 64)
        let error = try JSONError(long)
        #expect(error.code == "invalidArgument" && error.item == "a/\(name)" && error.cause.contains("255"))
        let path = String(repeating: "ab/", count: 1_365) + "c"
        let deep = try await container.run("write", path, input: "x")
        #expect(deep.status == 64 && deep.errors.contains("4095"), "\(deep.status)")
        #expect(try await container.done("list").output.isEmpty)
    }

    @Test func `a name of 255 bytes is accepted`() async throws {
        let container = try TemporaryContainer()
        let name = String(repeating: "n", count: 255)
        try await container.done("write", name, input: "x")
        #expect(try await container.done("list").lines == [name])
    }
}
