import GroupSystemCalls
import TestSupport
import Testing

@Suite(.tags(.root))
struct `Extended attributes` {
    private static let name = Array("user.test".utf8)
    /// In memory: a disk such as ext4 has room for 4 KB of a file's attributes.
    private static let place = "/dev/shm"

    /// Makes a file; returns nil if it can have no user attributes, as in memory with older kernels.
    private func file(in temporary: borrowing TemporaryDirectory) throws -> FileDescriptor? {
        let file = try temporary.open("file", [.readingAndWriting, .creating])
        do { try file.setAttribute(Self.name, to: []) } catch { return nil }
        try file.removeAttribute(Self.name)
        return file
    }

    @Test(arguments: [0, 1, 1_023, 1_024, 1_025, 8_193, 65_536])
    func `an extended attribute of any length is read back`(length: Int) throws {
        let temporary = try TemporaryDirectory(in: Self.place)
        guard let file = try file(in: temporary) else { return }
        let value = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        try file.setAttribute(Self.name, to: value)
        #expect(try file.attribute(Self.name) == value)
        #expect(try file.attributeNames() == [Self.name])
    }

    @Test func `extended attributes are listed, however many there are`() throws {
        let temporary = try TemporaryDirectory(in: Self.place)
        guard let file = try file(in: temporary) else { return }
        let names = (100..<300).map { Array("user.\($0)-a-name-that-is-rather-long".utf8) }
        for name in names { try file.setAttribute(name, to: name) }
        let listed = try file.attributeNames().sorted { $0.lexicographicallyPrecedes($1) }
        #expect(listed == names)
    }

    @Test func `extended attributes are read through a descriptor that is no more than a place`() throws {
        let temporary = try TemporaryDirectory()
        guard let file = try file(in: temporary) else { return }
        try file.setAttribute(Self.name, to: [1, 2])
        let place = try FileDescriptor.open(Array("file".utf8), in: temporary.directory, [.pathOnly, .notFollowing])
        #expect(try place.attributeNames() == [Self.name])
        #expect(try place.attribute(Self.name) == [1, 2])
    }

    @Test func `an extended attribute that is missing or removed is nil`() throws {
        let temporary = try TemporaryDirectory()
        guard let file = try file(in: temporary) else { return }
        #expect(try file.attribute(Self.name) == nil)
        try file.removeAttribute(Self.name)
        try file.setAttribute(Self.name, to: [1])
        try file.removeAttribute(Self.name)
        #expect(try file.attributeNames().isEmpty)
    }

    @Test func `a file on a file system without extended attributes has none`() throws {
        let process = try FileDescriptor.open(path: Array("/proc/self/stat".utf8), .reading)
        #expect(try process.attributeNames().isEmpty)
        #expect(try process.attribute(Self.name) == nil)
        // A file of the kernel's that only root may write to.
        #expect(throws: isRoot ? Errno.notSupported : .accessDenied) { try process.setAttribute(Self.name, to: []) }
    }
}
