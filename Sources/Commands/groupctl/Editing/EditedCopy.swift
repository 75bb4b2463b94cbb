import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// The private copy of an item that an editor works on: a file with the item's name, by which an editor knows its syntax,
/// in a directory that only this user can enter. What the editor leaves there (a backup, a swap file) goes with it, if the
/// editor has ended well.
struct EditedCopy {
    private let directory: [UInt8]
    /// The path of the file.
    let path: [UInt8]
    private let name: [UInt8]

    private static let operation = "keep the edited text in"

    /// Makes the copy in $TMPDIR, else in /tmp: there it stays when the user logs out.
    init(of item: ItemPath, _ content: [UInt8], outside container: Container) throws(CoordinationError) {
        name = item.bytes.split(separator: UInt8(ascii: "/")).last.map { Array($0) } ?? []
        let top = environmentValue("TMPDIR").flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        directory = Array("\(top)/groupctl-edit-\(String(randomWord(), radix: 36))".utf8)
        path = directory + [UInt8(ascii: "/")] + name
        try container.checkMayKeep(directory, Self.operation)
        do throws(Errno) {
            try FileDescriptor.createDirectory(path: directory, mode: 0o700)
        } catch {
            throw CoordinationError.unwritable(directory, operation: Self.operation, error)
        }
        do throws(CoordinationError) {
            try write(content, named: name)
        } catch {
            remove()
            throw error
        }
    }

    /// Puts the content that another process has written beside the copy, and returns the path.
    func putBeside(_ content: [UInt8]) throws(CoordinationError) -> [UInt8] {
        try write(content, named: beside)
        return directory + [UInt8(ascii: "/")] + beside
    }

    /// Returns the text; nil if there is no file. The editor may have written another file and renamed it. If the text
    /// cannot be read, the error's advice names the file: the text stays there.
    func text() throws(CoordinationError) -> [UInt8]? {
        let status: FileStatus
        var text: [UInt8] = []
        do throws(Errno) {
            // Without a wait for the other end of a FIFO.
            let file = try FileDescriptor.open(path: path, [.reading, .nonBlocking])
            status = try file.status()
            // One byte more than the limit, because the file may grow meanwhile.
            if status.isRegularFile && status.size <= EditedItem.limit {
                text = try file.readAll(limit: EditedItem.limit + 1)
            }
        } catch {
            if error == .noSuchEntry { return nil }
            var unreadable = CoordinationError.unreadable(path, operation: "read the edited text from", error)
            unreadable.remedy = place
            throw unreadable
        }
        if !status.isRegularFile {
            throw CoordinationError(
                .wrongType, operation: "read the edited text from", item: String(decoding: path, as: UTF8.self),
                reason: "it is not a file any more", remedy: place)
        }
        if status.size > EditedItem.limit || text.count > EditedItem.limit {
            throw CoordinationError(
                .limitReached, operation: "read the edited text from", item: String(decoding: path, as: UTF8.self),
                reason: "it has more than \(EditedItem.limit) bytes", remedy: place)
        }
        return text
    }

    /// The path of a file that the editor has made there; nil where there is none.
    var left: [UInt8]? {
        let names = (try? FileDescriptor.open(path: directory, [.reading, .directory]).entryNames()) ?? []
        return names.first { $0 != name && $0 != beside }.map { directory + [UInt8(ascii: "/")] + $0 }
    }

    /// The name of what `putBeside` writes.
    private var beside: [UInt8] { Array("theirs.".utf8) + name.suffix(200) }

    /// The advice of an error that leaves the text where it is.
    var place: CoordinationError.Remedy { .ofCommand("the edited text is in \(ShellWords.quoted(path))") }

    /// Removes everything. What cannot be removed stays, as any temporary file.
    func remove() {
        let end = directory.lastIndex(of: UInt8(ascii: "/")) ?? 0
        try? FileDescriptor.open(path: Array(directory[...end]), [.reading, .directory])
            .removeTree(Array(directory[(end + 1)...]))
    }

    private func write(_ content: [UInt8], named name: [UInt8]) throws(CoordinationError) {
        do throws(Errno) {
            let here = try FileDescriptor.open(path: directory, [.reading, .directory])
            try? here.unlink(name)
            try FileDescriptor.open(name, in: here, .newFile, mode: 0o600).writeAll(content)
        } catch {
            throw CoordinationError.unwritable(
                directory + [UInt8(ascii: "/")] + name, operation: Self.operation, error)
        }
    }
}

/// The user's editor.
struct Editor {
    /// The command, as a line for a shell.
    let command: String

    /// Chooses as other programs do: $VISUAL, unless the terminal can do nothing; else $EDITOR, else vi.
    init() {
        let isDumb = ["", "dumb"].contains(environmentValue("TERM") ?? "")
        let names = isDumb ? ["EDITOR"] : ["VISUAL", "EDITOR"]
        command = names.compactMap { environmentValue($0) }.first { !$0.isEmpty } ?? "vi"
    }

    /// The words with which a shell edits a file. The command may have arguments, and quotes around them.
    func words(for file: [UInt8]) -> [[UInt8]] {
        [Array("sh".utf8), Array("-c".utf8), Array("\(command) \"$@\"".utf8), Array(command.utf8), file]
    }
}
