#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import TestSupport
import Testing

/// `group-cluster verify`.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Comparing a machine with its cluster` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    private func verify(_ machine: MachineUnderTest, _ options: String...) throws -> (status: Int32, text: String) {
        try RunningProcess(["group-cluster", "verify", machine.path + "/"] + options, input: "").finish()
    }

    @Test func `machines that have the same are equal, whatever is ignored or not mirrored`() throws {
        try a.write("1", to: "d/one")
        try a.write("*.o\n", to: ".groupignore")
        #expect(agree(a, b) { $0.count == 3 })
        for machine in [a, b] {
            try machine.write("\(machine.host)", to: "d/only.o")
            try FileManager.default.createSymbolicLink(
                atPath: "\(machine.path)/l\(machine.host)", withDestinationPath: "x")
        }
        let suite = try GroupDefaults(a.temporary.open(), suite: "s")
        try suite.set(.integer(3), forKey: "k")
        try suite.set("text", forKey: "t")
        try GroupChannel(b.temporary.open(), name: "c").post(bytes: [1])
        let channels = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c") }
        #expect(try eventually { try channels.allSatisfy { try $0.relayedNumber() == 1 } })
        for machine in [a, b] {
            let (status, text) = try verify(machine)
            #expect(status == 0, "\(text)")
            #expect(text.hasPrefix("equal: 5 items, 2 keys, 1 channel; different: 0; at index "), "\(text)")
        }
        let (status, text) = try verify(a, "--json")
        #expect(status == 0 && text.contains(#""equal":true"#), "\(text)")
    }

    @Test func `what is in the way of an item is named with its reason, and the program has to run`() throws {
        #expect(try RunningProcess(["mkfifo", "\(b.path)/f"], input: "").finish().status == 0)
        try a.write("1", to: "f")
        #expect(try eventually { try b.recorded()?.toApply == 1 })
        let (status, text) = try verify(b, "--timeout", "1")
        #expect(status == 75, "\(text)")
        #expect(
            text.contains("item f: here nothing, in the cluster a file, mode 644, SHA-256 6b86b273ff34fce1"), "\(text)")
        #expect(text.contains("it is neither a file nor a directory nor a symbolic link"), "\(text)")
        try b.end()
        #expect(try verify(b).status == 69)
        #expect(
            try RunningProcess(["group-cluster", "verify", TemporaryContainer().path], input: "").finish().status == 66)
    }

    @Test func `a message with another content is found, and is repaired`() throws {
        let channels = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c") }
        let listener = try channels[1].listener(named: "l")
        try channels[0].post(bytes: [1])
        #expect(try listener.next(timeout: patience)?.bytes == [1])
        #expect(try eventually { try b.isSettled(with: a) })
        try b.end()
        #expect(try channels[1].appendRelayed(number: 2, [9], purpose: "forged"))
        try channels[0].post(bytes: [2])
        try channels[0].post(bytes: [3])
        try b.start()
        #expect(try eventually { try b.isSettled(with: a) && channels[1].relayedNumber() == 3 })
        #expect(try verify(a).status == 0)
        let (status, text) = try verify(b)
        #expect(status == 1, "\(text)")
        #expect(text.contains("channel c, message 2: here 1 bytes, SHA-256 2b4c342f5433ebe5"), "\(text)")
        #expect(text.contains("; different: 1; "), "\(text)")
        #expect(try verify(b, "--repair").status == 0)
    }

    @Test(.tags(.ownEtcd)) func `where etcd does not answer, the error names it`() throws {
        etcd.stop()
        let (status, text) = try verify(a, "--timeout", "1")
        #expect(status == 69, "\(text)")
        #expect(text.contains("or etcd (\(etcd.endpoints[0])) has not answered it"), "\(text)")
        etcd.resume()
        etcd.kill()
        #expect(try eventually { try a.recorded()?.isConnected == false })
        let (other, next) = try verify(a, "--timeout", "1")
        #expect(other == 69, "\(next)")
        #expect(next.contains("etcd") && next.contains(etcd.endpoints[0]), "\(next)")
    }

    @Test func `a machine that has diverged is found, and repaired without a loss`() throws {
        try a.write("aaaa", to: "f")
        try a.write("same", to: "g")
        #expect(agree(a, b) { $0.count == 2 })
        #expect(try eventually { try b.isSettled(with: a) })
        try b.end()
        // As if the program had taken the content for that of the cluster.
        let script = """
            import hashlib, os, sqlite3, sys
            with open(sys.argv[1] + "/f", "r+") as file: file.write("bbbb")
            old, new = (hashlib.sha256(text).digest() for text in (b"aaaa", b"bbbb"))
            state = sqlite3.connect(sys.argv[1] + "/.group/cluster/state")
            rows = state.execute("SELECT space, key, value FROM state").fetchall()
            for space, key, value in rows:
                if old in value:
                    state.execute("UPDATE state SET value = ? WHERE space = ? AND key = ?",
                                  (value.replace(old, new), space, key))
            state.commit()
            """
        let (made, printed) = try RunningProcess(["python3", "-c", script, b.path], input: "").finish()
        #expect(made == 0, "\(printed)")
        try b.start()
        #expect(try eventually { try b.isSettled(with: a) })
        #expect(a.tree["f"]?.hasSuffix("aaaa") == true && b.tree["f"]?.hasSuffix("bbbb") == true)
        #expect(try verify(a).status == 0)
        let (status, text) = try verify(b)
        #expect(status == 1, "\(text)")
        #expect(text.contains("item f: here a file") && text.contains("; different: 1; "), "\(text)")
        let repaired = try verify(b, "--repair")
        #expect(repaired.status == 0, "\(repaired.text)")
        #expect(repaired.text.contains("joined anew"), "\(repaired.text)")
        #expect(agree(a, b) { $0.count == 3 && $0["f"]?.hasSuffix("aaaa") == true })
        #expect(a.contents == ["aaaa", "bbbb", "same"])
        #expect(try a.conflicts().count == 1)
        for machine in [a, b] { #expect(try verify(machine).status == 0) }
    }
}
#endif
