import Foundation
import TestSupport
import Testing

/// File systems that are mounted in the container while it is followed, in a namespace of the test's own.
@Suite(
    .ownThreads, .timeLimit(.minutes(2)), .enabled(if: mayMount, "needs mounts in a user namespace"),
    .tags(.root, .namespaces))
struct `Mounts in a followed container` {
    /// Runs a script in the directory of a container `c`, beside a follower. `await TEXT` waits until a line of the
    /// follower has the text.
    private func run(_ script: String, at location: SourceLocation = #_sourceLocation) async throws {
        let container = try TemporaryContainer()
        let whole = """
            set -e; cd "$1/.."; mv "$1" c; mkdir c/m c/a; echo 1 >c/a/f
            await() {
                for try in $(seq 300); do if grep -q "$1" out err; then return; fi; sleep 0.05; done
                echo "no line: $1"; cat out err; exit 1
            }
            watch-group --verbose --since start ./c/ >out 2>err & watcher=$!
            trap 'kill $watcher 2>/dev/null || true; wait' EXIT
            await "^watching"; await "created.a/f"; cd c
            await() {
                for try in $(seq 300); do if grep -q "$1" ../out ../err; then return; fi; sleep 0.05; done
                echo "no line: $1"; cat ../out ../err; exit 1
            }
            \(script)
            """
        let path = BuildDirectory.path + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? "")
        let outcome = try await container.start(
            "unshare", ["-Urm", "sh", "-c", whole, "sh", container.path], environment: ["PATH": path]
        ).finish(within: .seconds(60))
        #expect(outcome.status == 0, "\(outcome)", sourceLocation: location)
    }

    @Test func `a mount is compared and followed, and so is what it has hidden`() async throws {
        try await run(
            """
            echo 1 >m/old; await "created.m/old"
            mount -t tmpfs none m; await "removed.m/old"
            echo 1 >m/a; await "created.m/a"; mkdir m/d; echo 1 >m/d/b; await "created.m/d/b"
            umount m; await "removed.m/a"; echo 2 >m/c; await "created.m/c"; tac ../out | grep -m 1 m/old | grep created
            """)
    }

    @Test func `a directory that a mount shows is followed, and the mount's end is noticed`() async throws {
        try await run(
            """
            mkdir ../outside; echo 1 >../outside/x
            mount --bind ../outside m; await "created.m/x"
            echo 1 >../outside/y; await "created.m/y"
            umount -l m; await "removed.m/x"; echo 1 >m/z; await "created.m/z"
            """)
    }

    @Test func `a directory of the container that a mount shows twice is compared at its second place`() async throws {
        try await run(
            """
            mount --bind a m; await "created.m/f"; await "degraded.m"
            echo 1 >m/g; await "created.a/g"; await "created.m/g"
            umount m; await "removed.m/f"; echo 1 >m/z; await "created.m/z"; echo 1 >a/h; await "created.a/h"
            """)
    }

    @Test(arguments: ["--bind .", "--rbind .."]) func `the container is followed where a mount shows it in itself`(
        mount: String
    ) async throws {
        try await run(
            """
            mkdir m/z z; await "created.z"; mount \(mount) m; sleep 0.3
            echo 1 >n1; await "created.n1"; echo 1 >z/n2; await "created.z/n2"
            umount m; echo 1 >n3; await "created.n3"; echo 1 >m/n4; await "created.m/n4"
            """)
    }

    @Test func `a file system can be unmounted while its changes are followed`() async throws {
        try await run(
            """
            mount -t tmpfs none m; mkdir m/d; echo 1 >m/d/a; await "created.m/d/a"; echo 2 >>m/d/a; await "modified.m/d/a"
            for try in $(seq 100); do if umount m; then break; fi; sleep 0.05; done
            await "removed.m/d"
            """)
    }

    @Test func `a follower whose file system is unmounted says that, and not that its container was moved`()
        async throws
    {
        try await run(
            """
            kill $watcher; wait $watcher || true; mkdir ../disk; mount -t tmpfs none ../disk
            groupctl create ../disk/c/; watch-group --verbose ../disk/c/ >../out 2>../err & watcher=$!
            await "^watching"; umount -l ../disk; wait $watcher || true; grep "file system was unmounted" ../err
            """)
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/fuse"), "needs /dev/fuse"))
    func `a mount whose server is gone is a gap, and the other directories are followed`() async throws {
        try await run(
            """
            echo 1 >m/old; await "created.m/old"
            exec 3<>/dev/fuse
            mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none m; exec 3>&-
            await "degraded.m"; echo 1 >b; await "created.b"; echo 1 >a/g; await "created.a/g"
            if grep "removed.m" ../out; then exit 1; fi
            groupctl doctor ./ | grep "cannot be looked at\\|cannot be listed"
            groupctl list ./ | grep -q "^m"; groupctl changes ./ --since start | grep "created.a/g"
            umount m; echo 1 >m/c; await "created.m/c"; await "everything is watched again"
            """)
    }

    /// A program that mounts an empty directory at its argument, and serves it until it is killed. Its structs are those
    /// of linux/fuse.h.
    private static let server = """
        import ctypes, os, struct, sys
        device = os.open("/dev/fuse", os.O_RDWR)
        options = b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device
        if ctypes.CDLL(None).mount(b"none", os.fsencode(sys.argv[1]), b"fuse", 0, options) != 0: sys.exit("mount")
        attributes = struct.pack("<6Q10I", 1, *[0] * 8, 0o40755, 2, *[0] * 5)
        answers = {
            26: struct.pack("<4I2H2I2H8I", 7, 31, 0, 0, 0, 0, 4096, 1, *[0] * 10), 3: bytes(16) + attributes,
            27: bytes(16), 28: b"", 29: b"", 17: struct.pack("<5Q10I", *[0] * 5, 4096, 255, 4096, *[0] * 7),
        }
        while True:
            length, kind, number = struct.unpack("<IIQ", os.read(device, 1 << 17)[:16])
            if kind in (2, 42): continue
            answer = answers.get(kind, b"")
            error = 0 if kind in answers else -2 if kind == 1 else -38
            os.write(device, struct.pack("<IiQ", 16 + len(answer), error, number) + answer)
        """

    @Test(
        .enabled(if: FileManager.default.isWritableFile(atPath: "/dev/fuse"), "needs /dev/fuse"), .needs("python3"))
    func `a mount whose server ends while it is followed is a gap`() async throws {
        try await run(
            """
            cat >../server.py <<'END'
            \(Self.server)
            END
            echo 1 >m/old; await "created.m/old"
            python3 ../server.py m & server=$!
            await "removed.m/old"; ls m; echo 1 >b; await "created.b"
            kill -KILL $server; wait $server || true
            await "degraded.m"; echo 1 >a/g; await "created.a/g"
            umount m; echo 1 >m/c; await "created.m/c"; await "everything is watched again"
            """)
    }

    @Test(.enabled(if: FileManager.default.isWritableFile(atPath: "/dev/fuse"), "needs /dev/fuse"))
    func `commands pass by a mount whose server is gone`() async throws {
        try await run(
            """
            kill $watcher; wait $watcher || true
            exec 3<>/dev/fuse
            mount -i -t fuse -o fd=3,rootmode=40000,user_id=0,group_id=0 none m; exec 3>&-
            echo 1 >b; groupctl changes ./ --since start | grep "created.b"
            groupctl doctor ./ | grep "m: it cannot be listed"
            if groupctl copy -r ./ m n 2>error; then exit 1; fi; grep "copy 'm'" error
            """)
    }

}

/// Whether something can be mounted in a user namespace.
private let mayMount = succeeds(["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"])
