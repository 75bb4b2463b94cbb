#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupSystemCalls
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `What a .groupignore keeps out of the cluster` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    private func ignored(_ machine: MachineUnderTest) throws -> Int? {
        try machine.recorded().map { $0.ignored?.count ?? 0 }
    }

    /// Writes items on one machine, and waits until the other one has the last of them.
    private func write(_ items: String..., on machine: MachineUnderTest) throws {
        for item in items { try machine.write("of \(machine.host)", to: item) }
        let other = machine === a ? b : a
        #expect(eventually { items.last.map { other.tree[$0] != nil } == true })
        #expect(try eventually { try machine.isSettled(with: other) })
    }

    @Test func `new items that match stay on their machine, and those of other directories go on`() throws {
        try a.write("*.o\n!keep.o\nbuild/\n/top\n", to: ".groupignore")
        #expect(agree(a, b) { $0[".groupignore"]?.contains("build/") == true })
        try write("x.o", "d/x.o", "keep.o", "build/in/f", "top", "d/top", "d/build", "last", on: a)
        #expect(
            Set(b.tree.keys) == [".groupignore", "d", "keep.o", "d/top", "d/build", "last"], "\(b.tree.keys.sorted())")
        #expect(try eventually { try ignored(a) == 4 && ignored(b) == 0 })
        #expect(try (a.status()["unmirrored"] as? [Any])?.isEmpty == true)
        let text = try a.cluster("status", a.path).text
        #expect(text.contains("ignored    4 items, by .groupignore"), "\(text)")
        // The count is found again, and the other machine has the same patterns.
        try a.end()
        try a.start()
        #expect(try eventually { try ignored(a) == 4 })
        try write("y.o", "build/y", "last 2", on: b)
        #expect(a.tree["y.o"] == nil && a.tree["build/y"] == nil)
        // A directory has its own patterns, and one that is moved out of an ignored one has no ignored path any more.
        try a.write("*.txt\n!/z.o\n", to: "d/.groupignore")
        #expect(eventually { b.tree["d/.groupignore"] != nil })
        try write("d/e/n.txt", "d/z.o", "n.txt", on: a)
        #expect(b.tree["d/e/n.txt"] == nil && b.tree["d/e"] != nil && b.tree["d/z.o"] != nil)
        try FileManager.default.moveItem(atPath: "\(a.path)/build/in", toPath: "\(a.path)/out")
        #expect(eventually { b.tree["out/f"] != nil })
        try FileManager.default.removeItem(atPath: "\(a.path)/x.o")
        try FileManager.default.removeItem(atPath: "\(a.path)/build")
        #expect(try eventually { try ignored(a) == 3 })
    }

    @Test func `what is mirrored already stays so when a pattern for it comes, and is removed nowhere`() throws {
        try write("build/f", "g.o", on: a)
        try a.write("build/\n*.o\n", to: ".groupignore")
        #expect(eventually { b.tree[".groupignore"] != nil })
        try write("build/new", "last", on: b)
        #expect(a.tree["build/new"] == nil, "new items in the directory are ignored")
        try a.write("changed", to: "build/f")
        #expect(eventually { b.tree["build/f"]?.hasSuffix("changed") == true })
        try FileManager.default.moveItem(atPath: "\(b.path)/last", toPath: "\(b.path)/last.o")
        #expect(eventually { a.tree["last.o"] != nil && a.tree["last"] == nil })
        for machine in [a, b] {
            try machine.end()
            try machine.start()
        }
        // An editor that keeps the old file for a moment, and a compiler that makes a file anew.
        let manager = FileManager.default
        try manager.moveItem(atPath: "\(a.path)/g.o", toPath: "\(a.path)/g.o~")
        #expect(eventually { b.tree["g.o~"] != nil })
        try a.write("edited", to: "g.o")
        #expect(eventually { b.tree["g.o"]?.hasSuffix("edited") == true })
        try manager.removeItem(atPath: "\(a.path)/g.o~")
        #expect(eventually { b.tree["g.o~"] == nil && b.tree["g.o"] != nil })
        try manager.removeItem(atPath: "\(a.path)/g.o")
        #expect(eventually { b.tree["g.o"] == nil })
        try a.write("compiled", to: "g.o")
        #expect(eventually { b.tree["g.o"]?.hasSuffix("compiled") == true })
        // What two machines write at once gets a copy on both.
        try b.end()
        try b.write("of beta", to: "g.o")
        try a.write("of alpha", to: "g.o")
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        #expect(
            eventually {
                a.contents.isSuperset(of: ["of alpha", "of beta"])
                    && b.contents.isSuperset(of: ["of alpha", "of beta"])
            })
        #expect(try eventually { try !a.conflicts().isEmpty && !b.conflicts().isEmpty })
        try write("other", on: a)
        #expect(b.tree["g.o"] != nil && a.tree["g.o"] != nil)
        try FileManager.default.removeItem(atPath: "\(a.path)/g.o")
        #expect(eventually { b.tree["g.o"] == nil })
        // Without the pattern, what it has kept here is sent.
        try a.write("", to: ".groupignore")
        #expect(eventually { a.tree["build/new"] != nil })
        #expect(agree(a, b))
    }

    @Test(.tags(.ownEtcd)) func `a machine that has not seen the pattern yet sends what the other one ignores`() throws
    {
        try write("first", on: a)
        etcd.kill()
        #expect(try eventually { try a.recorded()?.isConnected == false })
        try a.write("*.o\n", to: ".groupignore")
        for item in ["equal.o", "other.o"] { try a.write("of alpha", to: item) }
        #expect(try eventually { try ignored(a) == 2 })
        try b.write("of alpha", to: "equal.o")
        try b.write("of beta", to: "other.o")
        try b.write("of beta", to: "new.o")
        #expect(try eventually { try b.recorded()?.toSend == 3 })
        try etcd.restart()
        // What is equal becomes one, and what differs stays on both: neither is renamed or replaced.
        #expect(eventually { a.tree["new.o"] != nil && b.tree[".groupignore"] != nil })
        #expect(
            try eventually {
                try (a.status()["unmirrored"] as? [[String: Any]])?.contains { $0["path"] as? String == "other.o" }
                    == true
            })
        #expect(a.tree["other.o"]?.hasSuffix("of alpha") == true && b.tree["other.o"]?.hasSuffix("of beta") == true)
        #expect(!a.tree.keys.contains { $0.contains("(conflict ") })
        #expect(try eventually { try ignored(a) == 1 && a.recorded()?.toApply == 1 })
        // Strict changes do not wait for it.
        #expect(try a.cluster("write", a.path, "strict", input: "1").status == 0)
        #expect(try a.cluster("read", a.path, "strict").text == "1")
        try b.write("changed", to: "equal.o")
        #expect(eventually { a.tree["equal.o"]?.hasSuffix("changed") == true })
        try FileManager.default.removeItem(atPath: "\(a.path)/other.o")
        #expect(agree(a, b) { $0["other.o"]?.hasSuffix("of beta") == true })
        #expect(try eventually { try ignored(a) == 0 && a.recorded()?.unmirrored.isEmpty == true })
    }

    @Test func `a .groupignore that cannot be used ignores nothing, and is named`() throws {
        let manager = FileManager.default
        func fault(_ machine: MachineUnderTest) throws -> String? {
            try machine.recorded()?.ignored?.faults.first?.reason
        }
        let outside = "\(a.temporary.directory)/patterns"
        try Data("*.o\n".utf8).write(to: URL(fileURLWithPath: outside))
        try manager.createSymbolicLink(atPath: "\(a.path)/.groupignore", withDestinationPath: outside)
        try write("a.o", on: a)
        #expect(try eventually { try fault(a)?.contains("symbolic link") == true })
        #expect(b.tree[".groupignore"] == "to \(outside)")
        try manager.removeItem(atPath: "\(a.path)/.groupignore")
        #expect(eventually { b.tree[".groupignore"] == nil })
        #expect(try RunningProcess(["mkfifo", "\(a.path)/.groupignore"], input: "").finish().status == 0)
        try write("b.o", on: a)
        #expect(try eventually { try fault(a) == "it is not a file" })
        try manager.removeItem(atPath: "\(a.path)/.groupignore")
        // Bytes that are no text, and more than is used.
        let bytes = Data([0xff, 0x2a, 0x0a, 0x5b, 0x0a, 0x00, 0x0a] + Array("*.o\n".utf8))
        try (bytes + Data(repeating: 0x23, count: 3 << 20)).write(to: URL(fileURLWithPath: outside))
        try manager.moveItem(atPath: outside, toPath: "\(a.path)/.groupignore")
        #expect(eventually { (manager.contents(atPath: "\(b.path)/.groupignore")?.count ?? 0) > 3 << 20 })
        try write("c.o", "last", on: b)
        #expect(a.tree["c.o"] == nil)
        #expect(try eventually { try fault(b)?.contains("larger than 64 KiB") == true })
        #expect(try b.cluster("status", b.path).text.contains("not all of .groupignore is used: it is larger than"))
        try manager.removeItem(atPath: "\(b.path)/.groupignore")
        #expect(agree(a, b) { $0["c.o"] != nil && $0[".groupignore"] == nil })
        #expect(try eventually { try fault(b) == nil })
    }

    @Test func `an ignored item that a strict change concerns is mirrored from then on`() throws {
        try a.write("*.o\nbuild/\n", to: ".groupignore")
        #expect(eventually { b.tree[".groupignore"] != nil })
        for item in ["x.o", "y.o", "build/in/z", "build/other"] { try a.write("old", to: item) }
        #expect(try eventually { try ignored(a) == 3 })
        for item in ["x.o", "new.o", "build/in/z"] {
            let (status, text) = try a.cluster("write", a.path, item, input: "strict")
            #expect(status == 0, "\(item): \(text)")
            #expect(eventually { b.tree[item]?.hasSuffix("strict") == true })
        }
        #expect(try a.cluster("move", a.path, "y.o", "y").status == 0)
        #expect(eventually { b.tree["y"]?.hasSuffix("old") == true })
        try write("last", on: a)
        #expect(b.tree["y.o"] == nil && b.tree["build/other"] == nil && a.tree["build/other"] != nil)
        #expect(try eventually { try ignored(a) == 1 })
    }

    @Test func `a machine that joins anew takes over what is equal, though it is ignored`() throws {
        try write("f.o", on: a)
        try a.write("*.o\n", to: ".groupignore")
        #expect(agree(a, b) { $0[".groupignore"] != nil })
        #expect(try eventually { try b.isSettled(with: a) })
        try b.end()
        #expect(try b.cluster("leave", b.path).status == 0)
        try b.start()
        #expect(try eventually { try b.isSettled(with: a) && ignored(b) == 0 })
        try b.write("changed", to: "f.o")
        #expect(agree(a, b) { $0["f.o"]?.hasSuffix("changed") == true && $0.count == 2 })
    }
}
#endif
