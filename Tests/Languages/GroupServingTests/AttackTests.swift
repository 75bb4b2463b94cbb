import Glibc
import GroupCommandLine
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// What a stranger found who attacked the server.
@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `Attacks on groupctl serve` {
    private let place: ServedPlace
    private var temporary: TemporaryContainer { place.temporary }
    private var directory: TemporaryDirectory { place.directory }
    private var socket: String { place.socket }

    init() throws { place = try ServedPlace() }

    private func server() throws -> RunningProcess { try place.server() }

    @Test func `a request stays with the lock that had the id when it came`() throws {
        let held = try Container(path: temporary.path).coordinator(purpose: "other").blocking.lock(.writing("old"))
        let client = try Client(temporary)
        try client.send(
            #"""
            {"id":"L","do":"lock","writing":["old"],"timeout":null}
            {"id":"u","do":"unlock","lock":"L"}
            {"id":"w","do":"write","path":"new","text":"1","lock":"L"}
            {"id":"v","do":"unlock","lock":"L"}
            """#)
        try held.unlock()
        _ = try client.wait { $0["id"] == "u" ? $0["ok"] : nil }
        try client.send(#"{"id":"L","do":"lock","writing":["new"]}"#)
        #expect(try client.wait { $0["id"] == "w" ? $0["error"] : nil }["code"] == "invalidArgument")
        #expect(try client.wait { $0["id"] == "v" ? $0["error"] : nil }["code"] == "invalidArgument")
        #expect(try client.ask(#""do":"write","path":"new","text":"1","lock":"L""#).isOK)
    }

    @Test func `not more than 256 things are held, however quickly they are asked for`() throws {
        let client = try Client(temporary)
        let ids = try (0..<300).map { try client.begin("\"do\":\"lock\",\"writing\":[\"\($0)\"]") }
        #expect(try ids.count { try client.answer($0).isOK } == 256)
        #expect(try client.answer(ids[299]).code == "limitReached")
    }

    @Test func `what was cancelled has ended when that is answered`() throws {
        let client = try Client(temporary)
        let other = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        for _ in 0..<50 {
            for request in [
                #""do":"lock","writing":["a"]"#, #""do":"refresh","widget":"w","reload":true"#,
                #""do":"listen","channel":"c","name":"l""#,
            ] {
                try client.send("{\"id\":\"x\",\(request)}")
                #expect(try client.ask(#""do":"cancel","request":"x""#)["cancelled"] == true)
                if request.contains("lock") { try other.lock(.writing("a"), timeout: .zero).unlock() }
                let again = try client.ask(request)
                #expect(again.isOK, "\(again)")
                #expect(try client.ask("\"do\":\"cancel\",\"request\":\(client.lastID)")["cancelled"] == true)
            }
        }
    }

    @Test func `a client that sees the end of its connection finds its locks free`() throws {
        let server = try server()
        for _ in 0..<50 {
            let client = try Client(socket: socket)
            #expect(try client.ask(#""do":"lock","writing":["a"]"#).isOK)
            #expect(try client.ask(#""do":"listen","channel":"c","name":"l""#).isOK)
            client.endSending()
            #expect(client.awaitEnd())
            let next = try Client(socket: socket)
            #expect(try next.ask(#""do":"lock","writing":["a"],"timeout":0"#).isOK)
            #expect(try next.ask(#""do":"listen","channel":"c","name":"l""#).isOK)
            next.endSending()
            #expect(next.awaitEnd())
        }
        withExtendedLifetime(server) {}
    }

    @Test func `a long name is refused at once`() throws {
        let client = try Client(temporary)
        let name = String(repeating: "w", count: 4 << 20)
        #expect(try client.ask("\"do\":\"\(name)\"").code == "invalidArgument")
        #expect(try client.ask("\"do\":\"status\",\"\(name)\":1").code == "invalidArgument")
    }

    @Test func `ids are told apart by their bytes`() throws {
        let client = try Client(temporary)
        try client.send("{\"id\":\"\u{E9}\",\"do\":\"lock\",\"writing\":[\"a\"]}")
        _ = try client.wait { $0["ok"] != nil ? Optional(true) : .none }
        try client.send("{\"id\":\"e\u{301}\",\"do\":\"lock\",\"writing\":[\"b\"]}")
        _ = try client.wait { $0["id"] == .string("e\u{301}") ? $0["ok"] : nil }
    }

    @Test func `a client that waits for its own lock when its input ends is done with`() throws {
        let client = try Client(temporary)
        try client.send(
            #"""
            {"id":1,"do":"lock","writing":["a"]}
            {"id":2,"do":"lock","writing":["a"],"timeout":null}
            {"id":3,"do":"write","path":"a","text":"1","timeout":null}
            {"id":4,"do":"write","path":"b","text":"1","lock":2}
            """#)
        client.close()
        let text = try client.finish()
        #expect(text.contains(#"{"id":2,"ok":{}}"#) && text.contains(#"{"id":3,"ok":"#))
    }

    @Test func `a path that is not text can be locked`() throws {
        let client = try Client(temporary)
        let lock = try client.begin(#""do":"lock","writingBytes":["/w=="]"#)
        #expect(try client.answer(lock).isOK)
        #expect(try client.ask("\"do\":\"write\",\"pathBytes\":\"/w==\",\"text\":\"1\",\"lock\":\(lock)").isOK)
        #expect(try client.ask(#""do":"write","pathBytes":"/w==","text":"2","timeout":0"#).code == "lockTimedOut")
    }

    @Test func `an error does not advise to end the server`() throws {
        let client = try Client(temporary)
        #expect(try client.ask(#""do":"lock","writing":["a"]"#).isOK)
        let refused = try client.ask(#""do":"write","path":"a","text":"1","timeout":0"#)
        #expect(refused.code == "lockTimedOut")
        #expect(refused["advice"] == "this server holds it, for this client or another")
    }

    @Test func `a locked directory keeps a server from starting for two seconds`() throws {
        let held = try FileDescriptor.open(path: Array(directory.path.utf8), [.reading, .directory])
        #expect(flock(held.number, LOCK_SH) == 0)
        let refused = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", socket]).finish()
        #expect(refused.status != 0 && refused.text.contains("flock"), "\(refused)")
        #expect(flock(held.number, LOCK_UN) == 0)
        _ = try server()
    }

    @Test func `a signal ends a server that streams`() throws {
        for _ in 0..<10 {
            let server = try server()
            let client = try Client(socket: socket)
            #expect(try client.ask(#""do":"follow""#).isOK)
            #expect(try client.ask(#""do":"followKeys""#).isOK)
            try client.send("nonsense")
            _ = try client.wait { $0["error"] }
            server.signal(SIGTERM)
            #expect(server.reap() == 128 + SIGTERM)
            #expect(client.awaitEnd())
        }
    }
}
