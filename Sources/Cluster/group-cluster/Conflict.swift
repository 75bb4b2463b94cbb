import Cluster
import FoundationEssentials
import GroupBytes
import GroupCluster
import GroupCommands
import GroupContainer

/// An item and one of its conflict copies, with the generations and the authors of their contents.
struct Conflict {
    /// One of the two contents.
    struct Side {
        let path: ItemPath
        let generation: Generation
        let size: UInt64
        let writer: ContentWriter
        /// The author that the journal has; nil for a program that uses no lock, and where there is no record.
        let author: String?
        let date: Date?

        /// The content in words: who has written it, its date and its size.
        var text: String {
            let host =
                switch writer {
                case .thisMachine: "written on this machine"
                case .otherMachine(let host): "written on \(host)"
                case .unknown: "written on a machine that is not known"
                }
            let date = date.map { ", \($0.formatted(.iso8601))" } ?? ""
            return "'\(path)': \(host)\(purpose.map { " by \($0)" } ?? "")\(date), \(size) bytes"
        }

        /// The purpose that the program has stated which has written the content.
        private var purpose: String? {
            guard let author, author != "conflict", author != "cluster" else { return nil }
            if case .otherMachine(let host) = writer {
                let purpose = author.dropLast(host.count + 1)
                return purpose.isEmpty ? nil : String(purpose)
            }
            return author
        }
    }

    let item: Side
    let copy: Side

    /// Returns the paths of an item and of its copies, of which `named` is any.
    static func paths(_ named: ItemPath, in container: Container) throws(CoordinationError) -> (
        item: ItemPath, copies: [ItemPath]
    ) {
        let (directory, name) = parts(of: named)
        if let original = FileNames.original(ofConflict: name) {
            return (ItemPath(bytes: directory + original), [named])
        }
        let above = directory.isEmpty ? nil : ItemPath(bytes: directory.dropLast())
        let copies = try container.items(in: above).map(\.path).filter {
            FileNames.original(ofConflict: parts(of: $0).name) == name
        }
        return (named, copies)
    }

    /// Returns the directory of a path, with the slash at its end, and the name.
    private static func parts(of path: ItemPath) -> (directory: [UInt8], name: FileName) {
        let start = path.bytes.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return (Array(path.bytes[..<start]), Array(path.bytes[start...]))
    }

    /// Looks at an item and one of its copies. Errors: `notFound`, `wrongType`; those of `Coordinator.generation`
    init(_ item: ItemPath, _ copy: ItemPath, in container: Container, _ timeout: Duration?) throws {
        let status = try ClusterRecords(container).status
        let coordinator = container.coordinator(purpose: "group-cluster").blocking
        // The generations come first: what is written after that is a conflict of the change.
        var found: [(path: ItemPath, generation: Generation, size: UInt64)] = []
        for path in [copy, item] {
            let generation = try coordinator.generation(of: path, timeout: timeout)
            let above = Self.parts(of: path).directory
            let all = try container.items(in: above.isEmpty ? nil : ItemPath(bytes: above.dropLast()))
            guard let generation, let there = all.first(where: { $0.path == path }) else {
                throw Self.isGone(path, copy, in: container)
            }
            if there.type != .file {
                throw CoordinationError(
                    .wrongType, operation: "resolve", item: "\(path)", containerPath: "\(container.path)",
                    reason: "only two files can be resolved; nothing was changed",
                    remedy: .ofCommand("remove or move one of the two: group-cluster remove, group-cluster move"))
            }
            found.append((path, generation, there.size))
        }
        var changes: [Change] = []
        var journal = try container.recordedChanges(since: .start)
        while let change = try journal.next(timeout: .zero) { if !change.kind.isMarker { changes.append(change) } }
        let sides = found.map { path, generation, size in
            let change = changes.lastWrite(of: path)
            return Side(
                path: path, generation: generation, size: size,
                writer: change.flatMap { change in status.map { $0.writer(of: change) } } ?? .unknown,
                author: change?.author?.purpose, date: change?.time)
        }
        self.copy = sides[0]
        self.item = sides[1]
    }

    private static func isGone(_ path: ItemPath, _ copy: ItemPath, in container: Container) -> CoordinationError {
        CoordinationError(
            .notFound, operation: "resolve", item: "\(path)", containerPath: "\(container.path)",
            reason: path == copy ? "there is no such conflict copy" : "there is no item beside its copy '\(copy)'",
            remedy: path == copy
                ? nil
                : .ofCommand("move the copy to its place, or remove it: group-cluster move, group-cluster remove"))
    }

    /// Returns the content that was written on this machine, and the other one. Error: `invalidArgument`, which names
    /// both, where that is not known
    func mineAndTheirs(in container: Container) throws(CoordinationError) -> (mine: Side, theirs: Side) {
        switch (item.writer, copy.writer) {
        case (.thisMachine, .otherMachine): return (item, copy)
        case (.otherMachine, .thisMachine): return (copy, item)
        case (.thisMachine, .thisMachine): throw isAmbiguous("both contents were written on this machine", container)
        case (.otherMachine, .otherMachine):
            throw isAmbiguous("both contents were written on other machines", container)
        case (.unknown, _), (_, .unknown):
            throw isAmbiguous("the journal does not show which machine has written the contents", container)
        }
    }

    private func isAmbiguous(_ reason: String, _ container: Container) -> CoordinationError {
        CoordinationError(
            .invalidArgument, operation: "resolve", item: "\(item.path)", containerPath: "\(container.path)",
            reason: "\(reason); item \(item.text); copy \(copy.text)",
            remedy: .ofCommand("nothing was changed; state --keep item or --keep copy"))
    }
}
