/// The name of a log's file before it has its number. The name says whose file it is, so that one whose maker died is
/// told from one that is still made, also where another member has the slot by now.
struct UnfinishedName: Equatable, Sendable {
    var slot: Int
    /// Nil for one of an older version.
    var nonce: UInt64?

    static let prefix = Array("new-".utf8)

    static func bytes(slot: Int, nonce: UInt64, _ distinction: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(nonce)
        return prefix + Array("\(slot)-\(Hexadecimal.encode(writer.bytes))-\(Hexadecimal.encode(distinction))".utf8)
    }

    /// Nil for what is none.
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
