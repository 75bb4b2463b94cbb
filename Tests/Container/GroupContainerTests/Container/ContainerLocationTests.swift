import Glibc
import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)), .tags(.process))
struct `Group identifiers` {
    @Test(
        arguments: [
            "", ".", "..", ".hidden", "-a", "_a", "a/b", "/", "a b", "a\0b", "é", "a\n", "a:b", "~", "$HOME",
            String(repeating: "a", count: 256),
        ])
    func `a malformed group identifier is refused`(identifier: String) {
        #expect(code { try ContainerLocation.path(ofGroup: identifier) } == .invalidArgument)
        #expect(code { try Container(group: identifier) } == .invalidArgument)
        #expect(code { try Container(group: identifier, creating: true) } == .invalidArgument)
    }

    // The environment belongs to the whole process, so each of these tests runs in a process of its own.

    @Test(arguments: ["group.com.example.todo", "a", "0", "A-b_c.d", "a..b"])
    func `a group identifier names a directory below GROUP_CONTAINERS_HOME`(identifier: String) async {
        await #expect(processExitsWith: .success) { [identifier] in
            limitLifetime()
            let temporary = try TemporaryDirectory()
            unsafe setenv("GROUP_CONTAINERS_HOME", temporary.path, 1)
            #expect(code { try Container(group: identifier) } == .notFound)
            #expect(try Container.groupIdentifiers() == [])
            let made = try Container(group: identifier, creating: true)
            #expect(made.groupIdentifier == identifier)
            #expect(made.path.description == "\(temporary.path)/\(identifier)")
            #expect(try Container(path: "\(temporary.path)/\(identifier)").groupIdentifier == identifier)
            #expect(try Container(.identifier(identifier)).opened === made.opened)
            try temporary.directory.createDirectory(Array("other".utf8), mode: 0o700)
            #expect(try Container.groupIdentifiers() == [identifier])
        }
    }

    @Test func `without GROUP_CONTAINERS_HOME a group is below XDG_DATA_HOME, or else below the home`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            unsafe setenv("HOME", "/home/someone", 1)
            unsafe setenv("XDG_DATA_HOME", "/data", 1)
            unsafe setenv("GROUP_CONTAINERS_HOME", "", 1)
            func place() throws -> String { String(decoding: try ContainerLocation.path(ofGroup: "g"), as: UTF8.self) }
            let data = try place()
            #expect(data == "/data/group-containers/g")
            unsafe setenv("XDG_DATA_HOME", "relative", 1)
            let home = try place()
            #expect(home == "/home/someone/.local/share/group-containers/g")
            unsafe setenv("HOME", "", 1)
            #expect(throws: CoordinationError.self) { try place() }
        }
    }
}
