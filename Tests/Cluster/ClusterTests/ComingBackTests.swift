#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .root, .etcd))
struct `Machines that come back` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines(["--snapshot-after", "20"]) }

    @Test(.tags(.ownEtcd)) func `a machine that was away for longer than the entries are kept takes the snapshot`()
        throws
    {
        try a.write("0", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        let suite = try GroupDefaults(a.temporary.open(), suite: "s")
        let other = try GroupDefaults(b.temporary.open(), suite: "s")
        try suite.set("removed later", forKey: "gone")
        #expect(eventually { other.value(forKey: "gone") != nil })
        b.kill()
        try b.write("mine", to: "mine")
        try suite.removeValue(forKey: "gone")
        for number in 1...60 {
            #expect(try a.cluster("write", a.path + "/", "f", input: "\(number)").status == 0)
        }
        #expect(try eventually { try etcd.control("get", "\(a.keys)s", "--print-value-only").count > 1 })
        try etcd.compact()
        try suite.set("v", forKey: "k")
        try b.start()
        #expect(agree(a, b) { $0["f"]?.hasSuffix("60") == true && $0["mine"] != nil })
        #expect(eventually { other.value(forKey: "k") == .string("v") && other.value(forKey: "gone") == nil })
        // Contents that no item has any more are collected.
        let contents = try etcd.control("get", "\(a.keys)b/", "--prefix", "--keys-only")
        #expect(contents.split(separator: "\n").count < 60)
    }

    @Test(.enabled(if: Strace.isThere && isRoot, "needs strace, and root to put it around a running program"))
    func `a value that was removed while a machine that had set it, and not stored that, was away is removed there`()
        throws
    {
        let suite = try GroupDefaults(a.temporary.open(), suite: "s")
        let other = try GroupDefaults(b.temporary.open(), suite: "s")
        try suite.set("v", forKey: "first")
        #expect(eventually { other.value(forKey: "first") != nil })
        #expect(try eventually { try b.isSettled(with: a) })
        // Killed at the first write of its state, which comes after the value was set.
        let tracer = try b.traced(["-e", "trace=pwrite64", "-e", "inject=pwrite64:signal=SIGKILL:when=1"])
        try suite.set("removed later", forKey: "gone")
        #expect(eventually { tracer.hasEnded })
        b.kill()
        _ = try tracer.finish()
        try suite.removeValue(forKey: "gone")
        for number in 1...60 {
            #expect(try a.cluster("write", a.path + "/", "f", input: "\(number)").status == 0)
        }
        #expect(try eventually { try etcd.control("get", "\(a.keys)s", "--print-value-only").count > 1 })
        try b.start()
        #expect(eventually { other.value(forKey: "gone") == nil })
        #expect(other.value(forKey: "first") == .string("v"))
    }

    @Test func `a content that is damaged in etcd keeps back its item only`() throws {
        b.kill()
        try a.write(String(repeating: "x", count: 400_000), to: "large")
        // The pieces are there before the entry; the key that ends with a slash comes with the entry.
        var keys: [Substring] = []
        #expect(
            try eventually {
                keys = try etcd.control("get", "\(a.keys)b/", "--prefix", "--keys-only").split(
                    separator: "\n")
                return keys.contains { $0.hasSuffix("/") } && keys.contains { !$0.hasSuffix("/") }
            })
        for key in keys where !key.hasSuffix("/") { try etcd.control("put", String(key), "damage") }
        let suites = try [a, b].map { try GroupDefaults($0.temporary.open(), suite: "s") }
        try suites[0].set("v", forKey: "k")
        try b.start()
        #expect(eventually { suites[1].value(forKey: "k") == .string("v") })
        #expect(b.tree["large"] == nil)
    }

    @Test(.tags(.ownEtcd)) func `an item whose content is gone from the directory of contents is sent anew`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        etcd.stop()
        try a.write("2", to: "f")
        let contents = "\(a.path)/.group/cluster-contents"
        let manager = FileManager.default
        #expect(try eventually { try !manager.contentsOfDirectory(atPath: contents).isEmpty })
        #expect(try eventually { try a.recorded()?.toSend == 1 })
        a.kill()
        etcd.kill()
        for name in try manager.contentsOfDirectory(atPath: contents) {
            try manager.removeItem(atPath: "\(contents)/\(name)")
        }
        try etcd.restart()
        try a.start()
        #expect(agree(a, b) { $0["f"]?.hasSuffix("2") == true })
        try a.write("3", to: "f")
        #expect(agree(a, b) { $0["f"]?.hasSuffix("3") == true && $0.count == 1 })
    }

    @Test func `what came out of the container is not lost where a power cut has taken the note of it`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        try a.end()
        let directory = "\(a.path)/.group/cluster"
        // As after a boot: what a process has written into a file that came out, the content of an item, and half of a
        // content.
        for (name, content) in [("out.01", "written"), ("out.02", "1"), ("new.03", "hal")] {
            try Data(content.utf8).write(to: URL(fileURLWithPath: "\(a.path)/.group/cluster-contents/\(name)"))
        }
        let deletion = "DELETE FROM state WHERE key = CAST('boot' AS BLOB)"
        #expect(try RunningProcess(["sqlite3", "\(directory)/state", deletion], input: "").finish().status == 0)
        try a.start()
        #expect(agree(a, b) { $0.count == 2 && $0.keys.contains { $0.hasPrefix("recovered (conflict ") } })
        #expect(b.contents == ["1", "written"])
    }

    @Test func `a machine that is killed while its values join keeps those of the cluster`() throws {
        let suite = try GroupDefaults(a.temporary.open(), suite: "s")
        for number in 0..<4_000 { try suite.set("of the cluster", forKey: "\(number)") }
        #expect(try eventually { try a.isSettled(with: b) })
        let c = try MachineUnderTest("gamma", etcd: etcd.endpoints, name: a.name)
        let own = try GroupDefaults(c.temporary.open(), suite: "s")
        for number in 0..<4_000 { try own.set("own", forKey: "\(number)") }
        for number in 0..<1_000 { try own.set("own", forKey: "own \(number)") }
        let index = try a.status()["index"] as? Int ?? 0
        for entries in 1...2 {
            try c.begin()
            #expect(try eventually { try a.recorded()?.index ?? 0 >= index + entries })
            c.kill()
        }
        try c.start()
        #expect(
            eventually {
                [own, suite].allSatisfy { suite in
                    let values = suite.dictionaryRepresentation()
                    return values.count == 5_000 && values.count { $0.value == .string("of the cluster") } == 4_000
                }
            })
    }

    @Test func `machines whose keys were deleted in etcd pause`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        try etcd.control("del", "\(a.keys)", "--prefix")
        try a.write("2", to: "f")
        #expect(try eventually { try a.recorded()?.paused?.contains("another history") == true })
        #expect(b.tree["f"]?.hasSuffix("1") == true)
    }

    @Test(.tags(.ownEtcd))
    func `a machine of another history pauses, and after a person has accepted it nothing is lost`() throws {
        try a.write("before", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        let backup = try TemporaryDirectory()
        try etcd.saveSnapshot(to: "\(backup.path)/backup")
        let suites = try [a, b].map { try GroupDefaults($0.temporary.open(), suite: "s") }
        let channels = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c", purpose: "test") }
        let listeners = try channels.map { try $0.listener(named: "l", since: .start) }
        try a.write("after", to: "f")
        try b.write("new", to: "g")
        for number in 1...3 {
            for suite in suites { try suite.increment("n", by: 10) }
            try channels[0].post(bytes: [UInt8(number)])
        }
        #expect(agree(a, b) { $0.count == 2 && $0["f"]?.hasSuffix("after") == true })
        #expect(eventually { suites.allSatisfy { $0.value(forKey: "n") == .integer(60) } })
        for listener in listeners {
            for number in 1...3 { #expect(try listener.next(timeout: patience)?.bytes == [UInt8(number)]) }
        }
        // One change is in flight, and its attempt fails, when the cluster gets its other history.
        etcd.stop()
        try a.write("in flight", to: "i")
        #expect(try eventually { try a.recorded()?.toSend ?? 0 > 0 })
        etcd.kill()
        #expect(try eventually { try a.recorded()?.failure != nil })
        try etcd.restore(from: "\(backup.path)/backup")
        for machine in [a, b] {
            #expect(try eventually { try machine.recorded()?.paused?.contains("another history") == true })
            #expect(try machine.groupctl("doctor", machine.path + "/", "--json").text.contains("\"clusterPaused\""))
            // The failure of the time without etcd is over.
            #expect(try eventually { try machine.recorded().map { $0.failure == nil } == true })
            try machine.write("while it is paused", to: "h")
            let (status, _) = try machine.cluster("write", machine.path + "/", "n", input: "1")
            #expect(status == 69)
            try machine.end()
            #expect(
                try RunningProcess(["group-cluster", "accept", machine.path + "/"], input: "").finish().status == 0)
            try machine.start()
        }
        #expect(agree(a, b) { $0["g"] != nil && $0["h"] != nil && $0["i"] != nil })
        #expect(a.contents == ["before", "after", "new", "in flight", "while it is paused"])
        // No addition is made a second time, and the channel's numbers have begun anew.
        try suites[0].increment("n", by: 1)
        #expect(eventually { suites.allSatisfy { $0.value(forKey: "n") == .integer(61) } })
        try channels[1].post(bytes: [4])
        for listener in listeners {
            var last: [UInt8]?
            while last != [4], let message = try listener.next(timeout: patience) { last = message.bytes }
            #expect(last == [4])
        }
    }

    @Test(.tags(.ownEtcd)) func `values that lose against a restored etcd are in files that the status names`() throws {
        let suites = try [a, b].map { try GroupDefaults($0.temporary.open(), suite: "s") }
        func have(_ values: [String: DefaultsValue]) -> Bool {
            eventually { suites.allSatisfy { suite in values.allSatisfy { suite.value(forKey: $0.key) == $0.value } } }
        }
        try suites[0].set("early", forKey: "theme")
        try suites[0].set(10, forKey: "n")
        #expect(have(["theme": .string("early"), "n": .integer(10)]))
        let backup = try TemporaryDirectory()
        try etcd.saveSnapshot(to: "\(backup.path)/backup")
        try suites[0].set("late", forKey: "theme")
        try suites[0].increment("n", by: 10)
        try suites[0].set("kept", forKey: "new")
        #expect(have(["theme": .string("late"), "n": .integer(20), "new": .string("kept")]))
        etcd.kill()
        try etcd.restore(from: "\(backup.path)/backup")
        for machine in [a, b] { #expect(try eventually { try machine.recorded()?.paused != nil }) }
        try suites[0].increment("n", by: 5)
        // While they run.
        for machine in [a, b] { #expect(try machine.cluster("accept", machine.path + "/").status == 0) }
        #expect(have(["theme": .string("early"), "n": .integer(10), "new": .string("kept")]))
        for machine in [a, b] {
            #expect(try eventually { (try machine.status()["replaced"] as? [String])?.count == 1 })
            #expect(try machine.findings().contains("clusterReplaced"))
        }
        let files = try #require(try a.status()["replaced"] as? [String])
        #expect(files[0].contains("/.group/cluster/replaced/") && files[0].hasSuffix("/s.plist"))
        // What is right is set again.
        #expect(try a.groupctl("defaults", "import", a.path + "/", "s", files[0]).status == 0)
        #expect(have(["theme": .string("late"), "n": .integer(25), "new": .string("kept")]))
        try FileManager.default.removeItem(atPath: files[0])
        try a.write("1", to: "f")
        #expect(try eventually { (try a.status()["replaced"] as? [String])?.isEmpty == true })
    }

    @Test func `where most items are gone at once, only their removals wait, until a person accepts them`() throws {
        for number in 1...10 { try a.write("\(number)", to: "d/\(number)") }
        try a.write("1", to: "other")
        #expect(agree(a, b) { $0.count == 12 })
        let elsewhere = try TemporaryDirectory()
        try FileManager.default.moveItem(atPath: "\(a.path)/d", toPath: "\(elsewhere.path)/d")
        // A few removals may be sent before so many are seen that they count as a loss.
        #expect(try eventually { try a.recorded()?.withheld ?? 0 > 5 })
        #expect(try eventually { try a.isSettled(with: b) })
        let withheld = try a.status()["withheld"] as? Int ?? 0
        #expect(try a.cluster("status", a.path + "/").status == 69)
        #expect(try a.findings().contains("clusterWithheld"))
        // Everything else goes on.
        let suites = try [a, b].map { try GroupDefaults($0.temporary.open(), suite: "s") }
        try suites[0].set(1, forKey: "here")
        try suites[1].set(2, forKey: "there")
        try a.write("new", to: "new")
        try b.write("11", to: "d/11")
        #expect(try a.cluster("write", a.path + "/", "strict", input: "1").status == 0)
        #expect(try a.groupctl("remove", a.path + "/", "other").status == 0)
        #expect(
            eventually { suites.allSatisfy { $0.value(forKey: "here") != nil && $0.value(forKey: "there") != nil } })
        #expect(eventually { b.tree["new"] != nil && b.tree["strict"] != nil && b.tree["other"] == nil })
        #expect(eventually { a.tree.keys.sorted() == ["d", "d/11", "new", "strict"] })
        #expect(b.tree.count == withheld + 3)
        try a.end()
        try a.start()
        #expect(try eventually { try a.recorded()?.withheld == withheld - 1 }, "the directory is there again")
        #expect(b.tree.count == withheld + 3)
        // While it runs.
        #expect(try a.cluster("accept", a.path + "/").status == 0)
        #expect(agree(a, b) { $0.keys.sorted() == ["d", "d/11", "new", "strict"] })
        #expect(try eventually { try a.recorded()?.withheld ?? 0 == 0 })
        #expect(try !a.findings().contains("clusterWithheld"))
        #expect(try a.cluster("accept", a.path + "/").text.contains("nothing to accept"))
    }

    @Test(arguments: [true, false])
    func `where items that were gone are put back, nothing has to be accepted`(isRunning: Bool) throws {
        for number in 1...10 { try a.write("\(number)", to: "d/\(number)") }
        #expect(agree(a, b) { $0.count == 11 })
        let elsewhere = try TemporaryDirectory()
        try FileManager.default.moveItem(atPath: "\(a.path)/d", toPath: "\(elsewhere.path)/d")
        #expect(try eventually { try a.recorded()?.withheld ?? 0 > 5 })
        // Items of another machine do not make it less than half.
        for number in 1...20 { try b.write("\(number)", to: "e/\(number)") }
        #expect(eventually { a.tree.count == 21 })
        #expect(try a.status()["withheld"] as? Int ?? 0 > 5)
        if !isRunning { try a.end() }
        try FileManager.default.moveItem(atPath: "\(elsewhere.path)/d", toPath: "\(a.path)/d")
        if !isRunning { try FileManager.default.removeItem(atPath: "\(a.path)/d/1") }
        if !isRunning { try a.start() }
        #expect(try eventually { try a.recorded().map { $0.withheld ?? 0 } ?? 99 <= (isRunning ? 0 : 1) })
        if isRunning {
            try FileManager.default.removeItem(atPath: "\(a.path)/d/1")
        } else {
            // Not everything is back.
            #expect(try a.cluster("accept", a.path + "/").status == 0)
        }
        #expect(agree(a, b) { $0.count == 31 && $0["d/1"] == nil && $0["d/2"] != nil })
        try a.end()
        try a.start()
        #expect(try a.status()["withheld"] as? Int == 0)
    }

    @Test func `what other machines remove, and an acceptance of less, send nothing that is withheld`() throws {
        for number in 1...20 { try a.write("\(number)", to: "\(number)") }
        #expect(agree(a, b) { $0.count == 20 })
        for number in 1...18 { try FileManager.default.removeItem(atPath: "\(a.path)/\(number)") }
        let isWithheld = try eventually { try a.recorded()?.withheld ?? 0 > 0 }
        #expect(isWithheld)
        #expect(try eventually { try a.isSettled(with: b) })
        // Another machine removes some, so that fewer than half of those that there were are withheld.
        let there = b.tree.keys.sorted()
        for item in there.prefix(there.count - 5) {
            #expect(try b.groupctl("remove", b.path + "/", item).status == 0)
        }
        try a.write("x", to: "x")
        #expect(eventually { b.tree["x"] != nil })
        let left = b.tree.count
        #expect(try a.status()["withheld"] as? Int ?? 0 > 0 && left == 6)
        // A decision about what was seen earlier is refused.
        let records = try GroupDefaults(a.temporary.open(), suite: "group-container.cluster")
        let decision = "{\"name\":\"\(UUID().uuidString)\",\"kind\":\"sendRemovals\",\"removals\":0}"
        try records.set(.json(Array(decision.utf8)), forKey: "decision")
        #expect(
            eventually {
                guard case .json(let bytes)? = records.value(forKey: "decision") else { return false }
                return String(decoding: bytes, as: UTF8.self).contains("are withheld by now")
            })
        #expect(b.tree.count == left)
        #expect(try a.cluster("accept", a.path + "/").status == 0)
        #expect(agree(a, b) { $0.keys.contains("x") && $0.count <= 3 })
    }

    @Test func `removals that are withheld are accepted also while the program does not run`() throws {
        for number in 1...10 { try a.write("\(number)", to: "\(number)") }
        #expect(agree(a, b) { $0.count == 10 })
        for number in 1...10 { try FileManager.default.removeItem(atPath: "\(a.path)/\(number)") }
        #expect(try eventually { try a.recorded()?.withheld ?? 0 > 0 })
        a.kill()
        #expect(try a.cluster("accept", a.path + "/").status == 0)
        try a.start()
        #expect(agree(a, b) { $0.isEmpty })
    }

    @Test(.tags(.ownEtcd)) func `most items may be removed by a coordinated change`() throws {
        for number in 1...10 { try a.write("\(number)", to: "d/\(number)") }
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 12 })
        #expect(try a.groupctl("remove", a.path + "/", "d", "--recursive").status == 0)
        #expect(agree(a, b) { $0.keys.sorted() == ["f"] })
        #expect(try a.status()["paused"] as? String == nil)
        // Also where the program is started again before that was sent.
        for number in 1...10 { try b.write("\(number)", to: "e/\(number)") }
        #expect(agree(a, b) { $0.count == 12 })
        #expect(try eventually { try a.isSettled(with: b) })
        etcd.kill()
        #expect(try a.groupctl("remove", a.path + "/", "e", "--recursive").status == 0)
        #expect(try eventually { try a.recorded()?.toSend ?? 0 > 0 })
        a.kill()
        try etcd.restart()
        try a.start()
        #expect(agree(a, b) { $0.keys.sorted() == ["f"] })
    }

    @Test func `most items may be removed while it is not certain yet that they are gone`() throws {
        for number in 1...10 { try a.write("\(number)", to: "d/\(number)") }
        #expect(agree(a, b) { $0.count == 11 })
        #expect(try eventually { try a.isSettled(with: b) })
        // The record of the removal is in the journal for a while before its process says that the removal is made. (After
        // a longer pause, a reader would abort the record.)
        let remover = try RunningProcess(
            ["strace", "-f", "-o", "/dev/null", "-e", "inject=futex:delay_exit=1500us"]
                + [BuildDirectory.resolve("groupctl"), "remove", a.path + "/", "d", "--recursive"], input: "")
        #expect(try remover.finish().status == 0)
        #expect(agree(a, b) { $0.isEmpty })
        #expect(try a.recorded()?.withheld == nil)
    }

    @Test func `a clone pauses, and goes on under a name of its own`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        try a.end()
        let clone = try MachineUnderTest("clone", copying: a)
        try a.start()
        try a.write("2", to: "f")
        #expect(agree(a, b) { $0["f"]?.hasSuffix("2") == true })
        try clone.write("of the clone", to: "g")
        try clone.start()
        #expect(try eventually { try clone.recorded()?.paused != nil })
        try clone.end()
        #expect(try RunningProcess(["group-cluster", "accept", clone.path + "/"], input: "").finish().status == 0)
        try clone.start()
        #expect(agree(a, b, clone) { $0["g"] != nil })
    }

    @Test(.tags(.ownEtcd))
    func `from half of the budget on nothing is sent, and this is said, until etcd has room again`() throws {
        let (etcd, a, b) = try startTwoMachines(["--budget", "16", "--snapshot-after", "3"])
        var random = SeededGenerator(seed: faultSeed)
        var failure: String?
        for number in 0..<60 where failure == nil {
            let letters = (0..<200_000).map { _ in UInt8.random(in: 0x61...0x7A, using: &random) }
            try a.write("\(number) " + String(decoding: letters, as: UTF8.self), to: "item")
            let isSeen = try eventually {
                failure = (try a.status()["failure"] as? String).flatMap { $0.contains("budget") ? $0 : nil }
                return try failure != nil || a.isSettled(with: b) && a.tree == b.tree
            }
            #expect(isSeen)
        }
        #expect(failure?.contains("MiB of a budget of 16") == true)
        #expect(a.tree != b.tree)
        #expect(try a.cluster("write", a.path, "strict", "--timeout", "1", input: "x").status == 69)
        try a.write("here at once", to: "local")
        // What no item has any more was removed with each snapshot; only the history has it.
        try etcd.compact()
        try etcd.defragment()
        let isSent = try eventually { try a.isSettled(with: b) && a.tree == b.tree }
        let last = try a.status()
        #expect(isSent, "\(last)")
        #expect(b.tree["local"] == "420 here at once" && b.tree["strict"] == nil)
        #expect(try a.status()["failure"] is NSNull)
    }

    @Test func `what a process writes yet when its machine leaves has a conflict name`() throws {
        try a.write("old", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        let file = try #require(FileHandle(forWritingAtPath: "\(b.path)/f"))
        try a.write("new", to: "f")
        #expect(eventually { b.tree["f"]?.hasSuffix("new") == true })
        try b.end()
        #expect(try RunningProcess(["group-cluster", "leave", b.path + "/"], input: "").finish().status == 0)
        try file.write(contentsOf: Data("late".utf8))
        try file.close()
        let copy = try #require(b.tree.first { $0.key.hasPrefix("f (conflict ") })
        #expect(copy.value.hasSuffix("late"))
        #expect(b.tree["f"]?.hasSuffix("new") == true)
    }

    @Test func `a machine whose state is damaged can leave, and join again`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        b.kill()
        for name in ["state-wal", "state-shm"] {
            try? FileManager.default.removeItem(atPath: "\(b.path)/.group/cluster/\(name)")
        }
        try Data(repeating: 0x55, count: 8_192).write(to: URL(fileURLWithPath: "\(b.path)/.group/cluster/state"))
        let join = try RunningProcess(["group-cluster", "join", b.path + "/"], input: "").finish()
        #expect(join.status == 65 && join.text.contains("leave"), "\(join)")
        let leave = try RunningProcess(["group-cluster", "leave", b.path + "/"], input: "").finish()
        #expect(leave.status == 0, "\(leave)")
        try b.start()
        try b.write("2", to: "g")
        #expect(agree(a, b) { $0.count == 2 })
    }

    @Test func `a second program for a container is refused`() throws {
        let (status, text) = try RunningProcess(["group-cluster", "join", a.path + "/"], input: "").finish()
        #expect(status == 75, "\(text)")
        let leave = try a.cluster("leave", a.path + "/")
        #expect(leave.status == 75 && leave.text.contains("cannot leave the cluster"), "\(leave)")
    }

    @Test func `messages that a machine has not sent when it leaves are posted on it, in their order`() throws {
        try b.end()
        let channel = try GroupChannel(b.temporary.open(), name: "unsent", purpose: "test")
        for number in 1...2 as ClosedRange<UInt8> { #expect(try channel.post(bytes: [number]) == 0) }
        #expect(try RunningProcess(["group-cluster", "leave", b.path + "/"], input: "").finish().status == 0)
        let listener = try channel.listener(named: "l", since: .start)
        let posted = try (1...3).map { _ in try listener.next(timeout: .zero)?.bytes }
        #expect(posted == [[1], [2], nil])
    }

    @Test func `a machine that leaves keeps its items, and is not changed any more`() throws {
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        try b.end()
        #expect(try RunningProcess(["group-cluster", "leave", b.path + "/"], input: "").finish().status == 0)
        try a.write("2", to: "f")
        let (status, _) = try RunningProcess(["group-cluster", "status", b.path + "/"], input: "").finish()
        #expect(status == 66)
        #expect(b.tree["f"]?.hasSuffix("1") == true)
        let channel = try GroupChannel(b.temporary.open(), name: "c", purpose: "test")
        #expect(try channel.post(bytes: [1]) == 1)
        // Joining again brings both together.
        try b.start()
        #expect(agree(a, b) { $0.count == 2 })
    }
}
#endif
