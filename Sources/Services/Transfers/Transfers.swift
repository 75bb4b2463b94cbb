import FoundationEssentials
public import GroupContainer
import GroupBytes
import GroupSystemCalls

/// The transfers of a container: files that are loaded into it from servers, and sent from it, by a program of its own.
/// A transfer goes on when the process that queued it has ended, was killed, or the machine was restarted.
///
///     let transfers = try Transfers(container)
///     let id = try transfers.download("https://example.com/map.pdf", to: "Maps/town.pdf", opening: "maps://downloaded")
///
/// The program `group-transfer` does the work, one for a container; it is started when there is something to do, and
/// ends when there is nothing. When a transfer is completed or has failed, a message with its `TransferResult` is
/// posted to `channel`.
public final class Transfers: Sendable {
    /// The container.
    public let container: Container
    /// The channel of the messages about transfers that are over; `GroupMessage.decode(as: TransferResult.self)`.
    public static let channel = "transfers"
    /// The name of the listener that the app has at the channel. An app that is listening is not started.
    public static let listener = "app"
    /// The default limit for the whole transfer.
    public static let timeout = Duration.seconds(7 * 86_400)

    package let records: TransferRecords
    private let program: String?

    /// Opens the transfers of a container. If some wait and no program makes them, as after a restart of the machine,
    /// the program is started. `program` is its path; by default, the one beside this program, or of PATH.
    ///
    /// Errors: those of `GroupDefaults`
    public init(_ container: Container, program: String? = nil) throws(CoordinationError) {
        self.container = container
        self.program = program
        records = try TransferRecords(container)
        if records.all().contains(where: { $0.needsWork }) { try? start() }
    }

    /// Queues the download of a file, durably, and starts the program. The item is replaced as a whole, by one change,
    /// when the file is complete; directories around it are made.
    ///
    /// - Parameters:
    ///   - url: An http or https address without a user and password. The container records the address.
    ///   - path: The item.
    ///   - sha256: The SHA-256 that the file has, as 64 hexadecimal digits.
    ///   - length: The length that the file has, in bytes.
    ///   - opening: A URL of the app, which is opened when the transfer is over and the app does not listen.
    ///   - fields: Fields of the requests with secrets of the group, such as `Authorization`.
    ///   - timeout: The time after which the transfer is given up.
    /// - Returns: The identifier.
    ///
    /// Errors: `invalidArgument` for the address, the hash, the path and the fields; `notFound` where the program is
    /// not installed, and nothing is queued; those of `GroupDefaults.set`
    @discardableResult
    public func download(
        _ url: String, to path: ItemPath, sha256: String? = nil, length: UInt64? = nil, opening: String? = nil,
        fields: [Transfer.Field] = [], timeout: Duration = Transfers.timeout
    ) throws(CoordinationError) -> Transfer.ID {
        try TransferAddress.check(url, "download")
        let item = try path.checkedText(for: "download")
        try Transfer.check(fields, "download", container)
        if let sha256, sha256.utf8.count != 64 || !sha256.utf8.allSatisfy({ Self.isHexadecimal($0) }) {
            throw CoordinationError(
                .invalidArgument, operation: "download", item: "\(path)",
                reason: "a SHA-256 has 64 hexadecimal digits")
        }
        let words = try TransferProgram.command(program, for: container)
        let transfer = Transfer(
            .download, url: url, path: item, sha256: sha256?.lowercased(), length: length, opening: opening,
            fields: fields, id: Self.identifier(), timeout: timeout)
        try records.add(transfer)
        try TransferProgram.start(words, for: container)
        return transfer.id
    }

    /// Queues the upload of a file by PUT. The file is copied first, on file systems that can do so without copying its
    /// bytes, so later changes of it do not matter. Blocks while it is copied. See `download`.
    @discardableResult
    public func upload(
        file: String, to url: String, opening: String? = nil, fields: [Transfer.Field] = [],
        timeout: Duration = Transfers.timeout
    ) throws(CoordinationError) -> Transfer.ID {
        try TransferAddress.check(url, "upload")
        try Transfer.check(fields, "upload", container)
        let words = try TransferProgram.command(program, for: container)
        let source = try Self.source(file)
        let identifier = Self.identifier()
        let directory = try TransferFiles.directory(of: container).open()
        let name = TransferFiles.source(identifier)
        let length: UInt64
        do throws(Errno) {
            let copy = try FileDescriptor.open(name, in: directory, .newFile, mode: 0o600)
            do throws(Errno) {
                try copy.copyContent(of: source)
                try copy.synchronize()
                length = try copy.status().size
            } catch {
                try? directory.unlink(name)
                throw error
            }
        } catch {
            throw CoordinationError(error, operation: "upload", item: printable(Array(file.utf8)))
        }
        let transfer = Transfer(
            .upload, url: url, path: file, sha256: nil, length: length, opening: opening, fields: fields,
            id: identifier, timeout: timeout)
        do throws(CoordinationError) {
            try records.add(transfer)
        } catch {
            try? directory.unlink(name)
            throw error
        }
        try TransferProgram.start(words, for: container)
        return transfer.id
    }

    /// Opens the file of an upload. Errors: `wrongType` for what is not a regular file, and those of the system.
    private static func source(_ file: String) throws(CoordinationError) -> FileDescriptor {
        let (operation, item) = ("upload", printable(Array(file.utf8)))
        do throws(Errno) {
            // Opening a FIFO without `nonBlocking` would wait.
            let source = try FileDescriptor.open(path: Array(file.utf8), [.reading, .nonBlocking])
            if try source.status().isRegularFile { return source }
        } catch {
            throw CoordinationError(error, operation: operation, item: item)
        }
        throw CoordinationError(
            .wrongType, operation: operation, item: item, reason: "it is not a regular file",
            remedy: .init(.choosePath, "copy what it holds into a file, and upload that"))
    }

    /// Returns all transfers that are recorded, the oldest first.
    public func all() -> [Transfer] { records.all() }

    /// Returns the keys of the records that cannot be read, sorted.
    package func unreadable() -> [String] { records.unreadable() }

    /// Returns a transfer; nil where there is none.
    public func transfer(_ id: Transfer.ID) -> Transfer? { records[id] }

    /// Cancels a transfer. Returns false if it was over, or there is none. The bytes that were loaded are removed.
    @discardableResult
    public func cancel(_ id: Transfer.ID) throws(CoordinationError) -> Bool {
        let done = try records.update(id, durability: .durable) { transfer in
            if transfer.state.isOver || transfer.state == .placing { return false }
            (transfer.state, transfer.isReported) = (.cancelled, true)
            return true
        }
        if done { try start() }
        return done
    }

    /// Forgets a transfer that is over. Returns false if it is not, or there is none.
    @discardableResult
    public func remove(_ id: Transfer.ID) throws(CoordinationError) -> Bool { try records.remove(id) }

    /// Waits, blocking, until a transfer is over, and returns it; nil at the end of the time, or where there is no such
    /// transfer. Calls `progress` with its present state and each later one, a few times a second at most. In tasks,
    /// see `progress(of:)`.
    public func wait(
        for id: Transfer.ID, timeout: Duration? = nil, _ progress: (Transfer) -> Void = { _ in }
    ) throws(CoordinationError) -> Transfer? {
        var changes = try records.changes()
        let deadline = Deadline(after: timeout)
        while let transfer = records[id] {
            if transfer.state.isOver { return transfer }
            progress(transfer)
            if try changes.next(timeout: deadline.remaining.map { .nanoseconds($0) }) == nil { return nil }
        }
        return nil
    }

    /// Starts the program where it does not run. Errors: `notFound` where it is not installed
    public func start() throws(CoordinationError) {
        try TransferProgram.start(TransferProgram.command(program, for: container), for: container)
    }

    private static func identifier() -> Transfer.ID {
        let digits = String(randomWord(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    static func isHexadecimal(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }
}

extension Transfer {
    /// Whether the program has something to do for this transfer.
    package var needsWork: Bool { !state.isOver || !isReported }
}

/// The files of transfers in progress, below `.group`.
package enum TransferFiles {
    package static func directory(of container: Container) -> PrivateDirectory {
        PrivateDirectory("transfers", in: container)
    }
    package static func part(_ id: Transfer.ID) -> [UInt8] { Array("\(id).part".utf8) }
    package static func source(_ id: Transfer.ID) -> [UInt8] { Array("\(id).source".utf8) }

    /// Returns the transfer that a file belongs to; nil for other names.
    package static func owner(of name: [UInt8]) -> (id: Transfer.ID, isSource: Bool)? {
        let words = String(decoding: name, as: UTF8.self).split(separator: ".")
        guard words.count == 2, words[1] == "part" || words[1] == "source" else { return nil }
        return (String(words[0]), words[1] == "source")
    }
}

/// The addresses that are loaded from or sent to.
package enum TransferAddress {
    /// Returns the scheme, if the address is one that may be used: http or https, with a host, and without a user.
    package static func scheme(of text: String) -> String? {
        guard text.utf8.count <= 8_192, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), let url = URL(string: text),
            let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = url.host(), !host.isEmpty, url.user == nil, url.password == nil
        else { return nil }
        return scheme
    }

    /// Returns the scheme, host and port of an address (RFC 6454, 4).
    package static func origin(of text: String) -> String? {
        guard let scheme = scheme(of: text), let url = URL(string: text), let host = url.host() else { return nil }
        return "\(scheme)://\(host.lowercased()):\(url.port ?? (scheme == "https" ? 443 : 80))"
    }

    static func check(_ text: String, _ operation: String) throws(CoordinationError) {
        if scheme(of: text) != nil { return }
        throw CoordinationError(
            .invalidArgument, operation: operation, item: shown(text),
            reason: "the address is not http or https with a host, or names a user, or has other characters than "
                + "printable ASCII without spaces")
    }

    /// Returns an address for people: its beginning, without a user and a password.
    static func shown(_ text: String) -> String {
        var shown = text
        if let slashes = text.firstRange(of: "//") {
            let end = text[slashes.upperBound...].firstIndex { "/?#\\".contains($0) } ?? text.endIndex
            if let sign = text[slashes.upperBound..<end].lastIndex(of: "@") {
                shown = text[..<slashes.upperBound] + "…" + text[sign...]
            }
        }
        return String(shown.prefix(200))
    }

    /// Returns why a redirection must not be followed; nil if it may.
    package static func refusal(from origin: String, to target: String) -> String? {
        guard let new = scheme(of: target) else {
            return "the server redirects to '\(shown(target))', which is no address of http or https, or names a user"
        }
        if scheme(of: origin) == "https", new == "http" { return "the server redirects from https to http" }
        return nil
    }
}
