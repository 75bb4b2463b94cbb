import Foundation
import GroupContainer
import TestSupport
import Testing

/// An operation of a process on a container, into whose system calls faults are put.
struct FaultedOperation: Sendable, CustomTestStringConvertible {
    /// What becomes of the container.
    enum Fate: Sendable {
        case stays
        /// The container is created.
        case comes
        case goes
    }

    var testDescription: String
    /// The command; `@` stands for the container.
    var words: [String]
    var input = ""
    /// Prepares what there is before; creates the container, too, unless the operation does.
    var prepare: @Sendable (TemporaryContainer) throws -> Void
    var fate = Fate.stays
    /// States that the operation may leave when it is cut off, besides those before and after it.
    var stages: @Sendable (_ before: ContainerState, _ after: ContainerState) -> [ContainerState] = { _, _ in [] }
    /// Whether the operation prints the same whenever it succeeds.
    var printsTheSame = true
    /// Whether the operation begins a new segment of the journal and drops old ones, so that its records are not
    /// compared.
    var cutsJournal = false
    /// Starts another process that takes part in the operation, and is killed after it.
    var companion: (@Sendable (TemporaryContainer) throws -> RunningProcess)?
    /// Whether the operation is a repair: the damage stays until this one, or another one, has run to its end.
    var repairs = false

    /// Whether faults are tried at the calls before the process is a member, too.
    var isJoining = false

    func command(in container: TemporaryContainer) -> [String] {
        words.map { $0 == "@" ? container.path : $0 }
    }

    /// Runs `body`, which runs the command, beside the process that takes part.
    func accompanied<Answer>(in container: TemporaryContainer, _ body: () throws -> Answer) throws -> Answer {
        let other = try companion?(container)
        defer { other?.kill() }
        return try body()
    }

    static let all = items + together + keysAndMessages + presenting + journal + containers
}

extension FaultedOperation {
    private static func named(_ name: String, _ words: String..., from tree: [String: String]) -> Self {
        FaultedOperation(
            testDescription: name, words: words, input: words[1] == "write" ? "new\n" : "",
            prepare: { try $0.make(tree) })
    }

    private static let file = ["item": "old\n"]
    private static let two = ["item": "old\n", "other": "other\n"]
    private static let tree = ["tree/inner/item": "old\n", "tree/other": "other\n", "place/there": "there\n"]

    private static let items: [FaultedOperation] = [
        named("read", "groupctl", "read", "@", "item", from: file),
        named("write, durable", "groupctl", "write", "@", "item", from: file),
        {
            var write = named("write, relaxed, below a new directory", "groupctl", "write", "@", "new/item", from: file)
            write.words.append("--relaxed")
            write.stages = { before, _ in [before.with { $0.tree["new"] = "/" }.recording("created new")] }
            return write
        }(),
        named("compare and set", "groupctl", "write", "@", "item", "--if-generation", "1", from: file),
        named("update", "test-member", "update", "@", "item", "more\n", from: file),
        named("remove a file", "groupctl", "remove", "@", "item", from: two),
        named("remove a directory", "groupctl", "remove", "-r", "@", "tree", from: tree),
        named("move a file over another", "groupctl", "move", "@", "item", "other", from: two),
        named("move a directory", "groupctl", "move", "@", "tree", "place/tree", from: tree),
        named("copy a file", "groupctl", "copy", "@", "item", "other", from: two),
        named("copy a directory", "groupctl", "copy", "-r", "@", "tree", "place/tree", from: tree),
        named("make a directory", "groupctl", "mkdir", "@", "directory", from: file),
        named("snapshot", "test-member", "upload", "@", "tree", from: tree),
    ]

    private static let together: [FaultedOperation] = [
        named(
            "transaction", "test-member", "transact-three", "@", "directory", "text", "durable",
            from: ["kept": "old", "gone": "old"]),
        named(
            "transaction of moves", "test-member", "transact-round", "@", "durable",
            from: ["log": "0", "log.1": "1", "log.2": "2", "old/directory/file": "x"]),
    ]

    private static let journal: [FaultedOperation] = [
        {
            var rotate = named(
                "begin a journal's file, save a checkpoint", "test-member", "rotate", "@", "item", "new", from: [:])
            rotate.prepare = { try $0.makeWithCheckpoint() }
            rotate.cutsJournal = true
            return rotate
        }(),
        {
            var remake = named("make a damaged checkpoint anew", "groupctl", "doctor", "--repair", "@", from: [:])
            remake.prepare = {
                try $0.makeWithCheckpoint()
                try $0.flipByte(of: ".group/checkpoint", at: 100)
            }
            (remake.cutsJournal, remake.repairs, remake.printsTheSame) = (true, true, false)
            return remake
        }(),
        named("begin to follow", "watch-group", "--since", "start", "--count", "1", "@", from: file),
        named("print what happened", "groupctl", "changes", "--since", "start", "@", from: file),
        {
            var refresh = named("save a widget's state", "groupctl", "refresh", "@", "kind", from: file)
            // The new record has a name for the time being: the next record is written over what a kill leaves of it.
            refresh.stages = { before, _ in
                [["kind"], ["kind", "kind/record.json.new"]].map { widgets in before.with { $0.widgets = widgets } }
            }
            return refresh
        }(),
    ]

    private static let containers: [FaultedOperation] = [
        {
            var join = named("join", "groupctl", "status", "@", from: file)
            (join.printsTheSame, join.isJoining) = (false, true)
            return join
        }(),
        {
            var create = named("create a container", "groupctl", "create", "@", from: [:])
            (create.prepare, create.fate, create.isJoining) = ({ _ in }, .comes, true)
            return create
        }(),
        {
            var delete = named("delete a container", "groupctl", "delete-group", "--yes", "@", from: tree)
            (delete.fate, delete.isJoining) = (.goes, true)
            return delete
        }(),
        {
            var repair = named("repair a damaged suite", "groupctl", "doctor", "--repair", "@", from: file)
            repair.prepare = { container in
                try container.make([:])
                try container.fillSuite()
                try container.flipByte(of: ".group/defaults/standard/1.log", of: "broken")
            }
            (repair.repairs, repair.printsTheSame) = (true, false)
            return repair
        }(),
    ]
}
