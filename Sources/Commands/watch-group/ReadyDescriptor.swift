import GroupBytes
import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// The descriptor of `--ready-fd`, by which a script or a supervisor, such as s6, notices that the watch is established.
final class ReadyDescriptor: Sendable {
    private let number: Int32
    /// The descriptor that was inherited; nil for standard output, which stays open.
    private let inherited: Guarded<FileHolder?>

    private final class FileHolder: Sendable {
        let file: FileDescriptor

        init(_ file: consuming FileDescriptor) { self.file = file }
    }

    /// Takes the descriptor over, before anything is opened that could have its number: no COMMAND inherits it. Returns
    /// nil without the option.
    init?(_ arguments: ParsedArguments) throws(UsageError) {
        guard let text = try arguments.text("ready-fd") else { return nil }
        let shown = PipeText.escaped(Array(text.utf8))
        guard let number = Int32(text), number == 1 || number >= 3 else {
            throw arguments.usageError("--ready-fd: '\(shown)' is neither 1 nor a descriptor from 3 on")
        }
        self.number = number
        if number == 1 {
            inherited = Guarded(nil)
            return
        }
        do throws(Errno) {
            inherited = Guarded(FileHolder(try FileDescriptor.inherited(number, forWriting: true)))
        } catch {
            throw arguments.usageError(
                "--ready-fd: descriptor \(shown) is not open; open it in the shell: \(shown)>FILE")
        }
    }

    /// Writes a cursor and a newline, and closes the descriptor. A reader that is gone is no error; one that waits for a
    /// line that cannot be written is. Errors: that of write(2)
    func write(_ cursor: Cursor) throws(CoordinationError) {
        var output = StandardOutput(descriptor: inherited.withLock { $0?.file.number } ?? number)
        defer { inherited.withLock { $0 = nil } }
        do throws(OutputError) {
            try output.writeLine("\(cursor)")
            try output.flush()
        } catch {
            // After a signal the watch ends by itself.
            guard case .failed(let errno) = error else { return }
            let item = number == 1 ? "standard output" : "descriptor \(number)"
            throw CoordinationError(errno, operation: "write to", item: item)
        }
    }
}
