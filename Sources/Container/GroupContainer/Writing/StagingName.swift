import GroupBytes
import GroupLocking

/// The names of files and directories in `.group/staging`.
enum StagingName {
    /// Returns the name of the item that an operation moves in or out.
    static func of(_ operation: [UInt8]) -> [UInt8] { Hexadecimal.digits(of: operation) }

    /// Returns the name of a member's intent record. The names of all such files begin with the member's nonce.
    static func intentRecord(nonce: UInt64, entry: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(nonce)
        return Hexadecimal.digits(of: writer.bytes) + Array(".\(entry).intent".utf8)
    }
}

/// The name of a log's file before it has its number. The name identifies the member that makes the file, so that a
/// file whose maker died can be distinguished from a file in progress, also where another member has the slot by now.
struct UnfinishedName: Equatable, Sendable {
    var slot: Int
    /// The member's nonce; nil in a name of an older version.
    var nonce: UInt64?

    static let prefix = Array("new-".utf8)

    static func bytes(slot: Int, nonce: UInt64, _ distinction: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(nonce)
        return prefix + Array("\(slot)-\(Hexadecimal.encode(writer.bytes))-\(Hexadecimal.encode(distinction))".utf8)
    }

    /// Parses a name; nil for a name of another form.
    init?(_ name: [UInt8]) {
        let parts = String(decoding: name, as: UTF8.self).split(separator: "-")
        guard parts.count == 3 || parts.count == 4, parts[0] == "new", let slot = Int(parts[1]),
            (0..<MemberTableLayout.slotCount).contains(slot)
        else { return nil }
        self.slot = slot
        if parts.count == 3 { return }
        guard let bytes = Hexadecimal.decode(parts[2]), bytes.count == 8 else { return nil }
        var reader = ByteReader(bytes)
        nonce = try? reader.number()
    }
}
