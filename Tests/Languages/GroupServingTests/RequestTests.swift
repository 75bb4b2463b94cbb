import GroupCommandLine
import GroupContainer
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(2))) struct `Requests to groupctl serve` {
    private let temporary: TemporaryContainer
    private let client: Client

    init() throws {
        temporary = try TemporaryContainer()
        client = try Client(temporary)
    }

    @Test func `the greeting names the container`() throws {
        let greeting = try client.wait { $0["serve"] == 1 ? Optional($0) : .none }
        #expect(greeting["version"] == .string(GroupContainerVersion.package))
        #expect(greeting["readOnly"] == false)
        guard case .string(let path)? = greeting["container"] else { return #expect(Bool(false)) }
        #expect(path.hasPrefix(temporary.path.hasSuffix("/") ? String(temporary.path.dropLast()) : temporary.path))
    }

    @Test func `items are written, read, moved, copied and removed`() throws {
        #expect(try client.ask(#""do":"write","path":"a","text":"ä\n""#)["changed"] == true)
        #expect(try client.ask(#""do":"read","path":"a""#)["text"] == "ä\n")
        #expect(try client.ask(#""do":"write","path":"a","text":"ä\n""#)["changed"] == false)
        try client.ask(#""do":"write","path":"b","bytes":"/wA=","mode":"640""#)
        #expect(try client.ask(#""do":"read","path":"b""#)["bytes"] == "/wA=")
        #expect(try temporary.mode("b") == 0o640)
        #expect(try client.ask(#""do":"move","path":"a","to":"b""#).isOK == false)
        #expect(try client.ask(#""do":"move","path":"a","to":"b","replacing":true"#).isOK)
        try client.ask(#""do":"createDirectory","path":"d""#)
        try client.ask(#""do":"copy","path":"b","to":"d/b""#)
        #expect(try client.ask(#""do":"remove","path":"d""#).code == "notEmpty")
        #expect(try client.ask(#""do":"copy","path":"d","to":"e","recursively":true"#).isOK)
        #expect(try client.ask(#""do":"remove","path":"d","recursively":true"#).isOK)
        #expect(try client.ask(#""do":"read","path":"d/b""#).code == "notFound")
        guard case .array(let items)? = try client.ask(#""do":"list""#)["items"] else { return #expect(Bool(false)) }
        #expect(items.map { $0["path"] } == ["b", "e"])
        try client.ask(#""do":"write","pathBytes":"/w==","text":"1""#)
        #expect(try client.ask(#""do":"read","pathBytes":"/w==""#)["text"] == "1")
    }

    @Test func `a container that was moved is not served any more`() throws {
        #expect(try client.ask(#""do":"write","path":"a","text":"1""#).isOK)
        let path = temporary.path
        #expect(succeeds(["sh", "-c", #"mv "$0" "$0.old" && mkdir "$0""#, path]))
        for request in [#""do":"read","path":"a""#, #""do":"set","key":"k","value":1"#, #""do":"status""#] {
            let answer = try client.ask(request)
            #expect(answer.code == "notFound" && "\(answer)".contains("was moved to"), "\(answer)")
        }
        #expect(succeeds(["rm", "-rf", path + ".old"]))
    }

    @Test func `a client that waits for a lock while it keeps another one is in a deadlock, or not`() throws {
        let (other, watcher) = (try Client(temporary), try temporary.open())
        let first = try client.begin(#""do":"lock","writing":["a"]"#)
        let second = try other.begin(#""do":"lock","writing":["b"]"#)
        #expect(try client.answer(first).isOK && other.answer(second).isOK)
        let waiting = try client.begin(#""do":"lock","writing":["b"],"timeout":null,"lock":\#(first)"#)
        try temporary.waitForWaiters(1, in: watcher)
        #expect(try other.ask(#""do":"lock","writing":["a"],"timeout":null,"lock":\#(second)"#).code == "deadlock")
        // Without the name, the client may still end the lock.
        #expect(try other.ask(#""do":"lock","writing":["a"],"timeout":20"#).code == "lockTimedOut")
        #expect(try client.ask(#""do":"lock","writing":["a"],"timeout":null,"lock":\#(first)"#).code == "deadlock")
        #expect(try client.ask(#""do":"lock","writing":["c"],"lock":99"#).code == "invalidArgument")
        #expect(try other.ask(#""do":"unlock","lock":\#(second)"#).isOK)
        #expect(try client.answer(waiting).isOK)
    }

    @Test func `a condition keeps a change from overwriting another one`() throws {
        #expect(try client.ask(#""do":"write","path":"a","text":"1","ifGeneration":"absent""#).isOK)
        #expect(try client.ask(#""do":"write","path":"a","text":"2","ifGeneration":"absent""#).code == "conflict")
        let generation = try #require(try client.ask(#""do":"read","path":"a""#)["generation"]?.number)
        #expect(try client.ask(#""do":"write","path":"a","text":"2","ifGeneration":\#(generation)"#).isOK)
        let refused = try client.ask(#""do":"write","path":"a","text":"3","ifGeneration":\#(generation)"#)
        #expect(refused.code == "conflict" && (refused["generation"]?.number ?? 0) > generation)
    }

    @Test func `a transaction makes all of its changes or none`() throws {
        try client.ask(#""do":"write","path":"a","text":"1""#)
        let changes = #"{"do":"write","path":"b","text":"2"},{"do":"remove","path":"a"}"#
        let absent = #"{"do":"check","path":"a","ifGeneration":"absent"}"#
        let generation = try #require(try client.ask(#""do":"read","path":"a""#)["generation"]?.number)
        let same = "{\"do\":\"check\",\"path\":\"a\",\"ifGeneration\":\(generation)}"
        #expect(try client.ask("\"do\":\"transaction\",\"changes\":[\(changes),\(same)]").isOK)
        #expect(try client.ask(#""do":"read","path":"a""#).code == "notFound")
        try client.ask(#""do":"write","path":"a","text":"1""#)
        #expect(try client.ask("\"do\":\"transaction\",\"changes\":[\(absent),\(changes)]").code == "conflict")
        #expect(try client.ask(#""do":"read","path":"a""#)["text"] == "1")
        #expect(try client.ask(#""do":"transaction","changes":[{"do":"get","key":"a"}]"#).code == "invalidArgument")
        #expect(try client.ask(#""do":"transaction","changes":[]"#).code == "invalidArgument")
    }

    @Test func `a request that waits for a lock does not keep the lock's owner from ending it`() throws {
        let lock = try client.begin(#""do":"lock","writing":["a"]"#)
        #expect(try client.answer(lock).isOK)
        let second = try client.begin(#""do":"lock","writing":["a"]"#)
        let plain = try client.begin(#""do":"write","path":"a","text":"plain""#)
        let under = try client.begin("\"do\":\"write\",\"path\":\"a\",\"text\":\"under\",\"lock\":\(lock)")
        #expect(try client.answer(under).isOK)
        #expect(try client.ask("\"do\":\"read\",\"path\":\"a\",\"lock\":\(lock)")["text"] == "under")
        #expect(try client.ask("\"do\":\"unlock\",\"lock\":\(lock)").isOK)
        #expect(try client.answer(second).isOK)
        #expect(try client.ask("\"do\":\"unlock\",\"lock\":\(second)").isOK)
        #expect(try client.answer(plain).isOK)
        #expect(try client.ask("\"do\":\"read\",\"path\":\"a\",\"lock\":\(lock)").code == "invalidArgument")
    }

    @Test func `a lock begins in its turn, though nobody waits for the answers before`() throws {
        try client.send(
            #"""
            {"id":"w","do":"write","path":"a","text":"first"}
            {"id":"l","do":"lock","writing":["a"]}
            {"id":"r","do":"read","path":"a","lock":"l"}
            {"id":"u","do":"unlock","lock":"l"}
            {"id":"x","do":"write","path":"a","text":"last"}
            """#)
        let read = try client.wait { $0["id"] == "r" ? $0["ok"] : nil }
        #expect(read["text"] == "first")
        _ = try client.wait { $0["id"] == "x" ? $0["ok"] : nil }
    }

    @Test func `cancel ends a wait, a lock and a stream, whose id may be used again`() throws {
        let other = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        let held = try other.lock(.writing("a"))
        let waiting = try client.begin(#""do":"write","path":"a","text":"1","timeout":null"#)
        let lock = try client.begin(#""do":"lock","writing":["a"],"timeout":null"#)
        #expect(try client.ask("\"do\":\"cancel\",\"request\":\(lock)")["cancelled"] == true)
        #expect(try client.answer(lock).code == "cancelled")
        #expect(try client.ask("\"do\":\"cancel\",\"request\":\(waiting)")["cancelled"] == true)
        #expect(try client.answer(waiting).code == "cancelled")
        #expect(try client.ask("\"do\":\"cancel\",\"request\":\(waiting)")["cancelled"] == false)
        try held.unlock()
        try client.send(#"{"id":"s","do":"follow"}"#)
        _ = try client.wait { $0["id"] == "s" ? $0["ok"] : nil }
        try client.send(#"{"id":"s","do":"status"}"#)
        #expect(try client.wait { $0["id"] == "s" ? $0["error"] : nil }["code"] == "invalidArgument")
        #expect(try client.ask(#""do":"cancel","request":"s""#)["cancelled"] == true)
        _ = try client.wait { $0["id"] == "s" ? $0["end"] : nil }
        try client.send(#"{"id":"s","do":"status"}"#)
        _ = try client.wait { $0["id"] == "s" ? $0["ok"]?["members"] : nil }
    }

    @Test func `changes of another process are streamed, and from a cursor each comes once`() throws {
        let other = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        let first = try client.begin(#""do":"follow","include":["n/**"],"excludePurpose":"me""#)
        #expect(try client.answer(first).isOK)
        try client.ask(#""do":"hello","purpose":"me""#)
        try client.ask(#""do":"write","path":"n/mine","text":"1""#)
        try other.write(text: "1", to: "elsewhere")
        try other.write(text: "1", to: "n/a")
        let event = try client.wait { $0["id"] == .integer(Int64(first)) ? $0["event"] : nil }
        #expect(event["path"] == "n/a" && event["by"]?["purpose"] == "other")
        try other.write(text: "2", to: "n/a")
        guard case .string(let cursor)? = event["cursor"] else { return #expect(Bool(false)) }
        let second = try client.begin("\"do\":\"follow\",\"since\":\"\(cursor)\",\"include\":[\"n/**\"]")
        let again = try client.wait { $0["id"] == .integer(Int64(second)) ? $0["event"] : nil }
        #expect(again["path"] == "n/a" && again["kind"] == "modified")
    }

    @Test func `keys keep their types`() throws {
        for (value, type, given) in [
            ("\"t\"", "string", ""), ("7", "int", ""), ("7", "double", ",\"type\":\"double\""), ("true", "bool", ""),
            ("[1,\"a\"]", "array", ""), ("{\"a\":1}", "dictionary", ""), ("{\"a\":null}", "json", ""),
            ("\"2026-11-20T10:00:00Z\"", "date", ",\"type\":\"date\""), ("\"/w==\"", "data", ",\"type\":\"data\""),
            ("\"file:///a\"", "url", ",\"type\":\"url\""),
        ] {
            #expect(try client.ask("\"do\":\"set\",\"key\":\"k\",\"value\":\(value)\(given)").isOK)
            let found = try client.ask(#""do":"get","key":"k""#)
            #expect(found["type"] == .string(type), "\(value)")
        }
        let generation = try #require(try client.ask(#""do":"get","key":"k""#)["generation"]?.number)
        #expect(
            try client.ask(#""do":"set","key":"k","value":null,"ifGeneration":\#(generation - 1)"#).code == "conflict")
        #expect(try client.ask(#""do":"set","key":"k","value":null,"ifGeneration":\#(generation)"#).isOK)
        #expect(try client.ask(#""do":"get","key":"k""#)["value"] == .null)
        #expect(try client.ask(#""do":"increment","key":"n","by":5,"suite":"s""#)["value"]?.number == 5)
        #expect(try client.ask(#""do":"keys","suite":"s""#)["keys"] == [["key": "n", "value": 5, "type": "int"]])
        #expect(try client.ask(#""do":"set","key":"k","value":1,"type":"string""#).code == "invalidArgument")
        #expect(try client.ask(#""do":"set","key":"k""#).code == "invalidArgument")
        let follow = try client.begin(#""do":"followKeys","suite":"s","keys":["n"]"#)
        #expect(try client.answer(follow).isOK)
        try client.ask(#""do":"set","key":"n","value":9,"suite":"s""#)
        #expect(try client.wait { $0["event"]?["new"] }.number == 9)
    }

    @Test func `messages are kept until they are acknowledged`() throws {
        let listen = try client.begin(#""do":"listen","channel":"c","name":"l""#)
        #expect(try client.answer(listen).isOK)
        #expect(try client.ask(#""do":"post","channel":"c","text":"one""#)["number"]?.number == 1)
        #expect(try client.ask(#""do":"post","channel":"c""#)["number"]?.number == 2)
        _ = try client.wait { $0["event"]?["number"]?.number == 2 ? Optional($0) : .none }
        #expect(client.events(of: listen).map { $0["text"] } == ["one", .null])
        #expect(try client.ask("\"do\":\"acknowledge\",\"listen\":\(listen),\"number\":1").isOK)
        client.close()
        _ = try client.finish()
        let later = try Client(temporary)
        let again = try later.begin(#""do":"listen","channel":"c","name":"l""#)
        #expect(try later.wait { $0["event"]?["number"] }.number == 2)
        #expect(later.events(of: again).count == 1)
    }

    @Test func `a refresh is needed once, and again if the client ends before it is finished`() throws {
        try client.ask(#""do":"write","path":"a","text":"1""#)
        let first = try client.begin(#""do":"refresh","widget":"w","interests":["a"]"#)
        #expect(try client.answer(first)["needed"] == true)
        client.close()
        _ = try client.finish()
        let other = try Client(temporary)
        let second = try other.begin(#""do":"refresh","widget":"w","interests":["a"]"#)
        #expect(try other.answer(second)["needed"] == true)
        #expect(try other.ask("\"do\":\"finish\",\"refresh\":\(second),\"text\":\"one\"")["result"] == "newData")
        let third = try other.ask(#""do":"refresh","widget":"w","interests":["a"]"#)
        #expect(third["needed"] == false && third["last"] == ["text": "one"])
    }

    @Test func `an interest in a suite without keys is pointed out each time`() throws {
        try client.ask(#""do":"set","suite":"s","key":"k","value":1"#)
        let missing = JSONValue.array(["there is no suite 'other' yet; there is 's'"])
        let empty = JSONValue.array(["the suite 'other' has no keys; there is 's'"])
        // A refresh only reads; a follower makes the suite.
        for (widget, doubts) in [("u", missing), ("v", missing), ("w", empty)] {
            let refresh = "\"do\":\"refresh\",\"widget\":\"\(widget)\",\"interests\":[\"defaults:other:k\"]"
            let answer = try client.ask(refresh)
            #expect(answer["doubts"] == doubts)
            if widget != "v" { continue }
            for _ in 1...2 {
                let following = try client.ask(#""do":"followKeys","suite":"other""#)
                #expect(following["doubts"] == empty)
            }
        }
        #expect(try client.answer(client.begin(#""do":"followKeys","suite":"s""#))["doubts"] == nil)
    }

    @Test func `a pattern that names nothing but a symbolic link is pointed out`() throws {
        _ = try RunningProcess(["mkdir", temporary.path + "/real"], input: "").finish()
        _ = try RunningProcess(["ln", "-s", "real", temporary.path + "/conf"], input: "").finish()
        let following = try client.ask(#""do":"follow","include":["conf"]"#)
        guard case .array(let doubts)? = following["doubts"], doubts.count == 1, case .string(let text)? = doubts.first
        else {
            Issue.record("\(following)")
            return
        }
        #expect(text.contains("symbolic link") && text.contains("real"), "\(text)")
        #expect(try client.ask(#""do":"follow","include":["conf","real/**"]"#)["doubts"] == nil)
    }
}
