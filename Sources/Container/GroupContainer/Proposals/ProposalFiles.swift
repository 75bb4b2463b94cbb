import GroupSystemCalls

/// The contents of a proposal, in the terms' directory, which the decider reads.
///
/// The names are `OPERATION.NUMBER`. The caller removes the files when it is decided, or was not asked for after all.
/// What a killed caller leaves is the decider's to remove: the files of an operation that it was not asked about, and
/// whose caller is not present. The caller is present from before the first file until its wait has ended.
final class ProposalFiles: Sendable {
    let directory: FileDescriptor
    private let operation: String
    private let mode: UInt32
    private let presence: Presence

    init(of operation: String, _ terms: Proposal.Terms, in opened: OpenContainer) throws(CoordinationError) {
        self.operation = operation
        mode = opened.directory.fileMode
        let container = Container(opened)
        presence = try Presence(terms.presence(operation), in: container)
        directory = try PrivateDirectory(terms.directory, in: container).open()
    }

    static func name(_ operation: String, _ number: Int) -> [UInt8] { Array("\(operation).\(number)".utf8) }

    func name(_ number: Int) -> [UInt8] { Self.name(operation, number) }

    /// Writes a content, or moves its file here from staging. System calls: openat2, write or renameat2, fsync
    func stage(
        _ content: NewContent, as name: [UInt8], from staging: borrowing FileDescriptor
    ) throws(Errno) {
        switch content {
        case .bytes(let bytes):
            let file = try create(name)
            try file.writeAll(bytes)
            try finish(file)
        case .staged(let file):
            try staging.rename(file.name, to: name, in: directory, replacing: false)
            try finish(file.descriptor)
        }
    }

    /// Copies a file. The surrounding program may have it open and locked, so it is opened in a separate table of
    /// descriptors.
    func copy(
        _ original: [UInt8], in root: borrowing FileDescriptor, as name: [UInt8], atMost limit: UInt64
    ) throws(Errno) {
        try SeparateTable.within(root, directory) { root, directory throws(Errno) in
            let source = try FileDescriptor.open(original, in: root, .readingItself)
            let copy = try FileDescriptor.open(name, in: directory, .newFile, mode: 0o600)
            try copy.copyContent(of: source)
            // The file may have grown since.
            if try copy.status().size > limit { throw .tooLarge }
            try finish(copy)
        }
    }

    private func create(_ name: [UInt8]) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(name, in: directory, .newFile, mode: 0o600)
    }

    private func finish(_ file: borrowing FileDescriptor) throws(Errno) {
        // The decider may be another user of the Unix group.
        if mode != 0o600 { try file.setMode(mode) }
        try file.synchronize()
    }

    func remove(_ number: Int) { remove(name(number)) }

    func remove(_ name: [UInt8]) { try? directory.unlink(name) }

    func discard(_ numbers: [Int]) { for number in numbers { remove(number) } }
}
