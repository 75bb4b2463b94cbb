#if Curl
import EtcdSupport
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

/// Users, roles, passwords and tokens.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"), .tags(.etcd))
struct `A user of etcd` {
    let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func configuration(
        _ server: EtcdServer, _ user: String? = "app", password: String = "app-\"password\"\nsecond line",
        mode: UInt32 = 0o600
    ) throws -> EtcdConfiguration {
        var configuration = try EtcdConfiguration.patient(server.endpoints)
        configuration.user = user
        try directory.put(password, at: "password", mode: mode)
        configuration.passwordFile = "\(directory.path)/password"
        return configuration
    }

    @Test func `a user may do what the role allows, and nothing else`() throws {
        let server = try EtcdServer.withUsers()
        let client = EtcdClient(try configuration(server))
        let revision = try client.transaction(then: [.put(bytes("app/a"), [1])]).revision
        #expect(try client.range(.prefix(bytes("app/"))).keyValues.count == 1)
        let refused = [
            failure { () throws(EtcdFailure) in try client.range(.key(bytes("other"))) },
            failure { () throws(EtcdFailure) in try client.range(.prefix([])) },
            failure { () throws(EtcdFailure) in
                try client.transaction(then: [.put(bytes("app/b"), []), .put(bytes("other"), [])])
            },
        ]
        for failure in refused {
            #expect(failure?.isDenied == true, "\(String(describing: failure))")
            #expect(failure?.isSurelyNotWritten == true)
        }
        let lease = try client.grantLease(seconds: 60)
        #expect(try client.keepLeaseAlive(lease) == 60)
        var events = 0
        try EtcdWatch(configuration(server), prefix: bytes("app/"), from: revision).run { response in
            events += response.events.count
            return events == 0
        }
        let other = EtcdWatch(try configuration(server), prefix: bytes("other"), from: 0)
        let watched = failure { () throws(EtcdFailure) in try other.run { _ in false } }
        #expect(watched?.isDenied == true, "\(String(describing: watched))")
    }

    @Test func `a wrong password, an unknown user, and no user are denied`() throws {
        let server = try EtcdServer.withUsers()
        for (user, password) in [("app", "wrong-secret"), ("unknown", "app-secret"), (nil, "secret")] {
            let client = EtcdClient(try configuration(server, user, password: password))
            let found = failure { () throws(EtcdFailure) in try client.transaction(then: [.put(bytes("app/a"), [])]) }
            #expect(found?.isDenied == true, "\(String(describing: found))")
            #expect(!"\(String(describing: found))".contains("secret"))
        }
    }

    @Test(arguments: [0o640, 0o604, 0o660] as [UInt32])
    func `a password file that others may open is refused`(mode: UInt32) throws {
        let server = try FakeServer("unauthenticated")
        var configuration = try EtcdConfiguration.patient([server.endpoint])
        configuration.user = "app"
        try directory.put("app-password", at: "password", mode: mode)
        configuration.passwordFile = "\(directory.path)/password"
        let client = EtcdClient(configuration)
        let found = failure { () throws(EtcdFailure) in try client.range(.key(bytes("app/a"))) }
        #expect(found?.isDenied == true, "\(String(describing: found))")
        #expect(server.requests.isEmpty)
    }

    @Test func `a missing, empty or odd password file is denied`() throws {
        var configuration = try EtcdConfiguration.patient(["http://127.0.0.1:9"])
        configuration.user = "app"
        func found() -> EtcdFailure? {
            let client = EtcdClient(configuration)
            return failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
        }
        #expect(found()?.isDenied == true)
        configuration.passwordFile = "\(directory.path)/missing"
        #expect(found()?.isDenied == true)
        try directory.run("mkfifo", "-m", "600", "fifo")
        configuration.passwordFile = "\(directory.path)/fifo"
        #expect(found()?.isDenied == true)
        for (name, content) in [("empty", ""), ("blank", "\nsecret\n"), ("long", String(repeating: "x", count: 5_000))]
        {
            try directory.put(content, at: name)
            configuration.passwordFile = "\(directory.path)/\(name)"
            #expect(found()?.isDenied == true)
        }
    }

    @Test func `a token that etcd has forgotten in a restart is renewed, for a write, too`() throws {
        let server = try EtcdServer.withUsers()
        let client = EtcdClient(try configuration(server))
        let revision = try client.transaction(then: [.put(bytes("app/a"), [1])]).revision
        try server.restart()
        #expect(try client.transaction(then: [.put(bytes("app/a"), [2])]).revision == revision + 1)
        try server.restart()
        #expect(try client.range(.key(bytes("app/a"))).keyValues.first?.value == [2])
    }

    @Test func `a token of a log that was longer before etcd was restored is renewed, as etcd answers no call with it`()
        throws
    {
        let server = try EtcdServer.withUsers()
        let file = "\(server.directory.path)/backup"
        try server.control("--user", "root:root-password", "snapshot", "save", file)
        let writer = EtcdClient(try configuration(server))
        for number in 1...40 { try writer.transaction(then: [.put(bytes("app/a"), [UInt8(number)])]) }
        // The token of this client names an index of the log beyond those 40.
        var hasty = try configuration(server)
        hasty.requestLimit = .seconds(1)
        let client = EtcdClient(hasty)
        #expect(try client.range(.key(bytes("app/a"))).keyValues.count == 1)
        try server.restore(from: file, token: "another")
        let found = failure { () throws(EtcdFailure) in try client.transaction(then: [.put(bytes("app/b"), [])]) }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
        #expect(try client.range(.key(bytes("app/a"))).keyValues.isEmpty)
        _ = try client.transaction(then: [.put(bytes("app/b"), [])])
    }

    @Test func `a token that has ended is renewed`() throws {
        var options = EtcdOptions()
        options.arguments = ["--auth-token-ttl", "1"]
        let server = try EtcdServer.withUsers(options)
        let client = EtcdClient(try configuration(server))
        let idle = EtcdClient(try configuration(server))
        let lease = try client.grantLease(seconds: 4)
        _ = try idle.transaction(then: [.put(bytes("app/l"), [1], lease: lease)])
        // The end of the lease is a clock.
        #expect(try eventually { try client.range(.key(bytes("app/l"))).keyValues.isEmpty })
        _ = try idle.transaction(then: [.put(bytes("app/a"), [1])])
    }

    @Test func `a change of the roles holds for a token that is in use`() throws {
        let server = try EtcdServer.withUsers()
        let client = EtcdClient(try configuration(server))
        _ = try client.range(.key(bytes("app/a")))
        try server.grantMore()
        _ = try client.transaction(then: [.put(bytes("more/a"), [1])])
    }

    @Test func `a user where etcd has none works, before and after there are users`() throws {
        let server = try EtcdServer()
        let client = EtcdClient(try configuration(server, "root", password: "root-password"))
        _ = try client.transaction(then: [.put(bytes("a"), [1])])
        try server.control("user", "add", "root:root-password")
        try server.control("user", "grant-role", "root", "root")
        try server.control("auth", "enable")
        #expect(try client.range(.key(bytes("a"))).keyValues.count == 1)
        try server.control("--user", "root:root-password", "auth", "disable")
        #expect(try client.range(.key(bytes("a"))).keyValues.count == 1)
    }

    @Test func `a token is renewed once a call, and is in no error`() throws {
        for how in ["unauthenticated", "bad-token", "authenticated-closed"] {
            let server = try FakeServer(how)
            var configuration = try EtcdConfiguration.patient([server.endpoint])
            configuration.user = "app"
            try directory.put("secret-password", at: "password")
            configuration.passwordFile = "\(directory.path)/password"
            let client = EtcdClient(configuration)
            let found = failure { () throws(EtcdFailure) in try client.transaction(then: []) }
            #expect(!"\(String(describing: found))".contains("secret"))
            switch how {
            case "unauthenticated":
                #expect(found?.isDenied == true, "\(String(describing: found))")
                try server.waitForRequests(4)
                #expect(
                    server.requests == [
                        "/v3/auth/authenticate", "/v3/kv/txn", "/v3/auth/authenticate", "/v3/kv/txn",
                    ])
            case "bad-token":
                #expect(found?.isUnreachable == true, "\(String(describing: found))")
                try server.waitForRequests(1)
                #expect(server.requests == ["/v3/auth/authenticate"])
            default: #expect(found?.isNoAnswer == true, "\(String(describing: found))")
            }
        }
    }
}

/// Certificates.
@Suite(
    .tags(.etcd),
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .enabled(if: EtcdAuthority.isPossible, "needs openssl"))
struct `An etcd with a certificate` {
    private func server(_ authority: EtcdAuthority) throws -> EtcdServer {
        var options = EtcdOptions()
        options.authority = authority
        return try EtcdServer(options)
    }

    @Test func `a client that trusts the authority reads, writes and watches`() throws {
        let authority = try EtcdAuthority()
        let server = try server(authority)
        var configuration = try EtcdConfiguration.patient(server.endpoints)
        configuration.authorityFile = authority.file
        let client = EtcdClient(configuration)
        let value = [UInt8](repeating: 7, count: 1_000_000)
        let revision = try client.transaction(then: [.put(bytes("k"), value)]).revision
        #expect(try client.range(.key(bytes("k"))).keyValues.first?.value == value)
        var events: [EtcdEvent] = []
        var signs = 0
        let watch = EtcdWatch(configuration, prefix: bytes("k"), from: revision, silence: .seconds(2))
        try watch.run { response in
            events += response.events
            signs += response.isProgress ? 1 : 0
            return events.isEmpty || signs < 3
        }
        #expect(events.map(\.keyValue.value) == [value])
    }

    @Test func `a certificate of another authority, or of no known one, is denied and nothing is sent`() throws {
        let server = try server(try EtcdAuthority())
        let other = try EtcdAuthority()
        for file in [other.file, nil, "/dev/null", "/missing"] {
            var configuration = try EtcdConfiguration.patient(server.endpoints)
            configuration.authorityFile = file
            let client = EtcdClient(configuration)
            let found = failure { () throws(EtcdFailure) in try client.transaction(then: [.put(bytes("k"), [])]) }
            #expect(found?.isDenied == true, "\(String(describing: found))")
            let watch = EtcdWatch(configuration, prefix: bytes("k"), from: 0)
            let watched = failure { () throws(EtcdFailure) in try watch.run { _ in false } }
            #expect(watched?.isDenied == true, "\(String(describing: watched))")
        }
    }

    @Test func `an endpoint that cannot be trusted does not hide one that can`() throws {
        let authority = try EtcdAuthority()
        let server = try server(authority)
        let stranger = try self.server(try EtcdAuthority())
        var configuration = try EtcdConfiguration.patient(stranger.endpoints + server.endpoints)
        configuration.authorityFile = authority.file
        let client = EtcdClient(configuration)
        _ = try client.transaction(then: [.put(bytes("k"), [])])
    }

    @Test func `plain HTTP to a port of TLS, and the other way round, is a failure`() throws {
        let authority = try EtcdAuthority()
        let server = try server(authority)
        let plain = EtcdClient(try .patient([server.endpoint.replacing("https", with: "http")]))
        let found = failure { () throws(EtcdFailure) in try plain.transaction(then: []) }
        #expect(found?.refusal == .noGateway, "\(String(describing: found))")
        #expect(
            "\(String(describing: found))".contains(
                "\(server.endpoint.replacing("https", with: "http")): it speaks TLS"))
        let fake = try FakeServer("good")
        let secure = EtcdClient(try .hasty([fake.endpoint.replacing("http", with: "https")]))
        let second = failure { () throws(EtcdFailure) in try secure.transaction(then: []) }
        #expect(second?.isUnreachable == true, "\(String(describing: second))")
    }
}
#endif
