#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `A cluster that is not trusted` {
    @Test(.enabled(if: EtcdAuthority.isPossible, "needs openssl"))
    func `machines with the authority's certificate and a password take part`() throws {
        var options = EtcdOptions()
        options.authority = try EtcdAuthority()
        let etcd = try EtcdServer(options)
        for words in [
            ["user", "add", "root:secret"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
            ["user", "add", "machine:word"], ["role", "add", "shared"],
            ["role", "grant-permission", "shared", "readwrite", "--prefix=true", "/group-container/shared/"],
            ["user", "grant-role", "machine", "shared"], ["auth", "enable"],
        ] {
            _ = try etcd.control(words)
        }
        let directory = try TemporaryDirectory()
        let password = "\(directory.path)/password"
        #expect(
            FileManager.default.createFile(
                atPath: password, contents: Data("word\n".utf8), attributes: [.posixPermissions: 0o600]))
        let access = [
            "--user", "machine", "--password-file", password, "--authority", try #require(options.authority?.file),
        ]
        let a = try MachineUnderTest("alpha", etcd: etcd.endpoints, access)
        let b = try MachineUnderTest("beta", etcd: etcd.endpoints, access)
        try a.start()
        try b.start()
        try a.write("1", to: "f")
        #expect(agree(a, b) { $0.count == 1 })
        // Without the password nothing is to be had.
        let c = try MachineUnderTest("gamma", etcd: etcd.endpoints, Array(access.suffix(2)))
        try c.begin()
        #expect(try eventually { try c.recorded()?.failure != nil })
        #expect(c.tree.isEmpty)
    }

    @Test func `entries and contents that no machine has written harm nothing`() throws {
        let etcd = try EtcdServer()
        let a = try MachineUnderTest("alpha", etcd: etcd.endpoints)
        try a.start()
        try a.write("1", to: "f")
        // A file that is put at its place by a rename may have been seen, and sent, before that.
        #expect(try eventually { try a.recorded()?.index ?? 0 >= 1 && a.recorded()?.toSend == 0 })
        let count = try a.status()["index"] as? Int ?? 0
        // An entry of a machine that does not exist: bytes that are no entry, put as an entry is.
        let machine = String(repeating: "ab", count: 16)
        let prefix = "/group-container/shared/o/"
        let text = """

            put \(prefix)m/\(machine) "1"
            put \(prefix)e/\(machine)/0000000000000001 "\u{1}rubbish"
            put \(prefix)t "rubbish"



            """
        let (status, output) = try RunningProcess(
            ["etcdctl", "--endpoints", etcd.endpoint, "txn"], input: text, environment: ["ETCDCTL_API": "3"]
        ).finish()
        #expect(status == 0, "\(output)")
        try a.write("2", to: "g")
        #expect(try eventually { try a.recorded()?.index ?? 0 >= count + 2 })
        let b = try MachineUnderTest("beta", etcd: etcd.endpoints)
        try b.start()
        #expect(agree(a, b) { $0.count == 2 })
    }
}
#endif
