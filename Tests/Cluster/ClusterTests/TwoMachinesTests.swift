#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Two machines of a cluster` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    // MARK: Items

    @Test func `items of every kind arrive, with their changes, moves and removals`() throws {
        let manager = FileManager.default
        try a.write("one", to: "one.txt")
        try a.write("deep", to: "p/q/r/deep.txt")
        try manager.createSymbolicLink(atPath: "\(a.path)/link", withDestinationPath: "p/q")
        #expect(agree(a, b) { $0.count == 6 })
        try b.write("changed", to: "p/q/r/deep.txt")
        try manager.moveItem(atPath: "\(b.path)/p/q", toPath: "\(b.path)/moved")
        #expect(agree(a, b) { $0["moved/r/deep.txt"]?.hasSuffix("changed") == true })
        try manager.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(a.path)/one.txt")
        try manager.removeItem(atPath: "\(a.path)/link")
        #expect(agree(a, b) { $0["one.txt"] == "384 one" && $0["link"] == nil })
        try manager.removeItem(atPath: "\(b.path)/moved")
        #expect(agree(a, b) { $0.count == 2 })
        // Set-user-ID is not mirrored, nor what has the library's names.
        try a.write("reserved", to: ".groupish")
        try manager.setAttributes([.posixPermissions: 0o4711], ofItemAtPath: "\(a.path)/one.txt")
        #expect(eventually { b.tree["one.txt"] == "\(0o711) one" })
        #expect(b.tree[".groupish"] == nil)
    }

    @Test(.tags(.ownEtcd)) func `a directory that was changed and then removed with what is in it is gone everywhere`()
        throws
    {
        for number in 1...3 { try a.write("\(number)", to: "d/e/\(number)") }
        #expect(agree(a, b) { $0.count == 5 })
        let manager = FileManager.default
        etcd.kill()
        // Before that is noticed, an entry may be put in flight.
        #expect(try eventually { try a.recorded()?.isConnected == false })
        try manager.moveItem(atPath: "\(a.path)/d", toPath: "\(a.path)/moved")
        #expect(try eventually { try a.recorded()?.toSend == 1 })
        try manager.removeItem(atPath: "\(a.path)/moved")
        #expect(try eventually { try a.recorded()?.toSend == 5 })
        try etcd.restart()
        #expect(agree(a, b) { $0.isEmpty })
    }

    @Test func `two files that exchange their names do so on both machines`() throws {
        try a.write("1", to: "x")
        try a.write("2", to: "y")
        #expect(agree(a, b) { $0.count == 2 })
        let manager = FileManager.default
        try manager.moveItem(atPath: "\(b.path)/x", toPath: "\(b.path)/t")
        try manager.moveItem(atPath: "\(b.path)/y", toPath: "\(b.path)/x")
        try manager.moveItem(atPath: "\(b.path)/t", toPath: "\(b.path)/y")
        #expect(agree(a, b) { $0["x"]?.hasSuffix("2") == true && $0["y"]?.hasSuffix("1") == true && $0.count == 2 })
    }

    @Test func `a file of several pieces arrives whole, and one that is too large is named`() throws {
        let large = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) })
        try large.write(to: URL(fileURLWithPath: "\(a.path)/large"))
        #expect(agree(a, b) { $0["large"] != nil })
        #expect(FileManager.default.contents(atPath: "\(b.path)/large") == large)
        // The file has its size before it is in the container: what it was before would stay on the other machine.
        let outside = "\(a.temporary.directory)/huge"
        try "".write(toFile: outside, atomically: false, encoding: .utf8)
        let huge = try #require(FileHandle(forWritingAtPath: outside))
        try huge.truncate(atOffset: 65 << 20)
        try FileManager.default.moveItem(atPath: outside, toPath: "\(a.path)/huge")
        try a.write("small", to: "small")
        #expect(eventually { b.tree["small"] != nil })
        #expect(b.tree["huge"] == nil)
        #expect(
            try eventually {
                (try a.status()["unmirrored"] as? [[String: Any]])?.contains { $0["path"] as? String == "huge" } == true
            })
        #expect(try a.findings().contains("clusterUnmirrored"))
    }

    @Test func `the author of a change is the process and its machine`() throws {
        #expect(try a.cluster("write", a.path + "/", "n", input: "1").status == 0)
        try a.write("plain", to: "plain")
        #expect(agree(a, b) { $0.count == 2 })
        let changes = try b.temporary.changes().filter { !$0.kind.isMarker }
        #expect(changes.first { $0.path == "n" }?.author?.purpose == "group-cluster@alpha")
        #expect(changes.first { $0.path == "plain" }?.author?.purpose == "@alpha")
        // On a terminal a line names the machine; a process identifier would be that of the program here.
        let watch = "'\(BuildDirectory.resolve("watch-group"))' --color never --since start --timeout 0 '\(b.path)/'"
        let shown = try RunningProcess(
            ["script", "-qec", watch, "/dev/null"], input: "", environment: ["SHELL": "/bin/sh"]
        ).finish()
        #expect(shown.text.contains("created   n  group-cluster@alpha\r\n"), "\(shown)")
        #expect(shown.text.contains("created   plain  @alpha\r\n"), "\(shown)")
        let suites = try [a, b].map { try GroupDefaults($0.temporary.open(), suite: "s") }
        var feed = try suites[1].follow(since: .now)
        try suites[0].set(1, forKey: "k")
        var change: DefaultsChange?
        while change?.key != "k", let next = try feed.next(timeout: patience) { change = next }
        #expect(change?.author?.purpose == "@alpha")
        let channels = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c", purpose: "poster") }
        let listeners = try channels.map { try $0.listener(named: "l", since: .start) }
        try channels[0].signal()
        #expect(try listeners[0].next(timeout: patience)?.author.purpose == "poster")
        #expect(try listeners[1].next(timeout: patience)?.author.purpose == "poster@alpha")
    }

    @Test(.tags(.ownEtcd)) func `what two machines write while they cannot reach each other is kept by both`() throws {
        try a.write("base", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        etcd.kill()
        try a.write("of alpha", to: "f")
        try b.write("of beta", to: "f")
        try a.write("same", to: "equal")
        try b.write("same", to: "equal")
        try a.write("new", to: "d/a")
        try b.write("new", to: "d/b")
        try etcd.restart()
        #expect(agree(a, b) { $0.count == 6 })
        #expect(a.contents == ["of alpha", "of beta", "same", "new"])
        #expect(a.tree.keys.contains { $0.hasPrefix("f (conflict ") })
        #expect(try eventually { try !b.conflicts().isEmpty })
        #expect(try b.findings().contains("clusterConflicts"))
        // The status names the conflict until a person has decided.
        let copy = try #require(a.tree.keys.first { $0.hasPrefix("f (conflict ") })
        try FileManager.default.removeItem(atPath: "\(a.path)/\(copy)")
        #expect(try eventually { try a.conflicts().isEmpty && b.conflicts().isEmpty })
    }

    @Test
    func `a conflict is named on both machines, also where the other content was there before one's own was sent`()
        throws
    {
        try a.write("base", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        try b.end()
        try b.write("of beta", to: "f")
        try a.write("of alpha", to: "f")
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        #expect(agree(a, b) { $0.count == 2 })
        let copy = try #require(a.tree.keys.first { $0.hasPrefix("f (conflict ") })
        #expect(a.contents == ["of alpha", "of beta"])
        #expect(try eventually { try a.isSettled(with: b) })
        for machine in [a, b] { #expect(try machine.conflicts() == [copy]) }
    }

    @Test(arguments: [true, false])
    func `an item of another kind takes the place of one that was removed`(isRunning: Bool) throws {
        try a.write("1", to: "f")
        try a.write("2", to: "d/e/g")
        #expect(agree(a, b) { $0.count == 4 })
        if !isRunning { try a.end() }
        let script = "rm f && mkdir f && echo 3 >f/x && rm -r d && echo 4 >d"
        let shell = try RunningProcess(["sh", "-c", "cd \"$1\" && \(script)", "sh", a.path], input: "")
        #expect(try shell.finish().status == 0)
        if !isRunning { try a.start() }
        #expect(agree(a, b) { $0.keys.sorted() == ["d", "f", "f/x"] }, "\(a.tree) \(b.tree)")
        #expect(b.contents == ["3\n", "4\n"])
        for machine in [a, b] { #expect(try machine.conflicts().isEmpty) }
    }

    @Test(.tags(.ownEtcd)) func `of an item that changed several times before it was sent only the last state is sent`()
        throws
    {
        etcd.kill()
        #expect(try eventually { try a.recorded()?.isConnected == false })
        for number in 1...3 {
            try a.write("\(number)", to: "f")
            #expect(try eventually { try a.recorded()?.toSend == 1 })
        }
        try etcd.restart()
        #expect(agree(a, b) { $0["f"]?.hasSuffix("3") == true })
        #expect(try eventually { try a.recorded()?.index == 1 })
        let keys = try etcd.control("get", "\(a.keys)b/", "--prefix", "--keys-only")
        #expect(keys.split(separator: "\n").count == 1, "\(keys)")
    }

    @Test(.tags(.ownEtcd)) func `a modification beats a deletion, in both orders`() throws {
        for item in ["x", "y"] { try a.write("base", to: "\(item)/f") }
        #expect(agree(a, b) { $0.count == 4 })
        etcd.kill()
        try FileManager.default.removeItem(atPath: "\(a.path)/x")
        try b.write("kept", to: "x/f")
        try FileManager.default.removeItem(atPath: "\(b.path)/y")
        try a.write("kept, too", to: "y/f")
        try etcd.restart()
        #expect(agree(a, b) { $0["x/f"]?.hasSuffix("kept") == true && $0["y/f"]?.hasSuffix("kept, too") == true })
    }

    @Test func `what was changed while a machine's program did not run arrives when it runs`() throws {
        try a.write("1", to: "one")
        try a.write("2", to: "two")
        #expect(agree(a, b) { $0.count == 2 })
        // An item that is removed before the program has stored that it was applied would be applied again.
        #expect(try eventually { try b.isSettled(with: a) })
        b.kill()
        #expect(try b.findings().contains("clusterNotRunning"))
        try a.write("changed", to: "one")
        try a.write("3", to: "three")
        try FileManager.default.removeItem(atPath: "\(b.path)/two")
        try b.write("4", to: "four")
        try b.start()
        #expect(agree(a, b) { $0["one"]?.hasSuffix("changed") == true && $0.count == 3 && $0["four"] != nil })
    }

    @Test func `what was made in a directory just before it was moved arrives in it`() throws {
        let manager = FileManager.default
        try a.write("first", to: "y/first")
        try a.write("first", to: "other/first")
        #expect(agree(a, b) { $0.count == 4 })
        for round in 1...5 {
            // What happened is looked at when all of it is over.
            a.stop()
            try a.write("in", to: "y/in \(round)")
            try a.write("deep", to: "y/deep \(round)/in")
            try manager.moveItem(atPath: a.path + "/y", toPath: a.path + "/z")
            try manager.moveItem(atPath: a.path + "/other", toPath: a.path + "/y")
            try a.write("in", to: "y/in \(round)")
            try manager.moveItem(atPath: a.path + "/z", toPath: a.path + "/other")
            a.resume()
            #expect(agree(a, b) { $0.count == 4 + 4 * round })
        }
    }

    @Test func `an item in use waits, and the others go on`() throws {
        try a.write("old", to: "used")
        try a.write("old", to: "free")
        #expect(agree(a, b) { $0.count == 2 })
        let holder = try RunningProcess(["groupctl", "lock", b.path + "/", "used", "--", "cat"])
        #expect(try eventually { try b.groupctl("status", b.path + "/").text.contains("used") })
        try a.write("new", to: "used")
        try a.write("new", to: "free")
        #expect(eventually { b.tree["free"]?.hasSuffix("new") == true })
        #expect(b.tree["used"]?.hasSuffix("old") == true)
        holder.closeInput()
        _ = try holder.finish()
        #expect(agree(a, b))
    }

    @Test func `a directory that is removed elsewhere and has a FIFO here is named, and the rest goes on`() throws {
        try a.write("1", to: "d/f")
        #expect(agree(a, b) { $0.count == 2 })
        #expect(try RunningProcess(["mkfifo", "\(b.path)/d/pipe"], input: "").finish().status == 0)
        try FileManager.default.removeItem(atPath: "\(a.path)/d")
        #expect(
            try eventually {
                (try b.status()["unmirrored"] as? [[String: Any]])?.contains { $0["path"] as? String == "d" } == true
            })
        let (suite, other) = try (
            GroupDefaults(a.temporary.open(), suite: "s"), GroupDefaults(b.temporary.open(), suite: "s")
        )
        try suite.set("v", forKey: "k")
        #expect(eventually { other.value(forKey: "k") == .string("v") })
        try FileManager.default.removeItem(atPath: "\(b.path)/d/pipe")
        #expect(agree(a, b) { $0.isEmpty })
    }

    // MARK: Strict writes

    @Test func `a strict write is on this machine when the call returns, and on the others`() throws {
        #expect(try a.cluster("write", a.path + "/", "d/n", input: "1").status == 0)
        #expect(a.tree["d/n"]?.hasSuffix("1") == true)
        #expect(agree(a, b) { $0["d/n"]?.hasSuffix("1") == true })
        #expect(try b.cluster("move", b.path + "/", "d/n", "e").status == 0)
        #expect(agree(a, b) { $0["e"] != nil && $0["d/n"] == nil })
        #expect(try a.cluster("remove", a.path + "/", "e").status == 0)
        #expect(agree(a, b) { $0["e"] == nil })
    }

    @Test func `increments of both machines are all in the number`() throws {
        let words = { (machine: MachineUnderTest) in
            // A conflict means that nothing was changed: once more.
            [
                "sh", "-c",
                "i=0; while [ $i -lt 12 ]; do group-cluster update \"$0/\" n -- awk '{ n = $1 } END { print n + 1 }' && i=$((i + 1)); done",
                machine.path,
            ]
        }
        let path = "\(BuildDirectory.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let loops = try [a, b].map { try RunningProcess(words($0), input: "", environment: ["PATH": path]) }
        for loop in loops { #expect(try loop.finish(within: .seconds(60)).status == 0) }
        #expect(agree(a, b) { $0["n"]?.hasSuffix("24\n") == true })
    }

    @Test(.enabled(if: FakedClock.isThere, "needs libfaketime"), arguments: ["+20m", "+30d", "-20m"])
    func `a strict change is sent whatever the clock of the program shows`(clock: String) throws {
        try a.end()
        a.clock = clock
        try a.start()
        #expect(try a.cluster("write", a.path + "/", "n", input: "1").status == 0)
        #expect(agree(a, b) { $0["n"] != nil })
        try a.end()
    }

    @Test func `a strict write under an old generation is a conflict, and changes nothing`() throws {
        let container = try a.temporary.open()
        let coordinator = container.coordinator(purpose: "test").blocking
        let cluster = container.cluster(purpose: "test").blocking
        try cluster.write(bytes: [1], to: "r")
        let generation = try #require(try coordinator.generation(of: "r"))
        try cluster.write(bytes: [2], to: "r", if: .generation(generation))
        #expect(throws: CoordinationError.self) {
            try cluster.write(bytes: [3], to: "r", if: .generation(generation))
        }
        #expect(throws: CoordinationError.self) {
            try cluster.write(bytes: [3], to: "r", if: .absent)
        }
        #expect(agree(a, b))
        #expect(b.temporary.content(of: "r") == "\u{2}")
    }

    @Test func `what a plain program writes while COMMAND runs is a conflict, and stays`() throws {
        #expect(try a.cluster("write", a.path + "/", "n", input: "1\n").status == 0)
        let script = "cat; echo plain >'\(a.path)/n'; echo 2"
        let (status, text) = try a.cluster("update", a.path + "/", "n", "--", "sh", "-c", script)
        #expect(status == 4 && text.contains("'n'"), "\(status) \(text)")
        #expect(a.temporary.content(of: "n") == "plain\n")
        #expect(agree(a, b) { $0.count == 1 })
        #expect(b.temporary.content(of: "n") == "plain\n")
    }

    @Test(arguments: [true, false])
    func `what a request only reads must be so on all machines`(isThere: Bool) throws {
        let container = try a.temporary.open()
        let cluster = container.cluster(purpose: "test").blocking
        try cluster.write(bytes: [1], to: "d/w")
        if isThere { try cluster.write(bytes: [1], to: "d/x") }
        #expect(agree(a, b))
        let error = #expect(throws: CoordinationError.self) {
            try cluster.coordinate(.reading("d/x"), .writing("y")) { access in
                let content = try access.readBytesIfPresent("d/x") ?? []
                // This machine cannot apply it meanwhile.
                #expect(try b.cluster("write", b.path + "/", "d/x", input: "of beta").status == 0)
                try access.write(bytes: content + [2], to: "y")
            }
        }
        #expect(error?.code == .conflict, "\(error.map { "\($0)" } ?? "")")
        #expect(agree(a, b) { $0["y"] == nil && $0["d/x"] != nil })
        // What is as it was read is no conflict.
        try cluster.coordinate(.reading("d/x"), .reading("none"), .writing("y")) { access in
            #expect(try access.readBytesIfPresent("none") == nil)
            try access.write(bytes: access.readBytes("d/x"), to: "y")
        }
        #expect(agree(a, b) { $0["y"] != nil })
    }

    @Test func `the changes of a strict transaction are made together or not at all`() throws {
        let container = try a.temporary.open()
        let cluster = container.cluster(purpose: "test").blocking
        try cluster.coordinate(.writing("x"), .writing("y")) { access in
            try access.write(bytes: [1], to: "x")
            try access.write(bytes: [1], to: "y")
        }
        #expect(agree(a, b) { $0.count == 2 })
        // Another machine is first with one of the two.
        #expect(throws: CoordinationError.self) {
            try cluster.coordinate(.writing("x"), .writing("y")) { access in
                try access.write(bytes: [2], to: "x")
                try access.write(bytes: [2], to: "y")
                #expect(try b.cluster("write", b.path + "/", "y", input: "of beta").status == 0)
            }
        }
        #expect(agree(a, b) { $0["y"]?.hasSuffix("of beta") == true })
        #expect(a.temporary.content(of: "x") == "\u{1}")
    }

    @Test(.tags(.ownEtcd)) func `without the cluster a strict write is refused, and a plain one is made`() throws {
        etcd.kill()
        #expect(try eventually { try a.recorded()?.isConnected == false })
        try a.waitForText("not connected: etcd is unreachable")
        #expect(try a.findings().contains("clusterNotConnected"))
        let (status, text) = try a.cluster(
            "write", a.path + "/", "n", "--timeout", "300ms", input: "1")
        #expect(status == 69, "\(text)")
        #expect(a.tree["n"] == nil)
        try a.write("plain", to: "p")
        try etcd.restart()
        #expect(agree(a, b) { $0.keys.sorted() == ["p"] })
    }

    @Test func `the error of a request that cannot be sent says what is wrong with it`() throws {
        let records = try ClusterRecords(a.temporary.open())
        for size in [65 << 20, nil] {
            a.stop()
            let call = try RunningProcess(["group-cluster", "write", a.path + "/", "n"], input: "1")
            let staged = "\(a.path)/.group/cluster-requests"
            var content: String?
            #expect(
                eventually {
                    content = try? FileManager.default.contentsOfDirectory(atPath: staged).first
                    return content != nil && !records.requests().isEmpty
                })
            let path = "\(staged)/\(try #require(content))"
            if let size {
                #expect(unsafe truncate(path, size) == 0)
            } else {
                try FileManager.default.removeItem(atPath: path)
            }
            a.resume()
            let (status, text) = try call.finish()
            #expect(status == (size == nil ? 66 : 1), "\(text)")
            #expect(text.contains(size == nil ? "\(Errno.noSuchEntry)" : "\(Errno.tooLarge)"), "\(text)")
        }
        #expect(agree(a, b) { $0.isEmpty })
    }

    @Test(.tags(.ownEtcd)) func `where the answer does not come, the fate can be asked for later`() throws {
        etcd.stop()
        let (status, text) = try a.cluster(
            "write", a.path + "/", "n", "--timeout", "300ms", input: "1")
        etcd.resume()
        let operation = text.split { !$0.isHexDigit }.first { $0.count == 32 }.map(String.init)
        if status == 76 {
            let name = try #require(operation)
            #expect(
                try eventually {
                    let (_, fate) = try RunningProcess(
                        ["group-cluster", "result", a.path + "/", name], input: ""
                    ).finish()
                    return fate.hasPrefix("accepted") || fate.hasPrefix("unavailable")
                })
        } else {
            #expect(status == 69, "\(text)")
        }
        let other = String(repeating: "a", count: 32)
        let (unknown, fate) = try RunningProcess(["group-cluster", "result", a.path + "/", other], input: "").finish()
        #expect(unknown == 66 && fate == "forgotten\n")
        let json = try a.cluster("result", a.path + "/", other, "--json")
        #expect(
            json.status == 66 && json.text == #"{"operation":"\#(other)","outcome":"forgotten","reason":null}"# + "\n")
        #expect(agree(a, b))
    }

    @Test func `one machine at a time changes an item under the cluster's lock`() throws {
        #expect(try a.cluster("write", a.path + "/", "n", input: "0\n").status == 0)
        #expect(agree(a, b) { $0.count == 1 })
        let words = { (machine: MachineUnderTest) in
            [
                "sh", "-c",
                "for i in 1 2 3 4 5; do group-cluster update \"$0/\" n --locked -- awk '{ print $1 + 1 }' || exit; done",
                machine.path,
            ]
        }
        let path = "\(BuildDirectory.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let loops = try [a, b].map { try RunningProcess(words($0), input: "", environment: ["PATH": path]) }
        for loop in loops {
            let (status, text) = try loop.finish(within: .seconds(60))
            #expect(status == 0, "\(text)")
        }
        #expect(agree(a, b) { $0["n"]?.hasSuffix("10\n") == true })
    }

    @Test func `a change under a lock that was lost meanwhile is refused`() throws {
        #expect(try a.cluster("write", a.path, "n", input: "first").status == 0)
        #expect(agree(a, b) { $0.count == 1 })
        let directory = try TemporaryDirectory()
        let pipe = "\(directory.path)/pipe"
        #expect(try RunningProcess(["mkfifo", pipe], input: "").finish().status == 0)
        let script = "exec 3<'\(pipe)'; cat >/dev/null; touch '\(directory.path)/begun'; read line <&3; echo late"
        let late = try RunningProcess(["group-cluster", "update", a.path, "n", "--locked", "--", "sh", "-c", script])
        late.closeInput()
        // Opened for reading and writing, it waits for no other process.
        let gate = try #require(FileHandle(forUpdatingAtPath: pipe))
        #expect(eventually { FileManager.default.fileExists(atPath: "\(directory.path)/begun") })
        try a.endSession(in: etcd)
        // The content that it has read still stands: only the lock tells that another holder may be at work.
        try gate.write(contentsOf: Data("go\n".utf8))
        let (status, text) = try late.finish()
        #expect(status == 4, "\(text)")
        #expect(agree(a, b) { $0 == ["n": "420 first"] })
        #expect(try b.cluster("update", b.path, "n", "--locked", "--", "echo", "next").status == 0)
        #expect(agree(a, b) { $0["n"]?.hasSuffix("next\n") == true })
    }

    // MARK: Suites and channels

    @Test(.tags(.ownEtcd)) func `a read of the latest has what the cluster has accepted from another machine`() throws {
        for number in 1...20 {
            let write = try a.cluster("write", a.path, "n", input: "\(number)")
            #expect(write.status == 0)
            let read = try b.cluster("read", b.path, "n")
            #expect(read.status == 0 && read.text == "\(number)")
        }
        // What this machine had not got when the read began is awaited.
        b.stop()
        #expect(try a.cluster("write", a.path, "n", input: "late").status == 0)
        let read = try RunningProcess(["group-cluster", "read", b.path, "n"], input: "")
        b.resume()
        #expect(try read.finish().text == "late")
        etcd.stop()
        let late = try b.cluster("read", b.path, "n", "--timeout", "1")
        etcd.resume()
        #expect([69, 75].contains(late.status), "\(late)")
    }

    @Test func `a strict move replaces an item, and a request moves one out of the way`() throws {
        let cluster = try a.temporary.open().cluster(purpose: "test").blocking
        try cluster.write(bytes: [1], to: "p")
        try cluster.write(bytes: [2], to: "q")
        try cluster.move("p", to: "q", replacing: true)
        try cluster.coordinate(.writing("q"), .writing("old")) { access in
            try access.move("q", to: "old")
            try access.write(bytes: [3], to: "q")
        }
        #expect(agree(a, b) { $0.count == 2 })
        #expect(b.temporary.content(of: "old") == "\u{1}")
        #expect(b.temporary.content(of: "q") == "\u{3}")
        #expect(try b.cluster("mkdir", b.path + "/", "d").status == 0)
        #expect(try a.cluster("mkdir", a.path + "/", "d").status == 0)
        #expect(agree(a, b) { $0["d"] == "directory" })
        // What is sent first does not make the other one a conflict.
        try cluster.transaction(.writing("d"), .writing("d/x")) { access in
            _ = try access.createDirectory("d")
            try access.write(bytes: [1], to: "d/x")
            #expect(try b.cluster("mkdir", b.path + "/", "d").status == 0)
        }
        #expect(agree(a, b) { $0["d/x"] != nil })
    }

    @Test func `the lock of a process that is killed is given back`() throws {
        #expect(try a.cluster("write", a.path + "/", "n", input: "1").status == 0)
        let holder = try RunningProcess(
            ["group-cluster", "update", a.path + "/", "n", "--locked", "--", "sh", "-c", "echo begun >&2; sleep 60"],
            input: "")
        try holder.waitForText { $0.contains("begun") }
        // Nothing is to be said any more, which would wake the program.
        let isSettled = try eventually { try a.isSettled(with: b) && a.recorded()?.index == 1 }
        #expect(isSettled)
        holder.kill()
        let (status, text) = try b.cluster(
            "update", b.path + "/", "n", "--locked", "--timeout", "20", "--", "cat")
        #expect(status == 0, "\(text)")
    }

    @Test func `a directory that another machine puts something into is not removed`() throws {
        #expect(try a.cluster("write", a.path + "/", "d/x", input: "1").status == 0)
        #expect(agree(a, b) { $0["d/x"] != nil })
        // The listing of `a` is made, and `b` is first.
        a.stop()
        let removal = try RunningProcess(
            ["group-cluster", "remove", a.path + "/", "d", "--recursive", "--timeout", "40"], input: "")
        let records = try ClusterRecords(a.temporary.open())
        #expect(eventually { !records.requests().isEmpty })
        #expect(try b.cluster("write", b.path + "/", "d/new", input: "2").status == 0)
        a.resume()
        let (status, text) = try removal.finish()
        #expect(status == 4, "\(text)")
        #expect(agree(a, b) { $0["d/x"] != nil && $0["d/new"] != nil })
    }
}
#endif
