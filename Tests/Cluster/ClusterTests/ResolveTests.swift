#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Conflicts that a person resolves` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    /// Makes a conflict, in which the item has the content of alpha, and returns the name of the copy.
    private func conflict(_ item: String) throws -> String {
        try a.write("base", to: item)
        #expect(agree(a, b) { $0[item] != nil })
        let before = a.tree.count
        #expect(try eventually { try b.isSettled(with: a) })
        try b.end()
        try b.write("of beta", to: item)
        try a.write("of alpha", to: item)
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        #expect(agree(a, b) { $0.count == before + 1 })
        #expect(try eventually { try a.isSettled(with: b) })
        let stem = (item as NSString).deletingPathExtension
        return try #require(a.tree.keys.first { $0.hasPrefix("\(stem) (conflict ") })
    }

    /// Returns whether both machines have this content in an item, and no copy.
    private func isResolved(_ item: String, _ content: String) -> Bool {
        agree(a, b) { tree in
            tree[item]?.hasSuffix(" \(content)") == true && !tree.keys.contains { $0.contains("(conflict ") }
        }
    }

    @Test func `mine is what this machine has written, and theirs what the other one has`() throws {
        for (number, (machine, keep, content)) in [
            (a, "mine", "of alpha"), (b, "mine", "of beta"), (a, "theirs", "of beta"), (b, "theirs", "of alpha"),
        ].enumerated() {
            let item = "list \(number).txt"
            let copy = try conflict(item)
            // Without --keep, nothing is changed.
            let listed = try machine.cluster("resolve", machine.path, item)
            #expect(listed.status == 0 && listed.text.contains("item  '\(item)': "), "\(listed)")
            #expect(listed.text.contains("copy  '\(copy)': ") && listed.text.contains("7 bytes"), "\(listed)")
            #expect(listed.text.contains(machine.host == "alpha" ? "written on beta" : "written on alpha"), "\(listed)")
            let named = number % 2 == 0 ? item : copy
            let result = try machine.cluster("resolve", machine.path, named, "--keep", keep)
            #expect(result.status == 0, "\(result)")
            #expect(isResolved(item, content))
            #expect(try eventually { try a.conflicts().isEmpty && b.conflicts().isEmpty })
        }
    }

    @Test func `item and copy are kept by their places, and the other content is gone from both machines`() throws {
        _ = try conflict("d/list")
        #expect(try b.cluster("resolve", b.path, "d/list", "--keep", "item").status == 0)
        #expect(isResolved("d/list", "of alpha"))
        let copy = try conflict("other")
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(a.path)/\(copy)")
        #expect(agree(a, b) { $0[copy] == "384 of beta" })
        #expect(try eventually { try a.isSettled(with: b) })
        let result = try a.cluster("resolve", a.path, copy, "--keep", "copy", "--json")
        #expect(result.status == 0 && result.text.contains(#""kept":"copy""#), "\(result)")
        #expect(isResolved("other", "of beta"))
        #expect(a.tree["other"] == "384 of beta", "the copy's permissions go with its content")
    }

    @Test(.tags(.ownEtcd)) func `a machine that joins later prints no line about a conflict that was resolved`() throws
    {
        // Both entries are sent, and the log's order decides which of them is the conflict.
        func conflict(_ item: String) throws -> String {
            try a.write("base", to: item)
            #expect(agree(a, b) { $0[item] != nil })
            #expect(try eventually { try a.isSettled(with: b) })
            etcd.stop()
            try a.write("of alpha", to: item)
            try b.write("of beta", to: item)
            etcd.resume()
            let mark = "\(item) (conflict "
            #expect(agree(a, b) { $0.keys.contains { $0.hasPrefix(mark) } })
            #expect(try eventually { try a.isSettled(with: b) })
            return try #require(a.tree.keys.first { $0.hasPrefix(mark) })
        }
        let copy = try conflict("f")
        #expect(try a.cluster("remove", a.path, copy).status == 0)
        #expect(agree(a, b) { $0[copy] == nil })
        let left = try conflict("g")
        let late = try MachineUnderTest("late", etcd: etcd.endpoints, name: a.name)
        try late.start()
        #expect(agree(a, late) { $0[left] != nil })
        #expect(try eventually { try late.conflicts() == [left] })
        try late.waitForText("conflict: '\(left)'")
        let text = try late.endedText()
        #expect(!text.contains(copy), "\(text)")
    }

    @Test func `contents that were both written on one machine are told apart by their places only`() throws {
        let copy = try conflict("f")
        try a.write("of alpha, too", to: copy)
        #expect(agree(a, b) { $0[copy]?.hasSuffix("too") == true })
        #expect(try eventually { try a.isSettled(with: b) })
        for (machine, whose) in [(a, "both contents were written on this machine"), (b, "on other machines")] {
            let (status, text) = try machine.cluster("resolve", machine.path, "f", "--keep", "mine")
            #expect(status == 64 && text.contains(whose) && text.contains("13 bytes"), "\(text)")
            #expect(text.contains("state --keep item or --keep copy"))
        }
        // A content of a local process is this machine's, also where the process states a purpose.
        #expect(try b.groupctl("write", b.path, "f", input: "of beta, again").status == 0)
        #expect(agree(a, b) { $0["f"]?.hasSuffix("again") == true })
        #expect(try eventually { try a.isSettled(with: b) })
        #expect(try b.cluster("resolve", b.path, "f", "--keep", "mine").status == 0)
        #expect(isResolved("f", "of beta, again"))
    }

    @Test func `an item with several copies is resolved copy by copy`() throws {
        let first = try conflict("f")
        try b.end()
        try b.write("of beta, later", to: "f")
        try a.write("of alpha, later", to: "f")
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        #expect(agree(a, b) { $0.count == 3 })
        let second = try #require(a.tree.keys.first { $0.contains("(conflict ") && $0 != first })
        let (status, text) = try a.cluster("resolve", a.path, "f", "--keep", "mine")
        #expect(status == 64 && text.contains("'\(first)'") && text.contains("'\(second)'"), "\(text)")
        for copy in [first, second] {
            #expect(try a.cluster("resolve", a.path, copy, "--keep", "mine").status == 0)
        }
        #expect(isResolved("f", "of alpha, later"))
        let none = try a.cluster("resolve", a.path, "f", "--keep", "mine")
        #expect(none.status == 66 && none.text.contains("there is no conflict copy"), "\(none)")
    }

    @Test func `COMMAND merges both contents, and changes nothing where it fails`() throws {
        let copy = try conflict("f.txt")
        let before = a.tree
        func merge(_ words: String...) throws -> (status: Int32, text: String) {
            try RunningProcess(
                ["group-cluster", "resolve", a.path, "f.txt", "--keep", "merge"] + words, input: ""
            ).finish()
        }
        #expect(try merge().status == 64)
        #expect(try merge("--", "sh", "-c", "cat \"$@\"; exit 3", "sh").status == 3)
        #expect(try merge("--", "./there-is-no-such-command").status == 127)
        let empty = try merge("--", "true")
        #expect(empty.status == 65 && empty.text.contains("--allow-empty"), "\(empty)")
        let unwritten = try merge("--", "test", "-n", "{result}")
        #expect(unwritten.status == 65, "\(unwritten)")
        let large = try merge("--", "truncate", "-s", "257M", "{result}")
        #expect(large.status == 1 && large.text.contains("the result has more than 268435456 bytes"), "\(large)")
        #expect(a.tree == before && b.tree == before)
        #expect(try eventually { try a.conflicts() == [copy] })
        let merged = try merge("--", "sh", "-c", #"case $1 in *.txt) cat "$2" "$1";; esac"#, "sh")
        #expect(merged.status == 0, "\(merged)")
        #expect(isResolved("f.txt", "of betaof alpha"))
        _ = try conflict("g")
        let named = try RunningProcess(
            [
                "group-cluster", "resolve", b.path, "g", "--keep", "merge", "--", "sh", "-c",
                #"cat "$1" "$2" >"$3""#, "sh", "{mine}", "{theirs}", "{result}",
            ], input: ""
        ).finish()
        #expect(named.status == 0, "\(named)")
        #expect(isResolved("g", "of betaof alpha"))
        #expect(try eventually { try a.conflicts().isEmpty && b.conflicts().isEmpty })
    }

    @Test(arguments: [true, false])
    func `what another machine writes meanwhile is a conflict, and is not lost`(isCopy: Bool) throws {
        let copy = try conflict("f")
        let changed = isCopy ? copy : "f"
        let script = #"printf late | group-cluster write "$1" "$2" >&2 && cat "$3" "$4""#
        let path = "\(BuildDirectory.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let (status, text) = try RunningProcess(
            [
                "group-cluster", "resolve", a.path, "f", "--keep", "merge", "--", "sh", "-c", script, "sh", b.path,
                changed,
            ], input: "", environment: ["PATH": path]
        ).finish()
        #expect(status == 4, "\(text)")
        #expect(agree(a, b) { $0[changed]?.hasSuffix(" late") == true && $0.count == 2 })
        #expect(try eventually { try a.conflicts() == [copy] && b.conflicts() == [copy] })
    }
}
#endif
