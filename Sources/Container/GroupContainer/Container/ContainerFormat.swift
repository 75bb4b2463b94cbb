import FoundationEssentials
import GroupBytes
import GroupSystemCalls

/// The content of `.group/format`: what the container is, as JSON. The file is written once, and again when a copy or a
/// restored backup is adopted.
struct ContainerFormat: Codable, Equatable, Sendable {
    /// The version of everything below `.group`.
    var format: Int
    /// 32 hexadecimal digits, drawn at random.
    var container: String
    /// The identity in its logs: the `container` of the first in a line of copies; nil where that is this one.
    var origin: String?
    /// The group identifier with which the container was created; nil for a container that is named by its path.
    var identifier: String?
    /// The inode of the lock file: where it differs, the container was copied or restored.
    var lockInode: UInt64
    /// The size of the journal in bytes, where it is not the standard one.
    var journalSize: UInt64?
    /// The age of the journal in seconds, where it is not the standard one.
    var journalAge: UInt64?
    /// 32 hexadecimal digits: the key of the hashes that lie in files.
    var hashKey: String

    static let name = Array("format".utf8)
    private static let label = ".group/format"

    init(identifier: String?, lockInode: UInt64, _ retention: JournalRetention = .standard) {
        format = GroupContainerVersion.format
        container = Hexadecimal.encode(randomBytes(16))
        self.identifier = identifier
        self.lockInode = lockInode
        hashKey = Hexadecimal.encode(randomBytes(16))
        if retention.size != JournalRetention.standard.size { journalSize = retention.size }
        if retention.age != JournalRetention.standard.age {
            journalAge = UInt64(max(retention.age.components.seconds, 0))
        }
    }

    var retention: JournalRetention {
        let standard = JournalRetention.standard
        return JournalRetention(
            size: journalSize ?? standard.size,
            age: journalAge.map { .seconds(Int64(clamping: min($0, 1 << 32))) } ?? standard.age)
    }

    /// Reads the format file. Returns nil where there is none.
    static func read(in group: borrowing FileDescriptor) throws(CoordinationError) -> ContainerFormat? {
        let content: [UInt8]
        do throws(Errno) {
            content = try FileDescriptor.content(of: name, in: group, limit: 65_536)
        } catch {
            if error == .noSuchEntry { return nil }
            throw CoordinationError(error, operation: "read", item: label)
        }
        return try ContainerFormat(decoding: content)
    }

    /// Decodes the file's bytes. Errors: `newerFormat`; `olderFormat`; `damaged`.
    init(decoding content: [UInt8]) throws(CoordinationError) {
        // The version is decoded first: the other fields of a newer version may not decode.
        struct VersionOnly: Codable { var format: Int }
        guard let version = try? JSONDecoder().decode(VersionOnly.self, from: Data(content)) else {
            throw .damaged(
                operation: "open", item: Self.label,
                reason: content.isEmpty
                    ? "the file is empty, or not a regular file" : "the file is not a container's format file")
        }
        if version.format > GroupContainerVersion.format {
            throw CoordinationError(
                .newerFormat, operation: "open", item: Self.label,
                reason:
                    "the container has format \(version.format), and this version knows \(GroupContainerVersion.format)",
                remedy: .update)
        }
        if (1..<GroupContainerVersion.format).contains(version.format) {
            throw CoordinationError(
                .olderFormat, operation: "open", item: Self.label,
                reason:
                    "the container has format \(version.format), and this version reads only \(GroupContainerVersion.format)",
                remedy: .init(.migrate, "nothing was changed; create another container, and copy the items into it"))
        }
        guard let format = try? JSONDecoder().decode(ContainerFormat.self, from: Data(content)), format.format >= 1,
            format.containerBytes != nil, format.originBytes != nil, format.key != nil
        else { throw .damaged(operation: "open", item: Self.label, reason: "a field is missing or malformed") }
        self = format
    }

    func write(in group: borrowing FileDescriptor, mode: UInt32) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let content = try? encoder.encode(self) else {
            throw .damaged(operation: "write", item: Self.label, reason: "the format does not encode")
        }
        let temporary = Array("format.new".utf8)
        try translating("write", item: Self.label) { () throws(Errno) in
            let file = try FileDescriptor.createAnew(temporary, in: group)
            do throws(Errno) {
                try file.setMode(mode)
                try file.writeAll(Array(content) + [UInt8(ascii: "\n")])
                try file.synchronize()
                try group.rename(temporary, to: Self.name, in: group, replacing: true)
                try group.synchronize()
            } catch {
                try? group.unlink(temporary)
                throw error
            }
        }
    }

    var containerBytes: [UInt8]? { Self.sixteen(container) }
    var originBytes: [UInt8]? { Self.sixteen(origin ?? container) }

    /// Returns the format for a copy, with an identity of its own: cursors of the original have no place in the copy.
    func adopted(lockInode: UInt64) -> ContainerFormat {
        var copy = self
        copy.origin = origin ?? container
        copy.container = Hexadecimal.encode(randomBytes(16))
        copy.lockInode = lockInode
        return copy
    }

    var key: SipHash? {
        guard let bytes = Self.sixteen(hashKey) else { return nil }
        var reader = ByteReader(bytes)
        guard let first = try? reader.number(UInt64.self), let second = try? reader.number(UInt64.self) else {
            return nil
        }
        return SipHash(key: (first, second))
    }

    private static func sixteen(_ text: String) -> [UInt8]? {
        guard let bytes = Hexadecimal.decode(text), bytes.count == 16 else { return nil }
        return bytes
    }
}
