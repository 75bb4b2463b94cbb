import Foundation
import TestSupport
import Testing

@Suite(
    .enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"),
    .tags(.process, .root))
struct `A full disk` {
    /// Each line of the result is a word and a command's message or status.
    private func run(_ script: String, on disk: SmallFileSystem.Kind) async throws -> [String: String] {
        let whole = """
            note() { name=$1; shift; "$@" >out 2>err; echo "$name=$?"; }
            big() { head -c 1500000 /dev/zero | tr '\\0' "$1"; }
            \(script)
            """
        let outcome = try await SmallFileSystem(disk).shell(whole)
        #expect(outcome.status == 0, "\(outcome)")
        return Dictionary(
            outcome.lines.map { line in
                let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), String(parts.last ?? ""))
            }, uniquingKeysWith: { $1 })
    }

    @Test(arguments: SmallFileSystem.Kind.allCases)
    func `a disk is not filled if the small file system is not mounted in its place`(disk: SmallFileSystem.Kind)
        async throws
    {
        let outcome = try await SmallFileSystem(disk).shell("umount disk && fill; echo filled")
        #expect(outcome.status == 99 && outcome.lines == [] && outcome.errors.contains("is not the small file system"))
    }

    @Test func `doctor finds a full disk`() async throws {
        let answers = try await run(
            """
            note create groupctl create disk/c --journal-size 4M
            note well groupctl doctor disk/c
            fill
            note full groupctl doctor disk/c
            echo "found=$(grep -c 'are free; the journal needs ' out)"
            make_room
            note again groupctl doctor disk/c
            """, on: .memory)
        #expect(answers == ["create": "0", "well": "0", "full": "1", "found": "1", "again": "0"], "\(answers)")
    }

    @Test func `a file system without inodes is not called one without space`() async throws {
        let answers = try await run(
            """
            umount disk; mount -t tmpfs -o nr_inodes=100,size=64m none disk
            note create groupctl create disk/c --journal-size 4M
            test "$(stat -f -c %c disk)" = 100 || exit 99
            for n in $(seq 100); do touch "disk/f$n" || break; done 2>/dev/null
            echo x | note refused groupctl write disk/c item
            echo "message=$(grep -c 'no inode is left' err)"
            note doctor groupctl doctor disk/c
            echo "found=$(grep -c 'no inode is left' out)"
            note other groupctl create disk/d
            echo "reason=$(grep -c 'no inode is left' err)"
            rm disk/f*
            echo x | note again groupctl write disk/c item
            note well groupctl doctor disk/c
            """, on: .memory)
        let expected = [
            "create": "0", "refused": "74", "message": "1", "doctor": "1", "found": "1", "other": "74", "reason": "1",
            "again": "0", "well": "0",
        ]
        #expect(answers == expected, "\(answers)")
    }

    // fault: disk-full
    @Test(arguments: SmallFileSystem.Kind.allCases)
    func `a full disk refuses a write before any change, and space makes writes possible again`(
        disk: SmallFileSystem.Kind
    )
        async throws
    {
        let answers = try await run(
            """
            note create groupctl create disk/c
            big a | note first groupctl write disk/c item
            fill
            big b | note refused groupctl write disk/c item
            echo "message=$(cat err)"
            big b | note refusedJSON groupctl write disk/c item --json
            echo "json=$(cat err)"
            big b | note new groupctl write disk/c directory/new
            note update groupctl update disk/c item -- tr a b
            echo "old=$(tr -d a <disk/c/item | wc -c) $(wc -c <disk/c/item)"
            echo "staging=$(ls disk/c/.group/staging)"
            echo "list=$(groupctl list disk/c | tr '\\n' ' ')"
            echo "changes=$(groupctl changes disk/c --since start | tr '\\t\\n' '  ')"
            note status groupctl status disk/c
            make_room
            big b | note again groupctl write disk/c item
            note newAgain groupctl write disk/c directory/new </dev/null
            echo "after=$(groupctl changes disk/c --since start | tr '\\t\\n' '  ')"
            """, on: disk)
        #expect(answers["create"] == "0" && answers["first"] == "0", "\(answers)")
        for call in ["refused", "refusedJSON", "new", "update"] { #expect(answers[call] == "74", "\(call) \(answers)") }
        let message = answers["message"] ?? ""
        #expect(
            message.contains("cannot write 'item' in 'disk/c': No space left on device; nothing was changed"),
            "\(message)")
        let error = try JSONDecoder().decode(JSONError.self, from: Data((answers["json"] ?? "").utf8))
        #expect(error.code == "noSpace" && error.item == "item" && error.operation == "write")
        #expect(answers["old"] == "0 1500000")
        #expect(answers["staging"] == "")
        #expect(answers["status"] == "0")
        #expect(answers["again"] == "0" && answers["newAgain"] == "0", "\(answers)")
        // The parent directory may have been created before the disk was full.
        let made = answers["changes"]?.contains("directory") == true ? "created directory " : ""
        #expect(answers["list"] == (made.isEmpty ? "item " : "directory/ item "))
        #expect(answers["changes"] == "created item " + made)
        let directory =
            made.isEmpty
            ? "modified item created directory created directory/new " : "modified item created directory/new "
        #expect(answers["after"] == "created item \(made)\(directory)")
    }

    // fault: disk-full
    @Test(arguments: SmallFileSystem.Kind.allCases)
    func `a removal frees space on a full disk, also several at once`(
        disk: SmallFileSystem.Kind
    ) async throws {
        let answers = try await run(
            """
            note create groupctl create disk/c --journal-size 4M
            big a | note first groupctl write disk/c item
            big a | head -c 300000 | note tree groupctl write disk/c tree/a/x
            for i in 1 2 3 4 5 6 7 8; do groupctl write disk/c empty$i </dev/null; done
            fill
            big b | note refused groupctl write disk/c item
            for i in 1 2 3 4 5 6 7 8; do
              { groupctl remove disk/c empty$i 2>error$i; echo $? >status$i; } &
            done
            wait
            echo "empty=$(cat status? | tr '\n' ' ')$(cat error?)"
            note directory groupctl remove disk/c tree -r
            echo "message=$(cat err)"
            note item groupctl remove disk/c item
            big b | note again groupctl write disk/c item
            echo "list=$(groupctl list disk/c | tr '\n' ' ')"
            echo "removed=$(groupctl changes disk/c --since start | grep -c '^removed')"
            echo "reserve=$(stat -c '%s %b' disk/c/.group/reserve)"
            echo "staging=$(ls disk/c/.group/staging)"
            head -c 99999999 /dev/zero >disk/more
            note delete groupctl delete-group disk/c --yes
            """, on: disk)
        #expect(answers["create"] == "0" && answers["first"] == "0" && answers["tree"] == "0", "\(answers)")
        #expect(answers["refused"] == "74", "\(answers)")
        #expect(answers["empty"] == String(repeating: "0 ", count: 8), "\(answers)")
        for call in ["directory", "item", "again", "delete"] { #expect(answers[call] == "0", "\(call) \(answers)") }
        #expect(answers["list"] == "item " && answers["removed"] == "10", "\(answers)")
        #expect(answers["reserve"]?.hasPrefix("16384 ") == true && answers["staging"] == "", "\(answers)")
    }

    // fault: disk-full
    @Test(.enabled(if: Strace.isThere, "needs strace"), arguments: SmallFileSystem.Kind.allCases)
    func `a removal frees space on a full disk after another removal was killed`(disk: SmallFileSystem.Kind)
        async throws
    {
        let answers = try await run(
            """
            groupctl create disk/c --journal-size 4M
            for i in 1 2 3 4 5 6; do groupctl write disk/c empty$i </dev/null; done
            # A member has it open all the time: no process opens it alone.
            mkfifo input held
            groupctl lock disk/c held -- sh -c 'echo held; read line' <input >held & holder=$!
            exec 3>input; read line <held
            fill
            number=0
            for place in renameat:1 renameat2:1 renameat2:2; do
              number=$((number + 1))
              strace -f -o trace -e inject=${place%:*}:signal=KILL:when=${place#*:} \\
                groupctl remove disk/c empty$number 2>err
              echo "killed$number=$(grep -c 'killed by SIGKILL' trace)"
              note next$number groupctl remove disk/c empty$((number + 3))
            done
            echo "reserve=$(stat -c %s disk/c/.group/reserve)"
            echo >&3; wait $holder
            """, on: disk)
        for number in 1...3 {
            #expect(answers["killed\(number)"].flatMap(Int.init) ?? 0 > 0, "\(answers)")
            #expect(answers["next\(number)"] == "0", "\(answers)")
        }
        #expect(answers["reserve"] == "16384", "\(answers)")
    }

    @Test(arguments: SmallFileSystem.Kind.allCases)
    func `create on a full disk fails and leaves nothing that looks like a container`(disk: SmallFileSystem.Kind)
        async throws
    {
        let answers = try await run(
            """
            fill
            note create groupctl create disk/c
            echo "message=$(cat err)"
            note open groupctl list disk/c
            make_room
            note again groupctl create disk/c
            note write groupctl write disk/c item </dev/null
            """, on: disk)
        #expect(answers["create"] == "74", "\(answers)")
        #expect(answers["message"]?.contains("No space left on device") == true, "\(answers)")
        #expect(answers["open"] == "66", "\(answers)")
        #expect(answers["again"] == "0" && answers["write"] == "0", "\(answers)")
    }

    // fault: read-only
    @Test func `a container on a read-only disk is read, and writes are refused`() async throws {
        let answers = try await run(
            """
            groupctl create disk/c && echo content | groupctl write disk/c item
            mount -o remount,ro disk
            note read groupctl read disk/c item
            echo "readMessage=$(cat err)"
            note list groupctl list disk/c
            note write groupctl write disk/c item </dev/null
            echo "writeMessage=$(cat err)"
            """, on: .memory)
        #expect(answers["read"] == "0" && answers["list"] == "0", "\(answers)")
        #expect(answers["write"] == "77", "\(answers)")
        #expect(answers["writeMessage"]?.contains("the file system is mounted read-only") == true, "\(answers)")
    }
}
