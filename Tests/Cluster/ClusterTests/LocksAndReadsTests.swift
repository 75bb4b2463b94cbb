#if Curl && SQLite
import EtcdSupport
import Foundation
import TestSupport
import Testing

/// What a machine asks of etcd without a change: locks to their ends, the last index, and what it reports.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Locks and reads of two machines` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    @Test(arguments: [(0, 4), (7, 7)] as [(own: Int32, status: Int32)])
    func `a lock that was lost while its command ran is an error`(own: Int32, status: Int32) throws {
        #expect(try a.cluster("lock", a.path, "kept", "--", "true").status == 0)
        let held = try RunningProcess(
            ["group-cluster", "lock", a.path, "n", "--", "sh", "-c", "echo begun >&2; cat >&2; exit \(own)"])
        try held.waitForText { $0.contains("begun") }
        try a.endSession(in: etcd)
        // Another machine has the lock in between.
        #expect(try b.cluster("lock", b.path, "n", "--", "true").status == 0)
        held.closeInput()
        let (found, text) = try held.finish()
        #expect(found == status, "\(text)")
        #expect(text.contains("the lock was lost meanwhile"), "\(text)")
    }

    @Test(.tags(.ownEtcd)) func `a lock of which etcd does not say that it was held to the end is an error`() throws {
        let held = try RunningProcess(
            ["group-cluster", "lock", a.path, "n", "--timeout", "1", "--", "sh", "-c", "echo begun >&2; cat >&2"])
        try held.waitForText { $0.contains("begun") }
        etcd.stop()
        held.closeInput()
        let (status, text) = try held.finish()
        etcd.resume()
        #expect(status == 69, "\(text)")
    }

    @Test(.tags(.ownEtcd)) func `a read of the latest writes nothing to etcd`() throws {
        func revision() throws -> Int {
            let header = try etcd.control("get", "none", "-w", "json")
            let number = try #require(header.split(separator: "\"revision\":").last?.prefix { $0.isNumber })
            return try #require(Int(number))
        }
        #expect(try a.cluster("write", a.path, "n", input: "1").status == 0)
        let before = try revision()
        for _ in 1...20 { #expect(try b.cluster("read", b.path, "n").text == "1") }
        // Each machine may have noted meanwhile how far it is.
        #expect(try revision() <= before + 2)
    }

    @Test func `a file that a user has named like a conflict copy is none`() throws {
        let name = "n (conflict \(String(repeating: "ab", count: 16))).txt"
        try a.write("1", to: name)
        try a.write("2", to: "d/\(name)")
        #expect(agree(a, b) { $0.count == 3 })
        #expect(try eventually { try a.isSettled(with: b) && b.isSettled(with: a) })
        #expect(try a.conflicts() == [] && b.conflicts() == [])
    }
}
#endif
