import SystemCalls

/// A log that many processes append to without a lock: a stopped or killed member stops nobody. Its files are
/// preallocated and mapped by all. `docs/format.md` says every byte; the protocol is the one of `LogHeader`, after the
/// reserve-and-commit rings of shared-memory queues.
final class MappedLog: Sendable {
    /// What a log needs to know of its container and its member.
    struct Surroundings: Sendable {
        var container: [UInt8]
        var incarnation: [UInt8]
        var slot: Int
        var fileMode: UInt32
        var capacity = 4 << 20
    }

    private static let mapped = 8

    /// For errors: "journal".
    let name: String
    let folder: FileDescriptor
    let surroundings: Surroundings
    /// The files opened so far, and the number of the last one. Guards itself; no I/O under it.
    private let known = Guarded((files: [UInt64: LogFile](), last: UInt64(0)))

    /// `folder` holds `<n>.log`. A log without any file gets its first one.
    init(name: String, folder: consuming FileDescriptor, _ surroundings: Surroundings) throws(CoordinationError) {
        self.name = ".group/\(name)"
        self.folder = folder
        self.surroundings = surroundings
        let last = try fileNumbers().max() ?? 0
        known.withLock { $0.last = last }
        if last == 0 { _ = try makeFile(after: nil) }
    }

    /// Those that are there, ascending.
    func fileNumbers() throws(CoordinationError) -> [UInt64] {
        let names = try translating(name, "list") { () throws(Errno) in try folder.entryNames() }
        return names.compactMap { entry in
            let text = String(decoding: entry, as: UTF8.self)
            return text.hasSuffix(".log") ? UInt64(text.dropLast(4)) : nil
        }.sorted()
    }

    func last() throws(CoordinationError) -> LogFile {
        let number = known.withLock { $0.last }
        guard let file = try file(number) else {
            throw .damaged("\(name)/\(number).log", operation: "open", "the file is gone")
        }
        return file
    }

    /// Nil where it does not exist: dropped long ago, or never made.
    func file(_ number: UInt64) throws(CoordinationError) -> LogFile? {
        if let file = known.withLock({ $0.files[number] }) { return file }
        let label = "\(name)/\(number).log"
        guard let descriptor = try open(number) else { return nil }
        // The file after it says where it ends, as far as it ended by a recovery.
        var end: Int?
        if let next = try open(number &+ 1) {
            end = Int(
                clamping: try LogFile(name: "\(name)/\(number &+ 1).log", descriptor: next, end: nil).header.previousEnd
            )
        }
        let file = try LogFile(name: label, descriptor: descriptor, end: end)
        guard file.header.number == number, file.header.container == surroundings.container else {
            throw .damaged(label, operation: "open", "it belongs to another place or container")
        }
        return known.withLock { known in
            if let other = known.files[number] { return other }
            known.files[number] = file
            known.last = max(known.last, number)
            // A reader far behind maps the old files one after the other; maps are not kept for ever.
            if known.files.count > Self.mapped, let oldest = known.files.keys.min(), oldest != number {
                known.files[oldest] = nil
            }
            return file
        }
    }

    /// Has it opened anew: it ends elsewhere now.
    func forget(_ file: LogFile) { known.withLock { $0.files[file.header.number] = nil } }

    private func open(_ number: UInt64) throws(CoordinationError) -> FileDescriptor? {
        do throws(Errno) {
            return try FileDescriptor.open(Array("\(number).log".utf8), in: folder, [.readingAndWriting, .nonBlocking])
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, item: "\(name)/\(number).log", operation: "open")
        }
    }

    /// The file behind one that is sealed at a place; made, if nobody has yet. The seal is what makes it safe: nothing
    /// can be appended to the old file any more.
    func successor(of file: LogFile, sealedAt offset: Int) throws(CoordinationError) -> LogFile {
        if let next = try self.file(file.header.number &+ 1) { return next }
        let end = try file.resolve(upTo: offset)
        // Recovery looks at the last file only, so all before it must be whole on the disk.
        try secure(file, through: end)
        return try makeFile(after: end)
    }
}
