// Imports nothing: no file, clock or process.

/// The name of the directory that makes its parent a container: `.group`, or, from the beginning to the end of a
/// deletion, `.group.deleted`.
enum ContainerMark {
    static let present = Array(".group".utf8)
    static let deleted = Array(".group.deleted".utf8)
    static let all = [present, deleted]

    static func isOne(_ name: some Collection<UInt8>) -> Bool { all.contains { name.elementsEqual($0) } }
}
