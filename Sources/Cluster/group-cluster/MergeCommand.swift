import FoundationEssentials
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// A command that makes one content of the two of a conflict: with the names of temporary files, as a merge tool of
/// git.
struct MergeCommand {
    enum Result {
        case content([UInt8])
        /// COMMAND has failed, which was reported.
        case failed(ExitStatus)
    }

    private let words: [[UInt8]]
    private let conflict: Conflict
    private let container: Container
    /// A directory that only this user may enter.
    private let directory: String
    /// The file that COMMAND writes; nil where its standard output is the result.
    private let resultFile: [UInt8]?
    private let hasContents: Bool

    /// Writes both contents into files. Errors: `conflict` if one of them was changed meanwhile, and those of the files
    init(_ command: [[UInt8]], _ conflict: Conflict, in container: Container) throws {
        let isNamed = { (name: String) in command.contains { $0.firstRange(of: Array(name.utf8)) != nil } }
        var copyIsMine = false
        if isNamed("{mine}") || isNamed("{theirs}") {
            copyIsMine = try conflict.mineAndTheirs(in: container).mine.path == conflict.copy.path
        }
        self.conflict = conflict
        self.container = container
        let parent = environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let directory = "\(parent)/group-cluster.\(UUID().uuidString)"
        try Self.reporting(directory, "make") { () throws(Errno) in
            try FileDescriptor.createDirectory(path: Array(directory.utf8), mode: 0o700)
        }
        self.directory = directory
        let name = conflict.item.path.bytes.split(separator: UInt8(ascii: "/")).last ?? []
        let dot = name.lastIndex(of: UInt8(ascii: ".")) ?? name.startIndex
        // The name may come from another machine, and COMMAND may be a shell.
        let isPlain = name[dot...].dropFirst().allSatisfy {
            $0 < 0x80 && (UnicodeScalar($0).properties.isAlphabetic || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0)
        }
        let ending = dot > name.startIndex && isPlain && name.count - dot <= 17 ? Array(name[dot...]) : []
        func file(_ name: String) -> [UInt8] { Array("\(directory)/\(name)".utf8) + ending }
        let (item, copy, result) = (file("item"), file("copy"), file("result"))
        var filled = false
        do {
            for (side, file) in [(conflict.item, item), (conflict.copy, copy)] {
                let content = try container.coordinator(purpose: "group-cluster").blocking.readVersion(side.path)
                if content.generation != side.generation {
                    throw CoordinationError(
                        .conflict, operation: "resolve", item: "\(side.path)", containerPath: "\(container.path)",
                        reason: "it was changed meanwhile; nothing was changed", remedy: .init(.readAgain, "look again")
                    )
                }
                filled = filled || !content.value.isEmpty
                try Self.reporting(printable(file), "write") { () throws(Errno) in
                    try FileDescriptor.open(path: file, .newFile, mode: 0o600)
                        .writeAll(content.value)
                }
            }
        } catch {
            try? FileManager.default.removeItem(atPath: directory)
            throw error
        }
        hasContents = filled
        resultFile = isNamed("{result}") ? result : nil
        let files = [
            ("{item}", item), ("{copy}", copy), ("{mine}", copyIsMine ? copy : item),
            ("{theirs}", copyIsMine ? item : copy), ("{result}", result),
        ]
        if files.contains(where: { isNamed($0.0) }) {
            words = command.map { word in
                files.reduce(word) { $0.replacing(Array($1.0.utf8), with: $1.1) }
            }
        } else {
            words = command + [item, copy]
        }
    }

    func removeFiles() { try? FileManager.default.removeItem(atPath: directory) }

    /// Runs COMMAND, and returns what it has made.
    func result(_ run: borrowing CommandRun) throws -> Result {
        let content: [UInt8]
        let status: ExitStatus
        let label = "\(conflict.item.path)"
        if let resultFile {
            do throws(Errno) {
                let variables = [WaitingHolders.variable(in: container)]
                status = ExitStatus(
                    rawValue: try CommandProcess.runUnderLock(words, variables: variables, for: run))
            } catch {
                return .failed(try CommandStartFailure.statusOrThrow(of: words, error, for: run))
            }
            content = status == .success ? try read(resultFile) : []
        } else {
            let outcome = try Filter.run(
                words, input: FileDescriptor.inMemory([]), of: label, in: container, "resolve", for: run)
            guard let outcome else {
                throw fault(.limitReached, "the command printed more than \(Filter.limit) bytes; nothing was changed")
            }
            (content, status) = (outcome.output, outcome.status)
        }
        if status != .success {
            // The failure to run COMMAND was reported.
            if ![126, 127].contains(status.rawValue) {
                run.complain("'\(shownName)' ended with \(status.rawValue); nothing was changed")
            }
            return .failed(status)
        }
        if content.isEmpty && hasContents && !run.arguments.flag("allow-empty") {
            throw fault(
                .invalidContent, "'\(shownName)' made nothing of both, and they have contents; nothing was changed",
                "if the item is to become empty, pass --allow-empty")
        }
        return .content(content)
    }

    private var shownName: String { PipeText.escaped(words.first ?? []) }

    /// Reads the file that COMMAND was to write.
    private func read(_ file: [UInt8]) throws -> [UInt8] {
        let content: [UInt8]?
        do throws(Errno) {
            let result = try FileDescriptor.open(path: file, [.reading, .nonBlocking])
            let status = try result.status()
            if !status.isRegularFile { throw .invalid }
            content = status.size > Filter.limit ? nil : try result.readAll(limit: Filter.limit)
        } catch {
            throw fault(
                .invalidContent,
                "'\(shownName)' ended with 0, and its result cannot be read: \(error); nothing was changed",
                "have it write the file {result}")
        }
        if let content { return content }
        throw fault(.limitReached, "the result has more than \(Filter.limit) bytes; nothing was changed")
    }

    private func fault(
        _ code: CoordinationError.Code, _ reason: String, _ remedy: String? = nil
    ) -> CoordinationError {
        CoordinationError(
            code, operation: "resolve", item: "\(conflict.item.path)", containerPath: "\(container.path)",
            reason: reason, remedy: remedy.map { .ofCommand($0) })
    }

    private static func reporting(
        _ file: String, _ operation: String, _ body: () throws(Errno) -> Void
    ) throws(CoordinationError) {
        do throws(Errno) {
            try body()
        } catch {
            throw CoordinationError(error, operation: operation, item: file)
        }
    }
}
