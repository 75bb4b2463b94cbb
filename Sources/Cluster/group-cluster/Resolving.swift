import Cluster
import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// Ends a conflict: one content becomes the item's, and the copy is removed, in one strict transaction.
func resolve(_ run: inout CommandRun) throws -> ExitStatus {
    let keep = try run.arguments.text("keep").map { text in
        guard let keep = Keep(rawValue: text) else {
            throw run.arguments.usageError(
                "--keep: '\(PipeText.escaped(Array(text.utf8)))' is none of mine, theirs, item, copy and merge")
        }
        return keep
    }
    let command = run.arguments.command
    if keep == .merge && command == nil { throw run.arguments.usageError("--keep merge needs a COMMAND after '--'") }
    if keep != .merge && command != nil { throw run.arguments.usageError("a COMMAND needs --keep merge") }
    let named = try run.itemPath("ITEM")
    let container = try run.openContainer()
    let cluster = container.cluster(purpose: run.options.purpose).blocking
    let progress = run.progress("resolving '\(named)'")
    defer { progress.end() }
    // What this machine lacks would be a conflict of the change.
    if keep != nil { try cluster.catchUp(timeout: run.lockTimeout) }
    let (item, copies) = try Conflict.paths(named, in: container)
    guard let copy = copies.first else {
        throw CoordinationError(
            .notFound, operation: "resolve", item: "\(named)", containerPath: "\(container.path)",
            reason: "there is no conflict copy beside it", remedy: .ofCommand("group-cluster status names the copies"))
    }
    guard let keep else {
        progress.end()
        for (number, copy) in copies.enumerated() {
            try print(Conflict(item, copy, in: container, run.lockTimeout), withItem: number == 0, &run)
        }
        return .success
    }
    if copies.count > 1 {
        throw CoordinationError(
            .invalidArgument, operation: "resolve", item: "\(named)", containerPath: "\(container.path)",
            reason: "it has \(copies.count) conflict copies: "
                + copies.map { "'\($0)'" }.joined(separator: ", "),
            remedy: .ofCommand("nothing was changed; pass one of the copies, and then the next"))
    }
    let conflict = try Conflict(item, copy, in: container, run.lockTimeout)
    var resolution = Resolution(conflict: conflict, kept: .item, cluster: cluster, timeout: run.lockTimeout)
    switch keep {
    case .item: break
    case .copy: resolution.kept = .copy
    case .mine: if try conflict.mineAndTheirs(in: container).mine.path == copy { resolution.kept = .copy }
    case .theirs: if try conflict.mineAndTheirs(in: container).theirs.path == copy { resolution.kept = .copy }
    case .merge:
        progress.end()
        let merge = try MergeCommand(command ?? [], conflict, in: container)
        defer { merge.removeFiles() }
        switch try merge.result(run) {
        case .content(let bytes): resolution.kept = .merged(bytes)
        case .failed(let status): return status
        }
    }
    let generation = try resolution.make()
    progress.end()
    if run.options.isJSON {
        try run.output.writeLine(
            JSONValue.object([
                ("path", .string(PipeText.lossyString(item.bytes))), ("kept", .string(resolution.word)),
                ("removed", .string(PipeText.lossyString(copy.bytes))),
                ("generation", generation.map { .unsigned($0.rawValue) } ?? .null),
            ]).encoded())
    } else {
        run.remark(resolution.text)
    }
    return .success
}

/// Prints both contents of a conflict; the item's only with the first of its copies.
private func print(_ conflict: Conflict, withItem: Bool, _ run: inout CommandRun) throws {
    for (word, side) in [("item", conflict.item), ("copy", conflict.copy)] where word == "copy" || withItem {
        if run.options.isJSON {
            let host: JSONValue =
                switch side.writer {
                case .otherMachine(let host): .string(host)
                case .thisMachine, .unknown: .null
                }
            try run.output.writeLine(
                JSONValue.object([
                    ("which", .string(word)), ("path", .string(PipeText.lossyString(side.path.bytes))),
                    ("mine", side.writer == .unknown ? .null : .bool(side.writer == .thisMachine)), ("host", host),
                    ("author", side.author.map { .string($0) } ?? .null),
                    ("date", side.date.map { .string($0.formatted(.iso8601)) } ?? .null),
                    ("size", .unsigned(side.size)), ("generation", .unsigned(side.generation.rawValue)),
                ]).encoded())
        } else {
            try run.output.writeLine(TerminalName.line(of: ["\(word)  \(side.text)"]))
        }
    }
}

/// The change that ends a conflict.
private struct Resolution {
    enum Kept {
        case item, copy
        case merged([UInt8])
    }

    let conflict: Conflict
    var kept: Kept
    let cluster: BlockingClusterCoordinator
    let timeout: Duration?

    /// Makes the change if both contents are still there, and returns the new generation of the item. Errors: those of
    /// `ClusterCoordinator.transaction`
    func make() throws -> Generation? {
        let (item, copy) = (conflict.item, conflict.copy)
        let intents: [AccessIntent] =
            if case .item = kept {
                [.reading(item.path), .writing(copy.path, .forDeleting)]
            } else {
                [.writing(item.path, .forMerging), .writing(copy.path, .forDeleting)]
            }
        return try cluster.transaction(intents, timeout: timeout) { access in
            for side in [item, copy] where try access.generation(of: side.path) != side.generation {
                throw CoordinationError(
                    .conflict, operation: "resolve", item: "\(side.path)",
                    reason: "it was changed meanwhile; nothing was changed", remedy: .init(.readAgain, "look again"))
            }
            switch kept {
            case .item: break
            case .copy: try access.copy(copy.path, to: item.path, replacing: true)
            case .merged(let bytes):
                try access.write(bytes: bytes, to: item.path, if: .generation(item.generation))
            }
            try access.remove(copy.path, if: .generation(copy.generation))
        }.generation
    }

    var word: String {
        switch kept {
        case .item: "item"
        case .copy: "copy"
        case .merged: "merge"
        }
    }

    /// What was kept and removed, in words.
    var text: String {
        switch kept {
        case .item: "kept \(conflict.item.text); removed \(conflict.copy.text)"
        case .copy:
            "'\(conflict.item.path)' has the content of the copy now; kept \(conflict.copy.text); replaced \(conflict.item.text)"
        case .merged: "'\(conflict.item.path)' has the merged content now, and its copy is removed"
        }
    }
}
