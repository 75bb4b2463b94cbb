import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.ownThreads, .timeLimit(.minutes(1)))
struct `Streamed items` {
    private static func bytes(_ size: Int) -> [UInt8] { (0..<size).map { UInt8(truncatingIfNeeded: $0 ^ $0 >> 8) } }

    private static func pieces(_ content: [UInt8], of size: Int) -> [ArraySlice<UInt8>] {
        stride(from: 0, to: content.count, by: size).map { content[$0..<min($0 + size, content.count)] }
    }

    private static func read(_ reader: inout ItemReader) throws -> [UInt8] {
        var content: [UInt8] = []
        while let piece = try reader.read(upToCount: 70_000) {
            #expect(!piece.isEmpty && piece.count <= 70_000)
            content += piece
        }
        return content
    }

    @Test(arguments: [0, 1, 1 << 20, 1 << 20 + 1, 3_000_000], [1 << 16, 1 << 22])
    func `a streamed item has what was written, and is unchanged when it is written again`(size: Int, piece: Int) throws
    {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let content = Self.bytes(size)
        let write = { (writer: inout ItemWriter) in
            for piece in Self.pieces(content, of: piece) { try writer.write(contentsOf: piece) }
        }
        #expect(try tester.write(to: "directory/a") { try write(&$0) } == .written(2))
        #expect(try tester.readBytes("directory/a") == content)
        #expect(try tester.read("directory/a") { try Self.read(&$0) } == content)
        #expect(
            try tester.readVersion("directory/a") { try Self.read(&$0) } == Versioned(value: content, generation: 2))
        #expect(try tester.write(to: "directory/a") { try write(&$0) } == .unchanged)
        #expect(try tester.write(bytes: content, to: "directory/a") == .unchanged)
        #expect(try tester.write(to: "directory/a") { try write(&$0) } == .unchanged)
        #expect(
            try tester.write(to: "directory/a") {
                try write(&$0); try $0.write(contentsOf: [1])
            } == .written(3))
        #expect(try sample.history() == ["created directory", "created directory/a", "modified directory/a"])
        try sample.expectNothingLeft()
    }

    @Test(arguments: [10, 3_000_000])
    func `a streamed item has the mode that a write of all at once gives`(size: Int) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let content = Self.bytes(size)
        _ = try tester.write(bytes: content, to: "at once")
        _ = try tester.write(to: "streamed") { try $0.write(contentsOf: content) }
        let mode = try sample.temporary.status(of: "at once").permissions
        #expect(try sample.temporary.status(of: "streamed").permissions == mode)
        try tester.setMode(0o4751, of: "streamed")
        _ = try tester.write(to: "streamed") { try $0.write(contentsOf: content.reversed()) }
        #expect(try sample.temporary.status(of: "streamed").permissions == 0o4751)
        _ = try tester.write(to: "streamed", mode: 0o600) { try $0.write(contentsOf: content) }
        #expect(try sample.temporary.status(of: "streamed").permissions == 0o600)
        try sample.expectNothingLeft()
    }

    private struct Stopped: Error {}

    @Test(arguments: [10, 3_000_000])
    func `a streamed item stays as it was if the closure throws`(size: Int) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        #expect(throws: Stopped.self) {
            try tester.write(to: "a") { writer in
                try writer.write(contentsOf: Self.bytes(size))
                throw Stopped()
            }
        }
        #expect(throws: Stopped.self) {
            try tester.coordinate(.writing("a")) { access in
                try access.write(to: "a") { writer in
                    try writer.write(contentsOf: Self.bytes(size))
                    throw Stopped()
                }
            }
        }
        #expect(try tester.readBytes("a") == [1])
        #expect(try sample.history() == ["created a"])
        try sample.expectNothingLeft()
    }

    @Test func `a streamed item is not locked while its new content comes`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let before = try tester.write(bytes: [1], to: "a")
        #expect(before == .written(1))
        var other: WriteResult?
        let ending = code {
            try tester.write(to: "a", if: .generation(1)) { writer in
                try writer.write(contentsOf: Self.bytes(3_000_000))
                other = try sample.coordinator().blocking.write(bytes: [2], to: "a", timeout: .zero)
            }
        }
        #expect(ending == .conflict && other == .written(2))
        #expect(try tester.readBytes("a") == [2])
        try sample.expectNothingLeft()
    }

    @Test(arguments: [10, 3_000_000])
    func `a streamed item changes together with others in a transaction`(size: Int) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        let content = Self.bytes(size)
        try tester.transaction(.writing("a"), .writing("b")) { access in
            try access.write(to: "a") { try $0.write(contentsOf: content) }
            #expect(try access.read("a") { try Self.read(&$0) } == content)
            #expect(throws: Stopped.self) {
                try access.write(to: "b") { writer in
                    try writer.write(contentsOf: content)
                    throw Stopped()
                }
            }
        }
        #expect(try tester.read("a") { try Self.read(&$0) } == content)
        #expect(try sample.history() == ["created a"])
        try sample.expectNothingLeft()
    }

    @Test func `a streamed item is read and written in tasks, too`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        let content = Self.bytes(3_000_000)
        #expect(try await tester.write(to: "a") { try $0.write(content.span) } == .written(1))
        #expect(try await tester.read("a") { try Self.read(&$0) } == content)
        #expect(try await tester.readVersion("a") { try Self.read(&$0) }.generation == 1)
        try sample.expectNothingLeft()
    }

    @Test func `streaming from a missing item, or from or to a directory, is refused`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.createDirectory("directory")
        #expect(code { try tester.read("directory") { try Self.read(&$0) } } == .wrongType)
        #expect(code { try tester.read("missing") { try Self.read(&$0) } } == .notFound)
        #expect(
            code { try tester.write(to: "directory") { try $0.write(contentsOf: Self.bytes(3_000_000)) } } == .wrongType
        )
        try sample.expectNothingLeft()
    }
}
