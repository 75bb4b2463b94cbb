import Glibc

/// A process that holds an item's exclusive lock, in the middle of `groupctl update`, until the test opens the gate.
package final class LockHolder {
    /// The `groupctl update`; its COMMAND, a shell, inherits its standard error.
    package let command: RunningProcess
    private let gate: String

    /// Starts `program`, a `groupctl`, by way of `wrapper` if that is not empty.
    package init(
        of item: String, in container: TemporaryContainer, purpose: String, program: String = "groupctl",
        wrapper: [String] = []
    ) async throws {
        gate = "\(container.directory)/gate-\(item)"
        if unsafe mkfifo(gate, 0o600) != 0 { throw SetUpError("mkfifo", errno) }
        let script = "echo held >&2; read line <\"$0\"; echo new"
        let words = ["update", container.path, item, "--purpose", purpose, "--", "sh", "-c", script, gate]
        command =
            wrapper.isEmpty
            ? try container.start(program, words)
            : try container.start(wrapper[0], wrapper.dropFirst() + [BuildDirectory.resolve(program)] + words)
        guard try await command.readLine(from: .errors) == "held" else {
            throw TemporaryContainer.Failed(description: "no lock: \(try await command.finish())")
        }
    }

    /// Lets the process write "new" and end.
    package func release() async throws -> RunningProcess.Outcome {
        // For both directions, so that opening does not wait and the line stays until it is read.
        let gate = unsafe open(gate, O_RDWR | O_CLOEXEC)
        defer { close(gate) }
        if unsafe write(gate, "\n", 1) != 1 { throw SetUpError("write to the gate", errno) }
        return try await command.finish()
    }
}

extension TemporaryContainer {
    /// Starts a member that does nothing but hold an item's exclusive lock, until its input is closed; for tests that
    /// block.
    package func holder(of item: String) throws -> RunningProcess {
        let holder = try member("hold", item)
        try holder.waitForText("held")
        return holder
    }
}
