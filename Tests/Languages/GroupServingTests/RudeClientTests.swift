import Glibc
import GroupCommandLine
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(3))) struct `Rude clients of groupctl serve` {
    private let place: ServedPlace
    private var temporary: TemporaryContainer { place.temporary }
    private var directory: TemporaryDirectory { place.directory }
    private var socket: String { place.socket }

    init() throws { place = try ServedPlace() }

    private func server() throws -> RunningProcess { try place.server() }

    @Test func `what is no request gets an error, and the next request an answer`() throws {
        let client = try Client(temporary)
        for line in [
            "nonsense", "[1]", "{}", "1", #"{"id":1}"#, #"{"id":null,"do":"status"}"#, #"{"id":1.5,"do":"status"}"#,
            #"{"id":"","do":"status"}"#, #"{"id":"\#(String(repeating: "x", count: 257))","do":"status"}"#,
            #"{"id":1,"id":2,"do":"status"}"#, #"{"id":1,"do":"status""#, "\u{0}", #"{"id":[],"do":"status"}"#,
            String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 1_000),
        ] { try client.send(line) }
        #expect(try client.ask(#""do":"status""#).isOK)
        let refused = client.received().filter { $0["error"] != nil }
        #expect(refused.count == 15)
        #expect(refused.allSatisfy { $0["error"]?["code"] == "invalidArgument" })
        // An empty line is nothing.
        try client.send("")
        try client.send(" \r")
        #expect(try client.ask(#""do":"status""#).isOK)
        #expect(client.received().count == 18)
    }

    @Test(arguments: [
        #""do":"read""#, #""do":"read","path":1"#, #""do":"read","path":"a","pathBytes":"YQ==""#,
        #""do":"read","pathBytes":"?""#, #""do":"read","path":"a","timeout":-1"#,
        #""do":"read","path":"a","timeout":"1""#,
        #""do":"read","path":"a","timeout":9223372036854775807"#, #""do":"read","path":"a","lock":77"#,
        #""do":"read","path":"a","lock":{}"#, #""do":"Read","path":"a""#, #""do":"read","Path":"a""#,
        #""do":"write","path":"a""#, #""do":"write","path":"a","text":"1","bytes":"MQ==""#,
        #""do":"write","path":"a","text":"1","mode":"9""#, #""do":"write","path":"a","text":"1","mode":640"#,
        #""do":"write","path":"a","text":"1","ifGeneration":-1"#, #""do":"lock","writing":["a"],"timeout":"abc""#,
        #""do":"write","path":"a","text":"1","ifGeneration":null"#, #""do":"refresh","widget":"w","timeout":-5"#,
        #""do":"write","path":"a","text":"1","durable":1"#,
        #""do":"lock""#, #""do":"lock","writing":[]"#, #""do":"lock","writing":"a""#, #""do":"lock","writing":[1]"#,
        #""do":"unlock""#, #""do":"unlock","lock":"x""#, #""do":"increment""#, #""do":"increment","key":"n","by":1.5"#,
        #""do":"increment","key":"n","by":99999999999999999999"#, #""do":"set","key":"n","value":1,"type":"number""#,
        #""do":"follow","since":"yesterday""#, #""do":"follow","kind":["x"]"#, #""do":"follow","include":["["]"#,
        #""do":"follow","settle":10,"settleMax":1"#, #""do":"listen","channel":"c""#,
        #""do":"acknowledge","listen":5,"number":1"#,
        #""do":"refresh","widget":"../x""#, #""do":"refresh","widget":"w","interests":["defaults:"]"#,
        #""do":"finish","refresh":5,"text":"""#, #""do":"cancel""#, #""do":"hello""#, #""do":"status","x":1"#,
        #""do":"transaction","changes":[{"do":"write","path":"a","text":"1","durable":true}]"#,
        #""do":"transaction","changes":[1]"#,
    ])
    func `a request with a wrong member is refused, and changes nothing`(request: String) throws {
        let client = try Client(temporary)
        #expect(try client.ask(request).code == "invalidArgument")
        #expect(try client.ask(#""do":"list""#)["items"] == [])
    }

    @Test func `a server that may open few files serves so many clients, and tells the next one`() throws {
        let server = try RunningProcess(
            ["sh", "-c", "ulimit -n 64; exec groupctl serve --socket \"$0\" \"$1\"", socket, temporary.path])
        try server.waitForText("listening at")
        let clients = try (0..<8).map { _ in try Client(socket: socket) }
        for client in clients { #expect(try client.ask(#""do":"status""#).isOK) }
        let refused = try Client(socket: socket)
        let reason = try refused.wait { $0["error"] }
        #expect(reason["code"] == "limitReached" && "\(reason)".contains("there are 8 clients already"), "\(reason)")
        // Each of them has the files that its requests need.
        for client in clients {
            #expect(try client.ask(#""do":"lock","writing":["a"],"timeout":0.01"#).code != "limitReached")
        }
        server.signal(SIGTERM)
        _ = try server.finish()
    }

    @Test func `an endless line is refused, and takes no more memory than a line may`() throws {
        let server = try server()
        let client = try Client(socket: socket)
        let piece = String(repeating: "x", count: 1 << 20)
        for _ in 0..<100 { try client.sendPiece(piece) }
        try client.send("")
        #expect(try client.wait { $0["error"]?["code"] } == "invalidArgument")
        #expect(try client.ask(#""do":"status""#).isOK)
        #expect(try peakMemory(of: server.identifier) < 400 << 20)
    }

    @Test func `a client that never reads waits, loses nothing, and does not disturb the others`() throws {
        let server = try server()
        let silent = try Client(socket: socket, reads: false)
        _ = try silent.begin(#""do":"follow""#)
        let requests = 20_000
        let sender = OneShotThread {
            for _ in 0..<requests { _ = try silent.begin(#""do":"increment","key":"n""#) }
        }
        let other = try Client(socket: socket)
        // The reader of its lines waits, because the socket is full.
        try eventuallyStops { try other.ask(#""do":"get","key":"n""#)["value"]?.number ?? 0 }
        #expect(try other.ask(#""do":"get","key":"n""#)["value"]?.number ?? 0 < requests)
        for number in 0..<100 {
            #expect(try other.ask("\"do\":\"write\",\"path\":\"a\",\"text\":\"\(number)\",\"durable\":false").isOK)
        }
        #expect(try peakMemory(of: server.identifier) < 200 << 20)
        silent.startReading()
        try sender.join()
        #expect(try silent.answer(1_001 + requests)["value"]?.number == requests)
        _ = try silent.wait { $0["event"]?["size"]?.number == 2 ? Optional($0) : .none }
        let sequences = silent.events(of: 1_001).compactMap { $0["sequence"]?.number }
        #expect(sequences == sequences.sorted() && Set(sequences).count == sequences.count)
    }

    @Test func `1,000 clients at once are served, and more than 1,024 are refused`() throws {
        OpenFiles.raiseLimit()
        let server = try server()
        let clients = try (0..<1_024).map { _ in try Client(socket: socket, reads: false) }
        for client in clients { _ = try client.begin(#""do":"increment","key":"n""#) }
        let first = clients[0]
        first.startReading()
        #expect(try eventually { try first.ask(#""do":"get","key":"n""#)["value"]?.number == 1_024 })
        let late = try Client(socket: socket)
        #expect(try late.wait { $0["error"]?["code"] } == "limitReached")
        #expect(try peakMemory(of: server.identifier) < 400 << 20)
        for client in clients.dropFirst() { client.close() }
        // A place is free when the server has seen an end.
        #expect(
            try eventually {
                let client = try Client(socket: socket)
                defer { client.close() }
                return try client.wait { $0["serve"] != nil || $0["error"] != nil ? $0["serve"] != nil : nil }
            })
    }

    @Test func `a client that is gone holds no lock, waits for none and has no stream`() throws {
        let server = try server()
        let coordinator = try Container(path: temporary.path).coordinator(purpose: "other").blocking
        let held = try coordinator.lock(.writing("b"))
        let client = try Client(socket: socket)
        #expect(try client.ask(#""do":"lock","writing":["a"]"#).isOK)
        #expect(try client.ask(#""do":"follow""#).isOK)
        _ = try client.begin(#""do":"lock","writing":["b"],"timeout":null"#)
        _ = try client.begin(#""do":"write","path":"b","text":"never","timeout":null"#)
        let refused = #expect(throws: CoordinationError.self) {
            try coordinator.write(text: "1", to: "a", timeout: .zero)
        }
        #expect(refused?.holders.first?.processIdentifier == server.identifier)
        client.close()
        try coordinator.write(text: "1", to: "a")
        try held.unlock()
        try coordinator.write(text: "1", to: "b")
        #expect(try coordinator.readText("b") == "1")
    }

    @Test func `a client that has said all gets its answers`() throws {
        let client = try Client(temporary)
        for number in 0..<3_000 { _ = try client.begin("\"do\":\"increment\",\"key\":\"n\",\"by\":\(number)") }
        client.close()
        let lines = try client.finish().split(separator: "\n")
        #expect(lines.count == 3_001)
        #expect(lines.last?.contains("\"value\":\(3_000 * 2_999 / 2)}") == true)
    }

    @Test func `an empty address of a socket is refused by the command and by the system calls`() throws {
        let (status, text) = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", ""]).finish()
        #expect(status == 64 && text.contains("option '--socket' needs a value, and it is empty: FILE"), "\(text)")
        #expect(throws: Errno.invalid) { _ = try UnixListener.connect(path: []) }
    }

    @Test func `the socket is open to its user whatever the umask`() throws {
        let words = ["sh", "-c", #"umask 0777; exec groupctl serve "$0" --socket "$1""#, temporary.path, socket]
        let server = try RunningProcess(words)
        #expect(eventually { (try? directory.status(of: "s").permissions) == 0o600 })
        #expect(try Client(socket: socket).ask(#""do":"status""#).isOK)
        server.kill()
    }

    @Test func `only one server listens at a path, and a socket that was left is replaced`() throws {
        let first = try server()
        #expect(try directory.status(of: "s").permissions == 0o600)
        let second = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", socket]).finish()
        #expect(second.status == 74 || second.status == 1, "\(second)")
        #expect(second.text.contains("another process listens"))
        #expect(try Client(socket: socket).ask(#""do":"status""#).isOK)
        first.kill()
        let third = try server()
        #expect(try Client(socket: socket).ask(#""do":"status""#).isOK)
        third.signal(SIGTERM)
        #expect(third.reap() == 128 + SIGTERM)
        #expect(throws: (any Error).self) { try directory.status(of: "s") }
        try directory.put("mine", at: "s")
        let fourth = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", socket]).finish()
        #expect(fourth.status != 0 && fourth.text.contains("no socket"))
        #expect(try directory.content(of: "s") == "mine")
    }

    @Test func `a path of any length can have a socket`() throws {
        let long = directory.path + "/" + String(repeating: "d", count: 200)
        try directory.run("mkdir", long)
        let server = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", long + "/s"])
        try server.waitForText("listening at")
        #expect(try directory.status(of: String(repeating: "d", count: 200) + "/s").isSocket)
    }

    /// The most memory that a process has had, in bytes.
    private func peakMemory(of process: Int32) throws -> Int {
        let file = try FileDescriptor.open(path: Array("/proc/\(process)/status".utf8), .reading)
        let text = String(decoding: try file.readAll(), as: UTF8.self)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) << 10
    }

    /// Waits until a number no longer changes.
    private func eventuallyStops(_ number: () throws -> Int) throws {
        var last = -1
        #expect(
            try eventually {
                let now = try number()
                defer { last = now }
                if now == last && now > 0 { return true }
                pause(nanoseconds: 100_000_000)
                return false
            })
    }
}

/// Work on a thread, whose error is thrown when it is waited for.
private final class OneShotThread: Sendable {
    private let result = Guarded<Result<Void, any Error>?>(nil)
    private let isDone = Event()

    init(_ work: @escaping @Sendable () throws -> Void) {
        try? WorkThread.start { [result, isDone] in
            let done = Result { try work() }
            result.withLock { $0 = done }
            isDone.happen()
        }
    }

    func join() throws {
        guard isDone.await() else { throw WaitedInVain(description: "waited in vain for a thread") }
        try result.withLock { $0 }?.get()
    }
}
