import GroupSystemCalls

/// The parts of a strict request whose contents are staged, and which is not recorded yet.
struct StrictChange: Sendable {
    let operation: String
    let files: StrictFiles?
    private(set) var parts: [ClusterRequest.Part] = []
    /// Where the item of each part is when the request was applied.
    private(set) var locations: [ItemLocation] = []

    init(operation: String, files: StrictFiles?) { (self.operation, self.files) = (operation, files) }

    mutating func add(_ part: ClusterRequest.Part, _ location: ItemLocation) {
        parts.append(part)
        locations.append(location)
    }

    /// The item that the request is about; nil where it is about several.
    var onlyItem: ItemLocation? {
        let named = zip(parts, locations).filter { $0.0.action != .createDirectory || $0.0.isConditional }
        return named.count == 1 ? named[0].1 : parts.count == 1 ? locations[0] : nil
    }

    /// Removes the contents: the request is over, or was never recorded.
    func discard() {
        for part in parts { if let name = part.content { files?.remove(Array(name.utf8)) } }
    }
}

/// The contents of a strict request, in the directory `ClusterRecords.contents`, which the program reads when it sends them.
///
/// The names are `OPERATION.NUMBER`. The caller removes the files when its request is over, or was not recorded after all.
/// What a killed caller leaves is the program's to remove: the files of an operation without a record whose caller is not
/// there (`ClusterRecords.caller(of:)`), and those of a request that is over. The caller is there from before the first file
/// until its wait has ended.
final class StrictFiles: Sendable {
    let directory: FileDescriptor
    private let operation: String
    private let mode: UInt32
    private let presence: Presence

    init(of operation: String, in opened: OpenContainer) throws(CoordinationError) {
        let container = Container(opened)
        (self.operation, mode) = (operation, opened.directory.fileMode)
        presence = try Presence(ClusterRecords.caller(of: operation), in: container)
        directory = try ClusterRecords.contents(of: container).open()
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

    /// Copies a file. The surrounding program may have it open and locked, so it is opened in a separate table of descriptors.
    func copy(_ original: [UInt8], in root: borrowing FileDescriptor, as name: [UInt8]) throws(Errno) {
        try SeparateTable.within(root, directory) { root, directory throws(Errno) in
            let source = try FileDescriptor.open(original, in: root, [.reading, .notFollowing, .nonBlocking])
            let copy = try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
            try copy.copyContent(of: source)
            // The file may have grown since.
            if try copy.status().size > ClusterRequest.largestContent { throw .tooLarge }
            try finish(copy)
        }
    }

    private func create(_ name: [UInt8]) throws(Errno) -> FileDescriptor {
        try FileDescriptor.open(name, in: directory, [.writing, .creating, .exclusively], mode: 0o600)
    }

    private func finish(_ file: borrowing FileDescriptor) throws(Errno) {
        // The program may be another user's of the Unix group.
        if mode != 0o600 { try file.setMode(mode) }
        try file.synchronize()
    }

    func remove(_ number: Int) { remove(name(number)) }

    func remove(_ name: [UInt8]) { try? directory.unlink(name) }

    func discard(_ numbers: [Int]) { for number in numbers { remove(number) } }
}
