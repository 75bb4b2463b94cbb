import TestSupport
import Testing

/// Items on another file system than `.group`, in a mount namespace of its own.
@Suite(
    .enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"),
    .tags(.process, .root))
struct `An item on another file system` {
    /// Runs a shell script, with or without a container; `disk` is the directory of the file system.
    private func run(_ kind: SmallFileSystem.Kind, _ script: String) async throws -> RunningProcess.Outcome {
        try await SmallFileSystem(kind).shell(script)
    }

    private static let cause = "another file system than the container's own files"

    @Test(arguments: [
        ("write", "echo x | groupctl write ./disk/c m/new"), ("replace", "echo x | groupctl write ./disk/c m/f"),
        ("mkdir", "groupctl mkdir ./disk/c m/new"), ("copy", "groupctl copy ./disk/c g m/g"),
    ]) func `an item on another file system cannot be created or replaced, and the error has the reason`(
        name: String, call: String
    ) async throws {
        let outcome = try await run(
            .memory,
            """
            groupctl create ./disk/c; cd disk/c; mkdir m; : > g; mount -t tmpfs none m; : > m/f; cd ../..
            \(call); echo $?; groupctl read ./disk/c m/f; echo $?; ls disk/c/m disk/c/.group/staging
            """)
        #expect(outcome.lines == ["69", "0", "disk/c/.group/staging:", "", "disk/c/m:", "f"], "\(outcome)")
        #expect(outcome.errors.contains(Self.cause) && outcome.errors.contains("without coordination"), "\(outcome)")
        #expect(!outcome.errors.contains("link"), "\(outcome)")
    }

    @Test func `an item on another file system cannot be moved or removed, and the error has advice`() async throws {
        let outcome = try await run(
            .memory,
            """
            groupctl create ./disk/c; cd disk/c; mkdir m; mount -t tmpfs none m; echo 1 > m/f; mkdir m/d; cd ../..
            for call in "remove ./disk/c m/f" "remove -r ./disk/c m/d"; do groupctl $call; echo $?; done
            groupctl move ./disk/c m/f f; echo $?
            groupctl copy ./disk/c m/f f && rm disk/c/m/f && groupctl changes ./disk/c --since start
            groupctl move ./disk/c m n; echo $?; groupctl remove -r ./disk/c m; echo $?
            groupctl delete-group ./disk/c --yes; echo $?
            """)
        #expect(outcome.lines.prefix(3) == ["69", "69", "69"], "\(outcome)")
        #expect(outcome.lines.suffix(3) == ["69", "69", "69"], "\(outcome)")
        let errors = outcome.errors.split(separator: "\n")
        #expect(errors.count == 6 && errors.prefix(3).allSatisfy { $0.contains(Self.cause) }, "\(outcome)")
        #expect(errors.prefix(2).allSatisfy { $0.contains("remove it with rm") }, "\(outcome)")
        #expect(errors.dropFirst(2).first?.contains("a copy and a removal are two changes") == true, "\(outcome)")
        let mounted = "in './disk/c': a file system is mounted there; unmount it first"
        #expect(
            errors.dropFirst(3).prefix(2) == [
                "groupctl: cannot move 'm' \(mounted)", "groupctl: cannot remove 'm' \(mounted)",
            ], "\(outcome)")
        #expect(errors.last?.contains("cannot delete 'm'") == true, "\(outcome)")
    }

    @Test func `a directory with a mount below is neither moved nor removed, and the error names the mount`()
        async throws
    {
        let outcome = try await run(
            .memory,
            """
            groupctl create ./disk/c; cd disk/c; mkdir -p d/m e; : > d/f; : > g; : > h; : > old; cd ../..
            mount -t tmpfs none disk/c/d/m; : > disk/c/d/m/x; mount --bind disk/c/h disk/c/d/f
            mount --bind disk/c/h disk/c/old; mount -t tmpfs none disk/c/e
            groupctl remove -r ./disk/c d; echo $?
            groupctl move ./disk/c d new/d; echo $?
            groupctl move ./disk/c g old; echo $?
            serve() { echo '{"id":1,"do":"transaction","changes":['"$1"']}' | groupctl serve ./disk/c; }
            serve '{"do":"remove","path":"d","recursively":true}'
            serve '{"do":"move","path":"d","to":"n"}'
            serve '{"do":"write","path":"new/file","text":"a"},{"do":"write","path":"old","text":"b"}'
            umount disk/c/d/f; groupctl remove -r ./disk/c d; echo $?
            groupctl copy -r ./disk/c d copy && groupctl move ./disk/c copy e; echo $?
            find disk/c/d disk/c/new disk/c/copy disk/c/.group/staging | LC_ALL=C sort
            umount disk/c/d/m; groupctl remove -r ./disk/c d; echo $?; ls disk/c/.group/staging
            """)
        let answers = outcome.lines.filter { $0.hasPrefix(#"{"id""#) }
        let mounted = "a file system is mounted"
        #expect(answers.count == 3 && answers.allSatisfy { $0.contains(mounted) }, "\(outcome)")
        #expect(
            outcome.lines.filter { !$0.hasPrefix("{") } == [
                "69", "69", "69", "69", "69", "disk/c/.group/staging", "disk/c/copy", "disk/c/copy/f", "disk/c/copy/m",
                "disk/c/copy/m/x", "disk/c/d", "disk/c/d/f", "disk/c/d/m", "disk/c/d/m/x", "0",
            ], "\(outcome)")
        #expect(
            outcome.errors.split(separator: "\n").filter { !$0.hasPrefix("find:") } == [
                "groupctl: cannot remove 'd' in './disk/c': \(mounted) in the directory, at 'd/f'; unmount it first",
                "groupctl: cannot move 'd' in './disk/c': \(mounted) in the directory, at 'd/f'; unmount it first",
                "groupctl: cannot move 'old' in './disk/c': \(mounted) there; unmount it first",
                "groupctl: cannot remove 'd' in './disk/c': \(mounted) in the directory, at 'd/m'; unmount it first",
                "groupctl: cannot move 'e' in './disk/c': \(mounted) there; unmount it first",
            ], "\(outcome)")
    }

    @Test func `an item of an overlay's lower layer is distinguished from an escape`() async throws {
        let outcome = try await run(
            .memory,
            """
            cd disk; mkdir lower upper work c; mkdir -p lower/d/e; echo 1 > lower/d/f
            mount -t overlay -o lowerdir=lower,upperdir=upper,workdir=work,redirect_dir=off none c || exit 9
            cd ..; groupctl create --adopt ./disk/c 2>/dev/null
            echo 2 | groupctl write ./disk/c d/f; echo $?
            groupctl move ./disk/c d n; echo $?; groupctl remove -r ./disk/c d/e; echo $?
            groupctl copy -r ./disk/c d n && rm -r disk/c/d; echo $?; groupctl read ./disk/c n/f
            """)
        #expect(outcome.lines == ["0", "69", "69", "0", "2"], "\(outcome)")
        let errors = outcome.errors.split(separator: "\n")
        #expect(errors.count == 2 && errors.allSatisfy { $0.contains("a lower layer of an overlay") }, "\(outcome)")
    }

    @Test(.enabled(if: succeeds(["mkfs.btrfs", "--version"]), "needs mkfs.btrfs(8)"))
    func `an item of a btrfs subvolume is distinguished from an escape`() async throws {
        let outcome = try await run(
            .memory,
            """
            umount disk; truncate -s 128M image; mkfs.btrfs -q image > mkfs && mount -o loop image disk || exit 9
            groupctl create ./disk/c; btrfs -q subvolume create disk/c/s || exit 9; echo 1 > disk/c/s/f
            groupctl remove ./disk/c s/f; echo $?; echo 2 | groupctl write ./disk/c s/f; echo $?
            groupctl move ./disk/c s/f f; echo $?; groupctl read ./disk/c s/f; umount disk
            """)
        #expect(outcome.lines == ["69", "69", "69", "1"], "\(outcome)")
        let errors = outcome.errors.split(separator: "\n")
        #expect(errors.count == 3 && errors.allSatisfy { $0.contains("a btrfs subvolume") }, "\(outcome)")
    }
}

@Suite(.enabled(if: Strace.isThere, "needs strace"), .tags(.process, .root))
struct `A system call filter without openat2` {
    @Test(arguments: [
        ("EPERM", "a filter (seccomp) does not permit the system call openat2"),
        ("ENOSYS", "there is no system call openat2"),
    ]) func `every command reports that openat2 is filtered`(error: String, sentence: String) async throws {
        let container = try TemporaryContainer()
        for words in [
            ["list", container.path], ["write", container.path, "f"], ["create", container.path + "2"],
            ["doctor", container.path], ["list"], ["delete-group", container.path],
        ] {
            let trace = ["-f", "-qq", "-o", "/dev/null", "-e", "trace=openat2", "-e", "inject=openat2:error=\(error)"]
            let outcome = try await container.start("strace", trace + [BuildDirectory.resolve("groupctl")] + words)
                .finish()
            #expect(outcome.status == (words[0] == "doctor" ? 1 : 77), "\(words) \(outcome)")
            #expect((outcome.errors + outcome.text).contains(sentence), "\(words) \(outcome)")
        }
        let other = try await container.shell("groupctl list /proc/1/root/root/nowhere")
        #expect(!other.errors.contains("openat2"), "\(other)")
    }
}
