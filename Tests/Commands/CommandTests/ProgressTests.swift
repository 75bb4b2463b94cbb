import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .tags(.process)) struct `Progress of long operations` {
    /// Starts `groupctl write` with input from a pipe that stays open, so that it shows its progress.
    private func write(_ container: TemporaryContainer, _ options: String, onTerminal: Bool) throws
        -> (writer: RunningProcess, feeder: RunningProcess)
    {
        let pipe = container.directory + "/pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        let command =
            "cat '\(pipe)' | '\(BuildDirectory.resolve("groupctl"))' write \(options) '\(container.path)' item"
        let words = onTerminal ? ["script", "-qec", command, "/dev/null"] : ["sh", "-c", command]
        let writer = try RunningProcess(words, environment: container.environment.merging(["SHELL": "/bin/sh"]) { $1 })
        let feeder = try RunningProcess(["sh", "-c", "exec 3>'\(pipe)'; printf 12345 >&3; echo open; read -r end"])
        try feeder.waitForText("open")
        return (writer, feeder)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "needs script(1)"))
    func `a long operation shows its progress on a terminal, in a line that is removed`() throws {
        let container = try TemporaryContainer()
        let (writer, feeder) = try write(container, "", onTerminal: true)
        try writer.waitForText("reading standard input: 5 bytes, 1.")
        try feeder.send("end")
        let outcome = try writer.finish()
        #expect(outcome.status == 0 && outcome.text.hasSuffix("\r\u{1B}[K"), "\(outcome.text.debugDescription)")
        #expect(try container.content("item") == "12345")
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/script"), "needs script(1)"))
    func `a command that waits for a lock names its holder on a terminal`() throws {
        let container = try TemporaryContainer()
        let holder = try RunningProcess(
            ["groupctl", "lock", container.path, "item", "--", "sh", "-c", "echo locked; read -r end"],
            environment: container.environment)
        try holder.waitForText("locked")
        let command = "echo new | '\(BuildDirectory.resolve("groupctl"))' write '\(container.path)' item"
        let writer = try RunningProcess(
            ["script", "-qec", command, "/dev/null"],
            environment: container.environment.merging(["SHELL": "/bin/sh"]) { $1 })
        try writer.waitForText("waiting for item, held by groupctl (\(holder.identifier)): ")
        try holder.send("end")
        #expect(try holder.finish().status == 0)
        #expect(try writer.finish().status == 0)
        #expect(try container.content("item") == "new\n")
    }

    @Test(arguments: [("", false), ("--quiet", true), ("--json", true)])
    func `a long operation shows no progress without a terminal, or with --quiet or --json`(
        options: String, onTerminal: Bool
    ) throws {
        if onTerminal && !FileManager.default.fileExists(atPath: "/usr/bin/script") { return }
        let container = try TemporaryContainer()
        let (writer, feeder) = try write(container, options, onTerminal: onTerminal)
        // After this time, a line would have been printed.
        let visible = try TemporaryContainer()
        if FileManager.default.fileExists(atPath: "/usr/bin/script") {
            let (other, otherFeeder) = try write(visible, "", onTerminal: true)
            try other.waitForText("reading standard input")
            try otherFeeder.send("end")
            _ = try other.finish()
        }
        try feeder.send("end")
        let outcome = try writer.finish()
        #expect(outcome.status == 0 && !outcome.text.contains("reading"), "\(outcome.text.debugDescription)")
    }

    @Test func `the deletion of a container shows the number of items`() throws {
        let container = try TemporaryContainer()
        for item in ["a", "b/c", "b/d/e"] { _ = try container.groupctl("write", item, input: "12345") }
        let removal = try ContainerDeletion(.path(Array(container.path.utf8)))
        let contents = try removal.survey()
        var removed = 0
        #expect(try removal.remove { removed += 1 })
        #expect(contents.items == 5 && removed == 5)
    }
}
