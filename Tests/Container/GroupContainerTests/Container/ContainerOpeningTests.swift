import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog
@testable import GroupLocking

@Suite(.timeLimit(.minutes(1)))
struct `Opening a container` {
    // fault: other-file-system
    @Test func `containers are refused on network and user-space file systems, and on no local one`() {
        #expect([0x6969, 0x6573_5546, 0xff53_4d42].map(ContainerDirectories.refusal) == ["NFS", "FUSE", "CIFS"])
        // ext4, xfs, btrfs, tmpfs, overlay
        let local = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630]
        #expect(local.allSatisfy { ContainerDirectories.refusal(ofType: $0) == nil })
    }

    @Test func `opening a container creates it once, and finds it the second time`() throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.path + "/new/container"
        let first = try Container(path: path, creating: true).status().containerIdentifier
        let again = try Container(path: path, creating: true).status().containerIdentifier
        let opened = try Container(path: path).status().containerIdentifier
        #expect(first == again && again == opened)
        #expect(first.utf8.count == 32)
        #expect(try Container(path: path).groupIdentifier == nil)
    }

    @Test func `a new container is accessible to its user alone`() throws {
        let sample = try SampleContainer()
        #expect(try sample.temporary.status(of: ".group").permissions == 0o700)
        for file in ["format", "lock", "members", "journal/1.log"] {
            #expect(try sample.temporary.open(".group/\(file)").status().permissions == 0o600)
        }
    }

    @Test func `opening a missing container is an error, and creates nothing`() throws {
        let temporary = try TemporaryDirectory()
        for path in [temporary.path, temporary.path + "/missing"] {
            #expect(code { try Container(path: path) } == .notFound)
        }
        #expect(try temporary.directory.entryNames().isEmpty)
    }

    @Test func `opening a file as a container is an error`() throws {
        let temporary = try TemporaryDirectory()
        try temporary.put("x", at: "file")
        #expect(code { try Container(path: temporary.path + "/file") } == .wrongType)
        #expect(code { try Container(path: temporary.path + "/file", creating: true) } == .wrongType)
        #expect(try temporary.content(of: "file") == "x")
    }

    @Test(arguments: ["", "a\0b"])
    func `an empty path or one with a NUL byte is refused as a container`(path: String) {
        #expect(code { try Container(path: path) } == .invalidArgument)
        #expect(code { try Container(path: path, creating: true) } == .invalidArgument)
    }

    @Test func `creating a container for an unknown Unix group is refused before anything is made`() throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.path + "/c"
        #expect(code { try Container(path: path, creating: true, unixGroup: "no such group") } == .invalidArgument)
        #expect(try temporary.directory.entryNames().isEmpty)
    }

    @Test func `opening a container twice makes one member, which leaves with the last object`() throws {
        let temporary = try TemporaryDirectory()
        var first: Container? = try Container(path: temporary.path, creating: true)
        var second: Container? = try Container(path: temporary.path + "/./")
        #expect(first?.opened === second?.opened)
        #expect(try first?.status().members.map(\.processIdentifier) == [processIdentifier()])
        let slot = try #require(first?.opened.memberTable.slot)
        first = nil
        #expect(try second?.status().members.count == 1)
        second = nil
        let third = try Container(path: temporary.path)
        #expect(third.opened.memberTable.slot == slot)
        #expect(try third.status().members.count == 1)
    }

    @Test func `opening a container on many threads at once makes one member`() throws {
        let temporary = try TemporaryDirectory()
        let sides = (0..<16).map { _ in Side { try Container(path: temporary.path, creating: true) } }
        let containers = try sides.map { try $0.answer() }
        #expect(Set(containers.map { ObjectIdentifier($0.opened) }).count == 1)
        #expect(try containers[0].status().members.count == 1)
    }
}
