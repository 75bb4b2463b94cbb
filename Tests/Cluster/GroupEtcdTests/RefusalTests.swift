#if Curl
import EtcdSupport
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

/// Failures that stay until a person has changed something.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: succeeds(["python3", "--version"]), "needs python3"),
    .tags(.etcd))
struct `An endpoint that refuses every request` {
    private func found(_ configuration: EtcdConfiguration) -> EtcdFailure? {
        let client = EtcdClient(configuration)
        return failure { () throws(EtcdFailure) in try client.transaction(then: []) }
    }

    @Test(arguments: [
        ("not-found", "status 404"), ("no-method", "status 501"), ("etcd-3.3.25", "etcd 3.3.25, which is too old"),
        ("etcd-3.5.9", "etcd 3.5.9, whose JSON gateway is off"), ("etcd-\r\nX: y", "status 404"),
    ])
    func `an endpoint without a gateway is named, with what it is`(how: String, text: String) throws {
        let server = try FakeServer(how)
        let found = found(try .patient([server.endpoint]))
        #expect(found?.refusal == .noGateway)
        #expect(found?.isSurelyNotWritten == true)
        #expect("\(String(describing: found))".contains("\(server.endpoint): it"))
        #expect("\(String(describing: found))".contains(text), "\(String(describing: found))")
    }

    @Test func `an endpoint without a gateway does not hide one with a gateway`() throws {
        let (wrong, good) = try (FakeServer("not-found"), FakeServer("good"))
        let client = EtcdClient(try .patient([wrong.endpoint, good.endpoint]))
        #expect(try client.range(.key(bytes("a"))).keyValues.count == 1)
    }

    @Test func `an endpoint without a gateway does not make a broken answer of another one a refusal`() throws {
        let (broken, wrong) = try (FakeServer("garbage"), FakeServer("not-found"))
        let client = EtcdClient(try .patient([broken.endpoint, wrong.endpoint]))
        let found = failure { () throws(EtcdFailure) in try client.range(.key(bytes("a"))) }
        #expect(found?.isMalformed == true && found?.refusal == nil, "\(String(describing: found))")
    }

    @Test(arguments: ["html", "html-200", "garbage"]) func `a broken answer may end by itself, and names the endpoint`(
        how: String
    ) throws {
        let server = try FakeServer(how)
        let found = found(try .patient([server.endpoint]))
        #expect(found?.isMalformed == true && found?.refusal == nil, "\(String(describing: found))")
        #expect("\(String(describing: found))".contains(server.endpoint))
    }

    @Test(
        arguments: [
            (
                EtcdFailure.denied("etcdserver: authentication failed, invalid user ID or password"),
                EtcdRefusal.credentials
            ),
            (.denied("etcdserver: permission denied"), .permission),
            (.denied("etcdserver: user name is empty"), .noUser),
            (.denied("the password file x cannot be read: y"), .passwordFile),
            (.denied("etcdserver: revision of auth store is old"), nil),
            (.denied("etcdserver: invalid auth token"), nil),
            (.unreachable("x"), nil), (.noAnswer("x"), nil), (.noSpace("x"), nil), (.malformed("x"), nil),
            (.refused(code: 14, "etcdserver: no leader"), nil), (.noGateway("x"), .noGateway),
        ] as [(EtcdFailure, EtcdRefusal?)])
    func `a refusal has a reason, and other failures have none`(failure: EtcdFailure, reason: EtcdRefusal?) {
        #expect(failure.refusal == reason)
    }
}

/// What the real etcd refuses.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"), .tags(.etcd))
struct `An etcd that refuses every request` {
    private func refusal(_ configuration: EtcdConfiguration) -> (EtcdRefusal?, String) {
        let client = EtcdClient(configuration)
        let found = failure { () throws(EtcdFailure) in try client.transaction(then: []) }
        return (found?.refusal, "\(String(describing: found))")
    }

    @Test func `an etcd with its gateway off says so`() throws {
        var options = EtcdOptions()
        options.arguments = ["--enable-grpc-gateway=false"]
        let server = try EtcdServer(options)
        let (refusal, text) = refusal(try .patient(server.endpoints))
        #expect(refusal == .noGateway)
        #expect(text.contains("\(server.endpoint): it is etcd 3.") && text.contains("gateway is off"), "\(text)")
    }

    @Test func `a wrong password, and a missing permission, name the endpoint`() throws {
        let server = try EtcdServer.withUsers()
        let directory = try TemporaryDirectory()
        var configuration = try EtcdConfiguration.patient(server.endpoints)
        (configuration.user, configuration.passwordFile) = ("app", "\(directory.path)/password")
        try directory.put("wrong", at: "password", mode: 0o600)
        let (refusal, text) = refusal(configuration)
        #expect(refusal == .credentials && text.contains(server.endpoint), "\(text)")
        try directory.put("app-\"password\"", at: "password", mode: 0o600)
        let client = EtcdClient(configuration)
        // etcd checks both branches, and carries out none of them.
        let found = failure { () throws(EtcdFailure) in
            try client.transaction(then: [.put(bytes("app/a"), [])], else: [.delete(bytes("other"))])
        }
        #expect(found?.refusal == .permission && "\(String(describing: found))".contains(server.endpoint))
        #expect(try client.range(.key(bytes("app/a"))).keyValues.isEmpty)
    }

    @Test(.enabled(if: EtcdAuthority.isPossible, "needs openssl"))
    func `a certificate of another host, and an authority's that is missing, are refusals`() throws {
        let authority = try EtcdAuthority()
        try authority.sign("127.0.0.9")
        var options = EtcdOptions()
        options.authority = authority
        options.arguments = [
            "--cert-file", authority.certificate("127.0.0.9"), "--key-file", authority.key("127.0.0.9"),
        ]
        let server = try EtcdServer(options)
        for (file, text) in [(authority.file, "subject name"), ("/missing", "/missing"), ("/etc/shadow/x", "shadow")] {
            var configuration = try EtcdConfiguration.patient(server.endpoints)
            configuration.authorityFile = file
            let (refusal, found) = refusal(configuration)
            #expect(refusal == .certificate && found.contains(server.endpoint) && found.contains(text), "\(found)")
        }
    }
}
#endif
