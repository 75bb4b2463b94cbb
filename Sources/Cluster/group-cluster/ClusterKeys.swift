import GroupBytes
import GroupCluster

/// The keys of a container's cluster in etcd. All begin with `/group-container/NAME/`, so that one role suffices for
/// it.
///
///     o/t             the name of the last entry; its version is the number of entries
///     o/m/M           the number of the last entry of machine M, in decimal digits
///     o/e/M/N         the entry N of machine M
///     b/O/D/I         piece I of the content with digest D, which operation O has made
///     b/O/            nothing; put with the entry of operation O, whose contents were uploaded before
///     u/O             operation O is being uploaded by a machine; with the lease of its session
///     s               the index of the last snapshot, and the number of its pieces
///     f/X/I           piece I of the snapshot of index X
///     l/L             the grant that has the lock L, with the lease of its machine's session
///     n/M             the host name of machine M, with the lease of its session
///     i/M             without a lease, the index up to which machine M has applied the log (`MachineNote`)
struct ClusterKeys {
    /// The size of the pieces of contents and snapshots, in bytes.
    static let pieceSize = 256 << 10
    /// Contents of an entry that are not larger than this in all are committed with it.
    static let smallContents = 256 << 10
    static let mostSmallContents = 64

    /// What all keys begin with.
    let prefix: String

    /// Returns whether a name can be that of a cluster's container.
    static func isName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
            }
    }

    init(name: String) { prefix = "/group-container/\(name)/" }

    private func key(_ rest: String) -> [UInt8] { Array((prefix + rest).utf8) }

    /// What the watch is on.
    var order: [UInt8] { key("o/") }
    var last: [UInt8] { key("o/t") }
    var entries: [UInt8] { key("o/e/") }
    var snapshot: [UInt8] { key("s") }
    var contents: [UInt8] { key("b/") }
    var uploads: [UInt8] { key("u/") }
    var machines: [UInt8] { key("n/") }

    func counter(of machine: ClusterName) -> [UInt8] { key("o/m/\(machine.text)") }

    func entry(_ number: UInt64, of machine: ClusterName) -> [UInt8] {
        key("o/e/\(machine.text)/\(Self.digits(number))")
    }

    func entries(of machine: ClusterName) -> [UInt8] { key("o/e/\(machine.text)/") }

    /// Returns whose entry a key is.
    func entry(_ key: [UInt8]) -> (machine: ClusterName, number: UInt64)? {
        guard key.starts(with: entries) else { return nil }
        let words = String(decoding: key.dropFirst(entries.count), as: UTF8.self).split(separator: "/")
        guard words.count == 2, let machine = ClusterName(text: String(words[0])), words[1].utf8.count == 16,
            let number = UInt64(words[1], radix: 16)
        else { return nil }
        return (machine, number)
    }

    func pieces(of digest: [UInt8], by operation: ClusterName) -> [UInt8] {
        key("b/\(operation.text)/\(Hexadecimal.encode(digest))/")
    }

    func piece(_ index: Int, of digest: [UInt8], by operation: ClusterName) -> [UInt8] {
        pieces(of: digest, by: operation) + Array(Self.digits(UInt64(index)).utf8)
    }

    func contents(of operation: ClusterName) -> [UInt8] { key("b/\(operation.text)/") }

    /// Returns the operation of a key below `contents` or `uploads`.
    func operation(ofKey key: [UInt8]) -> ClusterName? {
        let rest = key.dropFirst(contents.count)
        return ClusterName(text: String(decoding: rest.prefix(32), as: UTF8.self))
    }

    func upload(_ operation: ClusterName) -> [UInt8] { key("u/\(operation.text)") }

    func snapshotPieces(_ index: UInt64) -> [UInt8] { key("f/\(Self.digits(index))/") }
    func snapshotPiece(_ piece: Int, _ index: UInt64) -> [UInt8] {
        snapshotPieces(index) + Array(Self.digits(UInt64(piece)).utf8)
    }
    var allSnapshotPieces: [UInt8] { key("f/") }

    var locks: [UInt8] { key("l/") }
    func lock(_ name: [UInt8]) -> [UInt8] { locks + name }
    func machine(_ machine: ClusterName) -> [UInt8] { key("n/\(machine.text)") }
    var notes: [UInt8] { key("i/") }
    func note(of machine: ClusterName) -> [UInt8] { key("i/\(machine.text)") }

    /// Returns the machine of a key below `machines` or `notes`; nil for a key that is none.
    func machine(ofKey key: [UInt8]) -> ClusterName? {
        ClusterName(text: String(decoding: key.dropFirst(machines.count), as: UTF8.self))
    }

    /// Keys beside those that are used, for which the same permissions hold.
    var samples: [[UInt8]] { ["o/?", "b/?", "u/?", "f/?", "n/?"].map(key) }

    private static func digits(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
