/// One change of one item: what a record says besides who made it and when. A transaction has several.
struct ChangePart: Equatable, Sendable {
    var kind: ChangeRecord.Kind
    var path: [UInt8]
    /// Where it stood before, for `moved`; the other place, for `exchanged`.
    var from: [UInt8]?
    /// As it stood right after; nil once it is gone.
    var state: ItemState?
    /// For `exchanged`: of what stands at `from` now.
    var otherState: ItemState?
    /// For `removed`: it was a directory.
    var wasDirectory = false

    /// What concerns items; the other kinds are those of whole records.
    private static let kinds: [ChangeRecord.Kind] = [.created, .modified, .removed, .moved, .exchanged, .touched]

    func encode(into writer: inout ByteWriter) {
        writer.write(kind.rawValue)
        writer.write(
            UInt8(
                (from != nil ? 2 : 0) | (state != nil ? 4 : 0) | (wasDirectory ? 8 : 0) | (otherState != nil ? 16 : 0)))
        writer.write(UInt16(0))
        state?.encode(into: &writer)
        otherState?.encode(into: &writer)
        writer.write(counted: path)
        if let from { writer.write(counted: from) }
    }

    init(from reader: inout ByteReader) throws {
        guard let kind = ChangeRecord.Kind(rawValue: try reader.number()), Self.kinds.contains(kind) else {
            throw ChangeRecord.Fault.unknown
        }
        self.kind = kind
        let flags: UInt8 = try reader.number()
        wasDirectory = flags & 8 != 0
        _ = try reader.number(UInt16.self)
        state = flags & 4 != 0 ? try ItemState(from: &reader) : nil
        otherState = flags & 16 != 0 ? try ItemState(from: &reader) : nil
        path = try reader.counted()
        from = flags & 2 != 0 ? try reader.counted() : nil
    }

    init(
        kind: ChangeRecord.Kind, path: [UInt8], from: [UInt8]? = nil, state: ItemState?, otherState: ItemState? = nil,
        wasDirectory: Bool = false
    ) {
        (self.kind, self.path, self.from, self.state) = (kind, path, from, state)
        (self.otherState, self.wasDirectory) = (otherState, wasDirectory)
    }
}
