#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// What a machine cannot have, or cannot send, keeps nothing else from it, and removes nothing elsewhere.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .root, .namespaces, .etcd))
struct `What is in no cluster` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    private func isNamed(_ path: String, by machine: MachineUnderTest) throws -> Bool {
        try (machine.status()["unmirrored"] as? [[String: Any]])?.contains { $0["path"] as? String == path } == true
    }

    private func suites(_ name: String = "s") throws -> [GroupDefaults] {
        try [a, b].map { try GroupDefaults($0.temporary.open(), suite: name) }
    }

    @Test func `a FIFO in the way of an item keeps only that item away`() throws {
        let suites = try suites()
        for path in ["f", "d"] {
            #expect(try RunningProcess(["mkfifo", "\(b.path)/\(path)"], input: "").finish().status == 0)
            #expect(try eventually { try isNamed(path, by: b) })
        }
        try a.write("1", to: "f")
        try a.write("2", to: "d/below")
        try a.write("3", to: "free")
        #expect(eventually { b.tree["free"] != nil })
        try suites[0].set("v", forKey: "k")
        #expect(eventually { suites[1].value(forKey: "k") == .string("v") })
        #expect(try b.cluster("update", b.path, "free", "--locked", "--", "cat").status == 0)
        for path in ["f", "d"] { try FileManager.default.removeItem(atPath: "\(b.path)/\(path)") }
        #expect(agree(a, b) { $0.count == 4 })
    }

    @Test func `a file that becomes too large is withdrawn, named on all machines, and comes when it is smaller`()
        throws
    {
        try a.write("small", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        let file = try #require(FileHandle(forWritingAtPath: "\(a.path)/f"))
        try file.truncate(atOffset: 65 << 20)
        #expect(try eventually { try isNamed("f", by: a) })
        // Looking at the whole tree would read the large file each time.
        let manager = FileManager.default
        #expect(eventually { !manager.fileExists(atPath: "\(b.path)/f") }, "not the content of before")
        #expect(try a.recorded()?.withheld == nil)
        try a.write("after", to: "g")
        #expect(eventually { b.tree["g"] != nil })
        #expect(
            try eventually {
                try b.recorded()?.machines?.first?.unmirrored?.first == ["f: it is larger than 64 MiB"]
            })
        let (_, text) = try b.cluster("status", b.path)
        #expect(text.contains("alpha only: f: it is larger than 64 MiB"), "\(text)")
        #expect(try b.findings().contains("clusterOnlyElsewhere"))
        // Another machine makes a file of that name.
        try b.write("of beta", to: "f")
        #expect(try eventually { try a.recorded()?.toApply == 1 && isNamed("f", by: a) })
        try file.truncate(atOffset: 3)
        #expect(agree(a, b) { $0.count == 3 && $0.values.contains { $0.hasSuffix("sma") } })
        #expect(manager.contents(atPath: "\(a.path)/f") == Data("of beta".utf8))
        #expect(try eventually { try b.recorded()?.machines?.first?.unmirrored == nil })
    }

    @Test func `what is in a directory that becomes a container stays on the others`() throws {
        try a.write("1", to: "d/f")
        #expect(agree(a, b) { $0.count == 2 })
        a.stop()
        #expect(try RunningProcess(["groupctl", "create", "--adopt", "\(a.path)/d"], input: "").finish().status == 0)
        let later = Date(timeIntervalSinceNow: 5)
        try FileManager.default.setAttributes([.modificationDate: later], ofItemAtPath: "\(a.path)/d")
        a.resume()
        try a.end()
        try a.start()
        try a.write("2", to: "free")
        #expect(eventually { b.tree["free"] != nil })
        #expect(b.tree["d/f"]?.hasSuffix("1") == true)
    }

    @Test(
        .enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"),
        arguments: ["-t tmpfs -o size=1m none", "--bind \"$0-other\""])
    func `what is mounted over items hides them, and removes them nowhere`(mount: String) throws {
        try FileManager.default.createDirectory(atPath: b.path + "-other", withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: b.path + "-other") }
        try a.write("1", to: "d/f")
        try a.write("deep", to: "d/e/f")
        #expect(agree(a, b) { $0.count == 4 })
        try b.end()
        // The program of this machine runs where the file system is mounted.
        let script = """
            mount \(mount) "$0/d" && echo mounted && exec "$1" join "$0/"
            """
        let program = try RunningProcess(
            ["unshare", "-m", "sh", "-c", script, b.path, BuildDirectory.resolve("group-cluster")], input: "")
        try program.waitForText { $0.contains("connected at index") }
        try a.write("2", to: "d/f")
        try a.write("3", to: "d/g")
        try FileManager.default.moveItem(atPath: "\(a.path)/d/e/f", toPath: "\(a.path)/moved")
        try a.write("4", to: "free")
        #expect(eventually { b.tree["free"] != nil })
        try FileManager.default.removeItem(atPath: "\(a.path)/free")
        #expect(eventually { b.tree["free"] == nil })
        #expect(!program.hasEnded)
        program.signal(SIGTERM)
        #expect(try program.finish().status == 0)
        #expect(b.tree["d/f"]?.hasSuffix("1") == true && a.tree.count == 5)
        try b.start()
        #expect(agree(a, b) { $0.count == 5 && $0["moved"] != nil && $0["d/f"]?.hasSuffix("2") == true })
    }

    @Test func `a path that is longer than the system's longest ends no program`() throws {
        let name = String(repeating: "n", count: 200)
        let script = """
            import os, sys
            place = os.open(sys.argv[1], os.O_RDONLY)
            for number in range(24):
                os.mkdir(sys.argv[2], dir_fd=place)
                place = os.open(sys.argv[2], os.O_RDONLY, dir_fd=place)
                file = os.open("file", os.O_WRONLY | os.O_CREAT, 0o644, dir_fd=place)
                os.write(file, b"%d\\n" % number)
            """
        #expect(try RunningProcess(["python3", "-c", script, a.path, name], input: "").finish().status == 0)
        try a.write("after", to: "free")
        #expect(eventually { b.tree["free"] != nil })
        #expect(eventually { b.contents.isSuperset(of: (0..<18).map { "\($0)\n" }) })
        #expect(try RunningProcess(["rm", "-r", "\(a.path)/\(name)"], input: "").finish().status == 0)
        // So much at once is taken for a lost mount; the program runs.
        #expect(try eventually { try a.recorded()?.withheld ?? 0 > 0 })
        #expect(!a.hasEnded && !b.hasEnded)
    }

    @Test func `values that are too large for the cluster stay where they were set, and the others go on`() throws {
        let suites = try suites()
        try suites[0].set("old", forKey: "large")
        #expect(eventually { suites[1].value(forKey: "large") == .string("old") })
        let large = String(repeating: "x", count: 1_200_000)
        try suites[0].set(.string(large), forKey: "large")
        // The first of these is sent, and its entry does not undo the second.
        try suites[0].set("first", forKey: "twice")
        try suites[0].set(.string(large), forKey: "twice")
        #expect(eventually { suites[1].value(forKey: "twice") == .string("first") })
        try suites[0].set("v", forKey: "small")
        #expect(eventually { suites[1].value(forKey: "small") == .string("v") })
        #expect(try eventually { try isNamed("defaults/s", by: a) })
        try a.end()
        try a.start()
        try suites[1].set("w", forKey: "small")
        #expect(eventually { suites[0].value(forKey: "small") == .string("w") })
        #expect(suites[0].value(forKey: "twice") == .string(large))
        try suites[0].set("last", forKey: "twice")
        #expect(eventually { suites[1].value(forKey: "twice") == .string("last") })
        #expect(
            suites[0].value(forKey: "large") == .string(large) && suites[1].value(forKey: "large") == .string("old"))
        try suites[1].set("new", forKey: "large")
        #expect(eventually { suites.allSatisfy { $0.value(forKey: "large") == .string("new") } })
        #expect(try eventually { try !isNamed("defaults/s", by: a) })
        // Together these are more than a record of a suite has.
        b.kill()
        let half = String(repeating: "y", count: 500_000)
        for number in 0..<40 { try suites[0].set(.string(half), forKey: "key \(number)") }
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        #expect(eventually { suites[1].dictionaryRepresentation().count == 43 })
        #expect((0..<40).allSatisfy { suites[1].value(forKey: "key \($0)") == .string(half) })
    }
}
#endif
