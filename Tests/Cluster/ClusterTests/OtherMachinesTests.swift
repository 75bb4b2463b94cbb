#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import TestSupport
import Testing

/// What a machine knows of the others.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `The other machines in the status` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    /// The machines that one lists, by their hosts.
    private func listed(_ machine: MachineUnderTest) throws -> [String: [String: Any]] {
        let machines = try machine.status()["machines"] as? [[String: Any]] ?? []
        return Dictionary(machines.map { ($0["host"] as? String ?? "", $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// Waits for lists of machines. The status is shown, by a program, only if it may have changed.
    private func eventuallyListed(by machines: MachineUnderTest..., isTrue: () throws -> Bool) throws -> Bool {
        var seen: [String] = []
        return try eventually {
            let now = try machines.map { machine in
                let status = try machine.recorded()
                return "\(status?.count ?? 0) \(status?.machines ?? [])"
            }
            if now == seen { return false }
            seen = now
            return try isTrue()
        }
    }

    private var notes: String { "\(a.keys)i/" }

    @Test func `a machine that runs, one that has ended and one that has left are listed as that`() throws {
        try a.write("1", to: "one")
        #expect(agree(a, b) { $0.count == 1 })
        #expect(
            try eventuallyListed(by: a) {
                let beta = try listed(a)["beta"]
                return beta?["running"] as? Bool == true && beta?["behind"] as? Int == 0 && beta?["index"] as? Int == 1
            })
        #expect(try listed(a)["alpha"] == nil)
        #expect(try a.cluster("status", a.path + "/").text.contains("runs, 0 entries behind"))
        try b.end()
        try a.write("2", to: "two")
        #expect(
            try eventuallyListed(by: a) {
                let beta = try listed(a)["beta"]
                return beta?["running"] as? Bool == false && beta?["behind"] as? Int == 1
            })
        let beta = try #require(try listed(a)["beta"])
        let formatter = ISO8601DateFormatter()
        let seen = try #require((beta["seenAt"] as? String).flatMap { formatter.date(from: $0) })
        #expect(abs(seen.timeIntervalSinceNow) < 120)
        let (_, text) = try a.cluster("status", a.path + "/")
        #expect(text.contains("does not run, 1 entries behind, last seen 2"), "\(text)")
        // It was seen by this machine, also after its own program was started anew.
        try a.end()
        try a.start()
        #expect(try eventuallyListed(by: a) { try listed(a)["beta"]?["seenAt"] as? String != nil })
        #expect(try b.cluster("leave", b.path + "/").status == 0)
        #expect(try eventuallyListed(by: a) { try listed(a)["beta"] == nil && !listed(a).keys.contains("beta") })
        #expect(try etcd.control("get", notes, "--prefix", "--keys-only").split(separator: "\n").count == 1)
    }

    @Test func `a machine that was killed is listed with its time`() throws {
        #expect(try eventuallyListed(by: a) { try listed(a)["beta"]?["index"] as? Int == 0 })
        b.kill()
        #expect(try eventuallyListed(by: a) { try listed(a)["beta"]?["running"] as? Bool == false })
        #expect(try listed(a)["beta"]?["seenAt"] as? String != nil)
    }

    @Test func `a machine of an earlier version, and keys that no machine has written, do no harm`() throws {
        let sessions = "\(a.keys)n/"
        let name = String(repeating: "ab", count: 16)
        let other = String(repeating: "cd", count: 16)
        for (key, value) in [
            (sessions + name, "an older host"), (sessions + "rubbish", "x"), (notes + other, "rubbish"),
            (notes + String(repeating: "ef", count: 16), "18446744073709551615 253402300799 far \u{1b}[2J ahead"),
            (notes + String(repeating: "0f", count: 16), "1 99999999999999999 late"),
        ] {
            try etcd.control("put", key, value)
        }
        #expect(try eventuallyListed(by: a) { try listed(a)["an older host"]?["running"] as? Bool == true })
        let machines = try listed(a)
        #expect(machines["an older host"]?["index"] is NSNull)
        #expect(machines["far \u{1b}[2J ahead"]?["behind"] as? Int == 0)
        #expect(machines.count == 3, "\(machines)")
        let (status, text) = try a.cluster("status", a.path + "/")
        #expect(status == 0 && !text.contains("\u{1b}"), "\(text)")
    }

    @Test(.tags(.ownEtcd)) func `a cluster at rest has no write of a machine that notes its index`() throws {
        #expect(
            try eventuallyListed(by: a, b) {
                try listed(a)["beta"]?["index"] as? Int == 0 && listed(b)["alpha"]?["index"] as? Int == 0
            })
        let revision = try etcd.revision()
        // The list is read again meanwhile.
        b.kill()
        #expect(try eventuallyListed(by: a) { try listed(a)["beta"]?["running"] as? Bool == false })
        // The end of the session is the only change.
        #expect(try etcd.revision() == revision + 1)
    }

    @Test(.tags(.ownEtcd)) func `leave says so where etcd cannot be reached, and forgets the cluster`() throws {
        try b.end()
        etcd.kill()
        let (status, text) = try b.cluster("leave", b.path + "/")
        #expect(status == 0 && text.contains("go on listing this one"), "\(status) \(text)")
        #expect(try b.cluster("status", b.path + "/").status == 66)
    }
}
#endif
