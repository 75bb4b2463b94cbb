import Foundation
import TestSupport
import Testing

/// The attributes that another user than root can keep. Glibc's module has no setxattr, and setfacl(1) may be missing;
/// Python has both.
// fault: attributes
@Suite(
    .tags(.process, .root),
    .enabled(if: canPlayNobody, "needs root, setpriv(1), and a build directory that every user may enter"))
struct `A write by another user than root` {
    /// A container that root shares with the group `games`, in a directory that every user may enter.
    private func sharedContainer() async throws -> TemporaryContainer {
        let container = try TemporaryContainer(creating: false)
        _ = try await container.start("groupctl", ["create", container.path, "--unix-group", "games"]).finish()
        try await container.done("write", "a", input: "old")
        #expect(try await container.shell("chmod 711 \"$1/..\"").status == 0)
        return container
    }

    private func write(
        _ words: String..., in container: TemporaryContainer, groups: String = "60"
    ) async throws {
        let words = [BuildDirectory.resolve("groupctl"), "write", container.path] + words
        let outcome = try await container.start("setpriv", nobody(groups: groups) + words, input: "new").finish()
        #expect(outcome.status == 0, "\(outcome)")
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    /// Owner, group and mode.
    private func description(_ item: String, in container: TemporaryContainer) async throws -> String {
        try await container.shell("stat -c %u:%g:%a \"$1/$2\"", item).lines.first ?? ""
    }

    /// Returns false if the file system has no such attributes.
    private func python(_ script: String, in container: TemporaryContainer) async throws -> Bool {
        let beginning = """
            import os, struct, sys
            os.chdir(sys.argv[1])
            none = 0xffffffff
            def acl(*entries):
                return struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in entries)

            """
        let outcome = try await container.shell("python3 -c \"$2\" \"$1\"", beginning + script)
        if outcome.errors.contains("not supported") || outcome.status == 127 { return false }
        if outcome.status != 0 { throw TemporaryContainer.Failed(description: "\(outcome)") }
        return true
    }

    @Test func `a user's write keeps mode, group, attributes and access control list`() async throws {
        let container = try await sharedContainer()
        let isThere = try await python(
            """
            os.setxattr('a', 'user.note', b'kept')
            os.setxattr('a', 'trusted.note', b'not seen')
            os.setxattr('a', 'system.posix_acl_access',
                acl((1, 6, none), (2, 6, 1234), (4, 4, none), (16, 6, none), (32, 0, none)))
            """, in: container)
        if !isThere { return }
        try await write("a", in: container)
        #expect(try await description("a", in: container) == "65534:60:660")
        #expect(
            try await python(
                """
                assert os.getxattr('a', 'user.note') == b'kept'
                assert sorted(os.listxattr('a')) == ['system.posix_acl_access', 'user.note'], os.listxattr('a')
                assert os.getxattr('a', 'system.posix_acl_access') == acl(
                    (1, 6, none), (2, 6, 1234), (4, 4, none), (16, 6, none), (32, 0, none))
                """, in: container))
    }

    @Test(arguments: [("6755", "755"), ("0664", "644"), ("0640", "600"), ("2770", "700")])
    func `a write that cannot keep owner and group gives no user more rights`(old: String, new: String) async throws {
        let container = try await sharedContainer()
        #expect(try await container.shell("chown 1234:1234 \"$1/a\" && chmod \"$2\" \"$1/a\"", old).status == 0)
        try await write("a", in: container)
        #expect(try await description("a", in: container) == "65534:60:\(new)")
    }

    @Test func `a write that cannot keep the group gives it no more rights by the list`() async throws {
        let container = try await sharedContainer()
        let isThere = try await python(
            """
            os.chown('a', 1234, 1234)
            os.setxattr('a', 'system.posix_acl_access',
                acl((1, 6, none), (2, 6, 1234), (4, 6, none), (16, 6, none), (32, 4, none)))
            """, in: container)
        if !isThere { return }
        try await write("a", in: container)
        #expect(try await description("a", in: container) == "65534:60:664")
        #expect(
            try await python(
                """
                assert os.getxattr('a', 'system.posix_acl_access') == acl(
                    (1, 6, none), (2, 6, 1234), (4, 4, none), (16, 6, none), (32, 4, none))
                """, in: container))
    }

    @Test func `a write keeps a group of the user that is not the container's`() async throws {
        let container = try await sharedContainer()
        #expect(try await container.shell("chgrp 1234 \"$1/a\" && chmod 640 \"$1/a\"").status == 0)
        try await write("a", in: container, groups: "60,1234")
        #expect(try await description("a", in: container) == "65534:1234:640")
    }

    @Test(arguments: ["new", "new more"]) func `a write replaces the user's own file that is not readable`(old: String)
        async throws
    {
        let container = try await sharedContainer()
        let isThere = try await python(
            """
            open('a', 'w').write('\(old)')
            os.chown('a', 65534, 60)
            os.setxattr('a', 'user.note', b'for readers')
            os.setxattr('a', 'system.posix_acl_access',
                acl((1, 2, none), (2, 6, 1234), (4, 4, none), (16, 6, none), (32, 0, none)))
            """, in: container)
        if !isThere { return }
        try await write("a", in: container)
        #expect(try container.content("a") == "new")
        #expect(try await description("a", in: container) == "65534:60:260")
        #expect(try await python("assert os.listxattr('a') == ['system.posix_acl_access']", in: container))
    }

    @Test func `a write in a directory with a default list uses the list instead of the umask`() async throws {
        let container = try await sharedContainer()
        let isThere = try await python(
            """
            os.mkdir('directory'); os.chmod('directory', 0o2770)
            os.setxattr('directory', 'system.posix_acl_default',
                acl((1, 7, none), (2, 7, 1234), (4, 5, none), (16, 7, none), (32, 0, none)))
            """, in: container)
        if !isThere { return }
        #expect(try await container.shell("umask 077; echo x | groupctl write \"$1\" directory/root/a").status == 0)
        try await write("directory/nobody/a", in: container)
        #expect(try await description("directory/root/a", in: container) == "0:60:660")
        #expect(try await description("directory/nobody/a", in: container) == "65534:60:660")
        #expect(try await description("directory/nobody", in: container) == "65534:60:2770")
        #expect(
            try await python(
                """
                for name in ['directory/root/a', 'directory/nobody/a']:
                    assert os.getxattr(name, 'system.posix_acl_access') == acl(
                        (1, 6, none), (2, 7, 1234), (4, 5, none), (16, 6, none), (32, 0, none)), name
                default = os.getxattr('directory', 'system.posix_acl_default')
                assert os.getxattr('directory/nobody', 'system.posix_acl_default') == default
                assert os.getxattr('directory/nobody', 'system.posix_acl_access') == default
                """, in: container))
    }
}
