#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import TestSupport
import Testing

/// What etcd refuses until a person has changed something.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `A machine that etcd refuses` {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private static let root = ["--user", "root:secret"]
    private static let prefix = "/group-container/shared/"

    /// Starts an etcd with the users `machine`, who may do everything below the container's name, `reader`, who may
    /// only read there, and `nobody`, who has no role. The password of all is `word`.
    private func etcdWithUsers() throws -> EtcdServer {
        let etcd = try EtcdServer()
        var commands = [
            ["user", "add", "root:secret"], ["role", "add", "root"], ["user", "grant-role", "root", "root"],
        ]
        for (user, right) in [("machine", "readwrite"), ("reader", "read"), ("nobody", "")] {
            commands.append(["user", "add", "\(user):word"])
            if right.isEmpty { continue }
            commands += [
                ["role", "add", user], ["role", "grant-permission", user, right, "--prefix=true", Self.prefix],
                ["user", "grant-role", user, user],
            ]
        }
        for words in commands + [["auth", "enable"]] { try etcd.control(words) }
        return etcd
    }

    private func put(password: String) throws -> String {
        try directory.put(password, at: "password", mode: 0o600)
        return "\(directory.path)/password"
    }

    private func machine(_ etcd: EtcdServer, _ user: String, password: String = "word") throws -> MachineUnderTest {
        let file = try put(password: password)
        return try MachineUnderTest("alpha", etcd: etcd.endpoints, ["--user", user, "--password-file", file])
    }

    /// Expects that the program ends at once with this status and text, and that the status and the doctor have the
    /// text.
    private func expectEnd(
        of machine: MachineUnderTest, _ status: Int32, _ texts: String...,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let end = try machine.finish()
        #expect(end.status == status, "\(end)", sourceLocation: location)
        let (found, shown) = try machine.cluster("status", machine.path + "/")
        let doctor = try machine.findings()
        #expect(found == 69, "\(shown)", sourceLocation: location)
        #expect(doctor.contains("clusterRefused"), "\(doctor)", sourceLocation: location)
        for text in texts {
            for place in [end.text, shown, doctor] {
                #expect(place.contains(text), "\(text) is not in: \(place)", sourceLocation: location)
            }
        }
    }

    @Test func `a wrong password ends the program with 77, and names the endpoint, the user and the file`() throws {
        let etcd = try etcdWithUsers()
        let machine = try machine(etcd, "machine", password: "wrong")
        try machine.begin()
        try expectEnd(of: machine, 77, etcd.endpoint, "'machine'", "\(directory.path)/password")
        // The options are kept, and the file is read anew.
        _ = try put(password: "word")
        try machine.start()
        try machine.write("1", to: "f")
        #expect(try eventually { try machine.recorded()?.index == 1 })
        #expect(try !machine.findings().contains("clusterRefused"))
        try machine.end()
    }

    @Test func `no user where etcd has users, and a user without a password file, end the program with 77`() throws {
        let etcd = try etcdWithUsers()
        let stranger = try MachineUnderTest("alpha", etcd: etcd.endpoints)
        try stranger.begin()
        try expectEnd(of: stranger, 77, etcd.endpoint, "--user")
        let careless = try MachineUnderTest("beta", etcd: etcd.endpoints, ["--user", "machine"])
        try careless.begin()
        try expectEnd(of: careless, 77, "'machine'", "--password-file")
    }

    @Test(arguments: ["reader", "nobody"])
    func `a user who may not write, or not read, is refused before anything is to be sent`(user: String) throws {
        let etcd = try etcdWithUsers()
        let machine = try machine(etcd, user)
        try machine.begin()
        try expectEnd(of: machine, 77, etcd.endpoint, "'\(user)'", "readwrite \(Self.prefix)")
    }

    @Test func `a program goes on when its password, which was changed, is in the file`() throws {
        let etcd = try etcdWithUsers()
        let machine = try machine(etcd, "machine")
        try machine.start()
        _ = try etcd.controlWithInput(Self.root + ["user", "passwd", "machine", "--interactive=false"], "changed\n")
        try machine.waitForText("'machine'")
        #expect(try eventually { try machine.cluster("status", machine.path + "/").status == 69 })
        let status = try machine.status()
        #expect(status["connected"] as? Bool == false)
        #expect((status["failure"] as? String)?.contains(etcd.endpoint) == true, "\(status)")
        #expect((status["remedy"] as? String)?.contains("'machine'") == true, "\(status)")
        #expect(try machine.findings().contains("clusterRefused"))
        try machine.write("1", to: "f")
        _ = try put(password: "changed")
        #expect(try eventually { try machine.recorded()?.index == 1 })
        #expect(try machine.cluster("status", machine.path + "/").status == 0)
        #expect(try machine.status()["remedy"] is NSNull)
        try machine.end()
    }

    @Test func `a program whose user may no longer write is not connected, and goes on when the user may`() throws {
        let etcd = try etcdWithUsers()
        let machine = try machine(etcd, "machine")
        try machine.start()
        let role = Self.root + ["role"]
        try etcd.control(role + ["revoke-permission", "machine", Self.prefix, "--prefix"])
        try etcd.control(role + ["grant-permission", "machine", "read", "--prefix=true", Self.prefix])
        try machine.write("1", to: "f")
        #expect(try eventually { try machine.cluster("status", machine.path + "/").status == 69 })
        #expect(try machine.status()["connected"] as? Bool == false)
        #expect(try machine.findings().contains("clusterRefused"))
        try etcd.control(role + ["grant-permission", "machine", "readwrite", "--prefix=true", Self.prefix])
        #expect(try eventually { try machine.recorded()?.index == 1 })
        #expect(try machine.cluster("status", machine.path + "/").status == 0)
        try machine.end()
    }

    @Test func `an etcd without its JSON gateway ends the program with 69`() throws {
        var options = EtcdOptions()
        options.arguments = ["--enable-grpc-gateway=false"]
        let etcd = try EtcdServer(options)
        let machine = try MachineUnderTest("alpha", etcd: etcd.endpoints)
        try machine.begin()
        try expectEnd(of: machine, 69, etcd.endpoint, "gateway")
    }

    @Test(.enabled(if: EtcdAuthority.isPossible, "needs openssl"))
    func `an authority's file that is missing, or is another's, ends the program with 77`() throws {
        var options = EtcdOptions()
        options.authority = try EtcdAuthority()
        let etcd = try EtcdServer(options)
        let machine = try MachineUnderTest("alpha", etcd: etcd.endpoints, ["--authority", "/missing.pem"])
        try machine.begin()
        try expectEnd(of: machine, 77, etcd.endpoint, "/missing.pem", "--authority")
        let stranger = try EtcdAuthority()
        let other = try MachineUnderTest("beta", etcd: etcd.endpoints, ["--authority", stranger.file])
        try other.begin()
        try expectEnd(of: other, 77, etcd.endpoint, "--authority")
    }
}
#endif
