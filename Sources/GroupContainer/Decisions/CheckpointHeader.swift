/// The first bytes of the checkpoint: which picture of the tree it is, and of which place in the journal.
struct CheckpointHeader: Equatable, Sendable {
    /// As its logs carry it.
    var container: [UInt8]
    /// Everything up to here is in the picture. Never at the end of a file that another one follows.
    var position: LogPosition
    /// Of the journal's file at that place: another history's has another.
    var fileSalt: UInt64
    /// Of the latest leader that took office.
    var newestTerm: UInt64
    /// Random for each checkpoint: the checksums of another one's entries do not pass.
    var nonce: UInt64
    /// Nanoseconds since 1970.
    var made: Int64

    static let size = 120

    private static let magic = Array("GROUPCAT".utf8)
    private static let format: UInt32 = 1

    func encoded(count: Int, byteCount: Int) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(raw: Self.magic)
        writer.write(Self.format)
        writer.write(UInt32(Self.size))
        writer.write(raw: container)
        for number in [
            position.file, UInt64(position.offset), position.sequence, position.checksum, fileSalt, newestTerm,
            UInt64(count), UInt64(byteCount), nonce, UInt64(bitPattern: made),
        ] { writer.write(number) }
        writer.write(SipHash(key: (nonce, 0)).hash(writer.bytes))
        return writer.bytes
    }

    /// Also says how many entries follow, and how long the whole file is.
    static func decode(_ bytes: [UInt8]) throws(CheckpointFault) -> (
        header: CheckpointHeader, count: Int, byteCount: Int
    ) {
        do {
            var reader = ByteReader(bytes)
            guard try reader.raw(8) == magic else { throw CheckpointFault.damaged }
            let format: UInt32 = try reader.number()
            if format > Self.format { throw CheckpointFault.newer(format) }
            guard try reader.number(UInt32.self) == UInt32(size) else { throw CheckpointFault.damaged }
            let container = try reader.raw(16)
            var numbers: [UInt64] = []
            for _ in 0..<10 { numbers.append(try reader.number()) }
            guard try reader.number() == SipHash(key: (numbers[8], 0)).hash(bytes[..<(size - 8)]),
                let offset = Int(exactly: numbers[1]), let count = Int(exactly: numbers[6]),
                let byteCount = Int(exactly: numbers[7]), byteCount >= size, count <= (byteCount - size) / 8
            else { throw CheckpointFault.damaged }
            let header = CheckpointHeader(
                container: container,
                position: LogPosition(file: numbers[0], offset: offset, sequence: numbers[2], checksum: numbers[3]),
                fileSalt: numbers[4], newestTerm: numbers[5], nonce: numbers[8], made: Int64(bitPattern: numbers[9]))
            return (header, count, byteCount)
        } catch let fault as CheckpointFault {
            throw fault
        } catch {
            throw .damaged
        }
    }
}
