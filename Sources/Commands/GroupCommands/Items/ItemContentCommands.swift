import GroupBytes
package import GroupCommandLine
package import GroupContainer
package import GroupSystemCalls

/// The calls by which commands change items: those of this machine's coordinator, or of another one.
package protocol ItemChanges {
    func write(
        to path: ItemPath, if condition: WriteCondition, mode: UInt32?, timeout: Duration?,
        _ body: (inout ItemWriter) throws -> Void
    ) throws -> WriteResult
    /// Replaces an item's content. `body` gets a file with the present content, or an empty one, and whether there is
    /// any.
    func update(
        _ path: ItemPath, timeout: Duration?,
        _ body: (_ content: borrowing FileDescriptor, _ hasContents: Bool) throws -> [UInt8]
    ) throws -> WriteResult
    func createDirectory(_ path: ItemPath, timeout: Duration?) throws -> WriteResult
    func remove(_ path: ItemPath, recursively: Bool, timeout: Duration?) throws -> WriteResult
    func move(_ path: ItemPath, to destination: ItemPath, replacing: Bool, timeout: Duration?) throws -> WriteResult
    func copy(
        _ path: ItemPath, to destination: ItemPath, recursively: Bool, replacing: Bool, timeout: Duration?
    ) throws -> WriteResult
}

/// The commands over items. `changes` returns the calls that a command makes, when its arguments were checked.
package struct ItemCommands: Sendable {
    let changes: @Sendable (Container, borrowing CommandRun) throws -> any ItemChanges

    package init(_ changes: @escaping @Sendable (Container, borrowing CommandRun) throws -> any ItemChanges) {
        self.changes = changes
    }

    /// Prints an item's content; stores its generation with `--generation-file`.
    package static func read(
        _ run: inout CommandRun, after prepare: (Container, borrowing CommandRun) throws -> Void = { _, _ in }
    ) throws -> ExitStatus {
        let container = try run.openContainer()
        var asking = container.coordinator(purpose: run.options.purpose)
        asking.needsAnswers = run.arguments.flag("need-answers")
        let coordinator = asking.blocking
        let (path, timeout) = (try run.itemPath(), run.lockTimeout)
        if let file = run.arguments.value("generation-file") {
            try container.checkMayKeep(file, "keep the generation in")
        }
        try prepare(container, run)
        let progress = run.progress("reading '\(path)'", of: .bytes, printing: true)
        defer { progress.end() }
        guard let file = run.arguments.value("generation-file") else {
            let rest = try coordinator.read(path, timeout: timeout) { try printContent(&$0, progress, &run) }
            try run.output.write(rest)
            try run.output.flush()
            return .success
        }
        let version = try coordinator.readVersion(path, timeout: timeout) { try printContent(&$0, progress, &run) }
        try run.output.write(version.value)
        // The content is written before the generation. If the process dies in between, the file has an older
        // generation, and a later write ends in a conflict. In the other order, a later write could replace content
        // that was never read.
        try run.output.flush()
        do throws(Errno) {
            try WholeFile.write(Array("\(version.generation)\n".utf8), at: file)
        } catch {
            throw CoordinationError.unwritable(file, operation: "keep the generation in", error)
        }
        return .success
    }

    /// Prints an item's content under the lock, piece by piece. Returns content of up to 1 MiB instead of printing it:
    /// the caller prints it after the lock is released, so that no process waits for the reader of the output.
    private static func printContent(
        _ reader: inout ItemReader, _ progress: Progress, _ run: inout CommandRun
    ) throws -> [UInt8] {
        var held: [UInt8] = []
        let holds = reader.size <= 1 << 20
        while let piece = try reader.read() {
            progress.advance(by: UInt64(piece.count))
            if holds && held.count <= 1 << 20 {
                held += piece
            } else {
                try run.output.write(held + piece)
                held = []
            }
        }
        return held
    }

    /// Writes standard input into an item.
    package func write(_ run: inout CommandRun) throws -> ExitStatus {
        let mode = try run.arguments.text("mode").map { text in
            guard let mode = UInt32(text, radix: 8), mode <= 0o7777 else {
                throw run.arguments.usageError("--mode: '\(text)' is not an octal mode")
            }
            return mode
        }
        let condition = try Self.condition(run)
        let (path, timeout) = (try run.itemPath(), run.lockTimeout)
        let container = try run.openContainer()
        let changes = try changes(container, run)
        // Checked before the input is read, which may take long.
        try container.checkNotReadOnly(path, "write")
        run.explainTerminalInput()
        let progress = run.progress("reading standard input", of: .bytes, reading: true)
        defer { progress.end() }
        let outcome = try changes.write(to: path, if: condition, mode: mode, timeout: timeout) { writer in
            var piece: [UInt8] = []
            while try StandardInput.next(&piece) {
                try writer.write(piece.span)
                progress.advance(by: UInt64(piece.count))
            }
            progress.show("writing '\(path)'")
        }
        progress.end()
        return try Self.report(outcome, path, &run)
    }

    /// Replaces an item's content by what COMMAND makes of it, under one lock.
    package func update(_ run: inout CommandRun) throws -> ExitStatus {
        guard let command = run.arguments.command else { throw run.arguments.usageError("COMMAND is missing") }
        let (path, timeout) = (try run.itemPath(), run.lockTimeout)
        let container = try run.openContainer()
        let changes = try changes(container, run)
        let progress = run.progress("updating '\(path)'")
        defer { progress.end() }
        func output(_ input: borrowing FileDescriptor, hasContents: Bool) throws -> [UInt8] {
            progress.end()
            let outcome = try Filter.run(
                command, input: input, of: PipeText.escaped(path.bytes), in: container, "update", for: run)
            guard let (output, status, signal) = outcome else {
                throw CoordinationError(
                    .limitReached, operation: "update", item: PipeText.escaped(path.bytes),
                    containerPath: container.path.description,
                    reason: "the command printed more than \(Filter.limit) bytes; nothing was changed",
                    remedy: .ofCommand("run the command under groupctl lock, and have it write the item itself"))
            }
            if status != .success {
                // That it cannot be run was said.
                if ![126, 127].contains(status.rawValue) {
                    let end = signal.map { "was told to end by signal \($0)" } ?? "ended with \(status.rawValue)"
                    run.complain("'\(PipeText.escaped(command[0]))' \(end); nothing was changed")
                }
                throw CommandFailure(status: status)
            }
            if output.isEmpty && hasContents && !run.arguments.flag("allow-empty") {
                throw CoordinationError(
                    .invalidContent, operation: "update", item: PipeText.escaped(path.bytes),
                    containerPath: container.path.description,
                    reason:
                        "'\(PipeText.escaped(command[0]))' printed nothing, and the item has contents; nothing was changed",
                    remedy: .ofCommand("if the item is to become empty, pass --allow-empty"))
            }
            return output
        }
        do {
            let outcome = try changes.update(path, timeout: timeout) { try output($0, hasContents: $1) }
            return try Self.report(outcome, path, &run)
        } catch let failure as CommandFailure {
            return failure.status
        }
    }

    private static func condition(_ run: borrowing CommandRun) throws -> WriteCondition {
        switch try run.arguments.text("if-generation") {
        case nil: return .always
        case "absent"?: return .absent
        case let text?:
            guard text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = UInt64(text)
            else {
                throw run.arguments.usageError(
                    "--if-generation: '\(PipeText.escaped(Array(text.utf8)))' is neither a generation nor 'absent'")
            }
            return .generation(Generation(rawValue: number))
        }
    }

    /// Prints the outcome of a write, and returns the exit status.
    package static func report(_ result: WriteResult, _ path: ItemPath, _ run: inout CommandRun) throws -> ExitStatus {
        let generation = result.generation?.rawValue
        if run.options.isJSON {
            try run.output.writeLine(
                JSONValue.object([
                    ("path", .string(PipeText.lossyString(path.bytes))),
                    ("outcome", .string(result.isChanged ? "written" : "unchanged")),
                    ("generation", generation.map(JSONValue.unsigned) ?? .null),
                ]).encoded())
        }
        run.explain(generation.map { "'\(path)' is at generation \($0)" } ?? "'\(path)' already had this content")
        return !result.isChanged && run.arguments.flag("exit-code") ? .unchanged : .success
    }
}

/// COMMAND of `update` ended with a status other than 0; the item is not changed.
private struct CommandFailure: Error {
    var status: ExitStatus
}
