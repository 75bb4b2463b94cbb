import GroupBytes
package import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The commands that make, remove, move and copy items.
extension ItemCommands {
    /// Returns the path without the '/' at its end that a user may give for a directory.
    package static func withoutSlash(_ path: [UInt8]) -> [UInt8] {
        path.count > 1 && path.last == UInt8(ascii: "/") ? path.dropLast() : path
    }

    private func changes(_ run: borrowing CommandRun) throws -> any ItemChanges {
        try changes(run.openContainer(), run)
    }

    package func createDirectory(_ run: inout CommandRun) throws -> ExitStatus {
        let (path, timeout) = (ItemPath(bytes: Self.withoutSlash(try run.itemPath().bytes)), run.lockTimeout)
        let progress = run.progress("making '\(path)'")
        defer { progress.end() }
        let outcome = try changes(run).createDirectory(path, timeout: timeout)
        progress.end()
        return try Self.printResult("created", outcome, path, &run)
    }

    package func remove(_ run: inout CommandRun) throws -> ExitStatus {
        let (path, timeout) = (try run.itemPath(), run.lockTimeout)
        let progress = run.progress("removing '\(path)'")
        defer { progress.end() }
        let result = try changes(run).remove(
            path, recursively: run.arguments.flag("recursive"), timeout: timeout)
        progress.end()
        return try Self.printResult("removed", result, path, &run)
    }

    package func move(_ run: inout CommandRun) throws -> ExitStatus {
        let (from, to, timeout) = (try run.itemPath("FROM"), try run.itemPath("TO"), run.lockTimeout)
        let progress = run.progress("moving '\(from)'")
        defer { progress.end() }
        let result = try Self.withHintAboutDestination(run, from, to) {
            try changes(run).move(
                from, to: to, replacing: !run.arguments.flag("no-replace"), timeout: timeout)
        }
        progress.end()
        return try Self.printResult("moved", result, to, from: from, &run)
    }

    package func copy(_ run: inout CommandRun) throws -> ExitStatus {
        let (from, to, timeout) = (try run.itemPath("FROM"), try run.itemPath("TO"), run.lockTimeout)
        let progress = run.progress("copying '\(from)'")
        defer { progress.end() }
        let outcome = try Self.withHintAboutDestination(run, from, to) {
            try changes(run).copy(
                from, to: to, recursively: run.arguments.flag("recursive"),
                replacing: !run.arguments.flag("no-replace"), timeout: timeout)
        }
        progress.end()
        return try Self.printResult("copied", outcome, to, from: from, &run)
    }

    /// Runs `body`, and adds a remedy to its errors if an item that exists at TO causes them.
    private static func withHintAboutDestination<Answer>(
        _ run: borrowing CommandRun, _ from: ItemPath, _ to: ItemPath, _ body: () throws -> Answer
    ) throws -> Answer {
        do {
            return try body()
        } catch var error as CoordinationError {
            let destination = try run.openContainer().path.bytes + [UInt8(ascii: "/")] + to.bytes
            let isDirectory = (try? FileDescriptor.open(path: destination, [.pathOnly, .directory])) != nil
            if [.wrongType, .notEmpty].contains(error.code) && isDirectory {
                let name = from.bytes.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
                let inside = to.bytes + [UInt8(ascii: "/")] + name
                (error.item, error.reason) = (PipeText.escaped(to.bytes), "a directory is there already")
                error.remedy = .ofCommand(
                    "TO is the new path itself: to put the item into the directory, pass '\(PipeText.escaped(inside))'")
            } else if error.code == .outsideContainer, error.remedy == nil, from.bytes.first == UInt8(ascii: "/"),
                error.operation == "copy", let group = run.arguments.positional("GROUP")
            {
                let words = [Array("groupctl".utf8), Array("write".utf8), group, to.bytes].map(ShellWords.quoted)
                error.remedy = .ofCommand(
                    "to copy a file from outside: \(words.joined(separator: " ")) <\(ShellWords.quoted(from.bytes))")
            } else if error.remedy?.code == .replace && run.arguments.flag("no-replace") {
                error.remedy = .ofCommand("without -n the item is replaced")
            }
            throw error
        }
    }

    private static func printResult(
        _ done: String, _ result: WriteResult, _ path: ItemPath, from: ItemPath? = nil, _ run: inout CommandRun
    ) throws -> ExitStatus {
        let generation = result.generation?.rawValue
        run.complainAboutLeftovers()
        if run.options.isJSON {
            var fields: [(String, JSONValue)] = [("path", .string(PipeText.lossyString(path.bytes)))]
            if let from { fields.append(("from", .string(PipeText.lossyString(from.bytes)))) }
            fields += [
                ("outcome", .string(result.isChanged ? done : "unchanged")),
                ("generation", generation.map(JSONValue.unsigned) ?? .null),
            ]
            try run.output.writeLine(JSONValue.object(fields).encoded())
        }
        let how = from.map { " from '\($0)'" } ?? ""
        let suffix = generation.map { ", at generation \($0)" } ?? ""
        run.explain(result.isChanged ? "'\(path)' was \(done)\(how)\(suffix)" : "'\(path)' is unchanged")
        return !result.isChanged && run.arguments.flag("exit-code") ? .unchanged : .success
    }
}
