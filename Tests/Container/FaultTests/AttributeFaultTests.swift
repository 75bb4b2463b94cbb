import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// The kernel refuses to give a staged file an attribute of the old file.
// fault: disk-full, attributes
@Suite(.ownThreads, .enabled(if: Strace.isThere, Strace.isMissing), .timeLimit(.minutes(5)), .tags(.process))
struct `Refused attributes` {
    private static let name = Array("user.test".utf8)

    /// Returns nil if the file system has no extended attributes.
    private func containerWithAttribute() throws -> TemporaryContainer? {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old\n")
        do { try item(of: container).setAttribute(Self.name, to: [1]) } catch { return nil }
        return container
    }

    private func item(of container: TemporaryContainer) throws -> FileDescriptor {
        try FileDescriptor.open(path: Array("\(container.path)/item".utf8), .reading)
    }

    private func write(to container: TemporaryContainer, failing name: String, with error: String) throws -> (
        status: Int32, text: String
    ) {
        try Strace.run(
            ["groupctl", "write", "--json", container.path, "item"], input: "new\n", fault: .error(error),
            at: Strace.Call(name: name, number: 1))
    }

    @Test(arguments: [("ENOSPC", "noSpace"), ("EDQUOT", "noSpace"), ("EIO", "inputOutput")])
    func `a write without room for an attribute is refused, and nothing has changed`(error: String, code: String) throws
    {
        guard let container = try containerWithAttribute() else { return }
        let (status, text) = try write(to: container, failing: "fsetxattr", with: error)
        #expect(status == 74 && text.contains(#""code":"\#(code)""#), "\(text)")
        #expect(container.content(of: "item") == "old\n")
        #expect(try item(of: container).attribute(Self.name) == [1])
        #expect(container.staging.isEmpty)
        #expect(try container.changes().count == 1)
        #expect(try container.groupctl("write", "item", input: "new\n").status == 0)
        #expect(try item(of: container).attribute(Self.name) == [1])
    }

    @Test(arguments: ["EPERM", "EACCES", "EOPNOTSUPP"], ["fsetxattr", "getxattr"])
    func `a write that may not set an attribute goes on without it`(error: String, call: String) throws {
        guard let container = try containerWithAttribute() else { return }
        let (status, text) = try write(to: container, failing: call, with: error)
        #expect(status == 0, "\(text)")
        #expect(container.content(of: "item") == "new\n")
        #expect(try item(of: container).attribute(Self.name) == nil)
    }

    @Test(arguments: ["EPERM", "EINVAL"])
    func `a write whose access control list is refused permits the group no more than before`(error: String) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old\n")
        let entries: [[UInt8]] = [[1, 6], [2, 6], [4, 4], [16, 6], [32, 0]]
        let list: [UInt8] = [2, 0, 0, 0] + entries.flatMap { [$0[0], 0, $0[1], 0] + [UInt8](repeating: 0, count: 4) }
        let name = Array("system.posix_acl_access".utf8)
        do { try item(of: container).setAttribute(name, to: list) } catch { return }
        #expect(try item(of: container).status().permissions == 0o660)
        let (status, text) = try write(to: container, failing: "fsetxattr", with: error)
        #expect(status == 0, "\(text)")
        #expect(try item(of: container).attribute(name) == nil)
        #expect(try item(of: container).status().permissions == 0o640)
    }

    @Test func `a write on a file system without attributes goes on without them`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "item", input: "old\n")
        let command = ["groupctl", "write", container.path]
        for (item, call) in [
            ("item", "listxattr"), ("item", "getxattr"), ("new/item", "getxattr"),
        ] {
            let writer = try Strace.start(
                command + [item], input: "\(item) \(call)", fault: .error("EOPNOTSUPP"),
                at: Strace.Call(name: call, number: 1), andAllLater: true)
            let (status, text) = try writer.finish()
            #expect(status == 0, "\(text)")
            #expect(container.content(of: item) == "\(item) \(call)")
        }
    }

    @Test func `a write whose new directory cannot get its attributes leaves nothing of the directory`() throws {
        let container = try TemporaryContainer()
        let list: [UInt8] = [2, 0, 0, 0] + [1, 4, 32].flatMap { [$0, 0, 7, 0, 255, 255, 255, 255] }
        let root = try FileDescriptor.open(path: Array(container.path.utf8), [.reading, .directory])
        do { try root.setAttribute(Array("system.posix_acl_default".utf8), to: list) } catch { return }
        let (status, text) = try Strace.run(
            ["groupctl", "write", "--json", container.path, "directory/item"], input: "new\n",
            fault: .error("ENOSPC"), at: Strace.Call(name: "fsetxattr", number: 2))
        #expect(status == 74 && text.contains(#""code":"noSpace""#), "\(text)")
        #expect(!container.exists("directory"))
        #expect(container.staging.isEmpty)
        #expect(try container.changes().isEmpty)
    }
}
