#if Curl
import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing
import Transfers

/// Transfers from and to a server on loopback, by the program, which is killed.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The program group-transfer` {
    private let temporary: TemporaryContainer
    private let container: Container
    private let transfers: Transfers
    private let server: FileServer
    private var address: String { server.address }

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
        // The tests start the program themselves, with short waits.
        transfers = try Transfers(container, program: "/bin/true")
        server = try FileServer()
    }

    /// Starts the program, with a clock of its own if `clock` says how far that is from the machine's.
    private func program(retryingAfter delay: String = "1ms", clock: String? = nil) throws -> RunningProcess {
        try RunningProcess(
            (clock.map { ["env"] + FakedClock.variables($0) } ?? []) + [
                BuildDirectory.resolve("group-transfer"), "run", temporary.path, "--retry-after", delay, "--stall", "1",
                "--parallel", "8",
            ], environment: FileServer.environment)
    }

    /// Waits until a transfer's record is as it should be.
    private func wait(for id: Transfer.ID, _ isReached: (Transfer) -> Bool) throws {
        var changes = try transfers.records.changes()
        while let transfer = transfers.transfer(id), !isReached(transfer) {
            try #require(try changes.next(timeout: patience) != nil, "\(transfer)")
        }
    }

    /// Runs the program to its end.
    private func work() throws {
        let (status, text) = try program().finish()
        #expect(status == 0, "\(text)")
    }

    private func content(_ path: ItemPath) throws -> [UInt8] {
        try container.coordinator(purpose: "test").blocking.readBytes(path)
    }

    private func partsLeft() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: temporary.path + "/.group/transfers")
    }

    @Test(arguments: [
        "good", "cut", "untagged", "weak", "stall", "changed", "lies", "wrong-total", "piece", "other", "busy",
        "half-head", "mixed", "mixed-bare",
    ])
    func `a file is whole and right, however the server behaves`(kind: String) throws {
        let id = try transfers.download("\(address)/\(kind)/7/1000000", to: "Maps/a/town.pdf")
        try work()
        let transfer = try #require(transfers.transfer(id))
        #expect(transfer.state == .completed, "\(transfer.reason ?? "")")
        #expect(transfer.received == 1_000_000 && transfer.total == 1_000_000)
        #expect(try content("Maps/a/town.pdf") == FileServer.content(7, 1_000_000))
        #expect(try partsLeft() == [])
    }

    @Test(arguments: ["short", "loop", "file", "encoded", "missing", "user"])
    func `a server that does not have the file gives one clear error`(kind: String) throws {
        let id = try transfers.download("\(address)/\(kind)/7/1000", to: "file")
        try work()
        let transfer = try #require(transfers.transfer(id))
        #expect(transfer.state == .failed)
        let reasons = [
            "short": "no byte 1000", "loop": "more than 10 times", "file": "no address of http",
            "encoded": "encoding 'gzip'", "missing": "status 404",
            "user": "'http://…@127.0.0.1/good/1/1'",
        ]
        #expect(transfer.reason?.contains(reasons[kind] ?? "?") == true, "\(transfer.reason ?? "")")
        #expect(transfer.reason?.contains("sesame") != true)
        #expect(!temporary.exists("file"))
        #expect(try partsLeft() == [])
    }

    @Test func `an attempt whose response cannot be used is counted, and the next one waits`() throws {
        let id = try transfers.download("\(address)/large-head/7/1000", to: "file")
        let running = try program()
        defer { running.kill() }
        try wait(for: id) { $0.failures >= 4 }
        let transfer = try #require(transfers.transfer(id))
        #expect(transfer.reason?.contains("more than 65536 bytes") == true, "\(transfer)")
    }

    @Test(arguments: ["never", "renewed"])
    func `bytes that a server sends again are no progress, and the download ends after 20 attempts`(kind: String) throws
    {
        let id = try transfers.download("\(address)/\(kind)/7/1000000", to: "file")
        // Without pauses. The first attempt brings new bytes, those of a program that is killed and started again do not.
        let first = try program(retryingAfter: "0")
        try wait(for: id) { $0.received > 0 }
        first.kill()
        let (status, text) = try program(retryingAfter: "0").finish()
        #expect(status == 0, "\(text)")
        let transfer = try #require(transfers.transfer(id))
        #expect(transfer.state == .failed && transfer.failures == 20, "\(transfer)")
        #expect(transfer.mostReceived == 300_000 && transfer.restarts == 0, "\(transfer)")
        #expect(try partsLeft() == [])
    }

    @Test(.enabled(if: FakedClock.isThere, "needs libfaketime"), arguments: ["+2d", "+30d", "-30d"])
    func `a download that failed before the clock was set is tried again`(clock: String) throws {
        let id = try transfers.download("\(address)/busy/7/1000", to: "file")
        let first = try program(retryingAfter: "1s", clock: clock)
        try wait(for: id) { $0.failures > 0 }
        first.kill()
        FakedClock.removeTraces(of: first.identifier)
        try work()
        #expect(transfers.transfer(id)?.state == .completed, "\(transfers.all())")
    }

    @Test(.enabled(if: FakedClock.isThere, "needs libfaketime"), arguments: ["+30d", "-30d"])
    func `a download that was queued before the clock was set has all its time`(clock: String) throws {
        // The machine's systemd starts nothing: the test does.
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path + "/systemd/private", withIntermediateDirectories: true)
        try directory.put("#!/bin/sh\n", at: "systemd-run", mode: 0o700)
        let command = try RunningProcess(
            ["env"] + FakedClock.variables(clock) + [
                BuildDirectory.resolve("group-transfer"), "download", temporary.path, "\(address)/good/7/1000", "file",
            ], input: "", environment: ["XDG_RUNTIME_DIR": directory.path, "PATH": "\(directory.path):/usr/bin:/bin"])
        let (status, text) = try command.finish()
        FakedClock.removeTraces(of: command.identifier)
        #expect(status == 0, "\(text)")
        let queued = try #require(transfers.all().first)
        #expect(queued.state == .waiting)
        try work()
        let transfer = try #require(transfers.transfer(queued.id))
        #expect(transfer.state == .completed, "\(transfer)")
        #expect(transfer.queuedAt.distance(to: Date()).magnitude < 86_400, "\(transfer)")
    }

    /// What another member of the container may have written in place of a record.
    @Test(arguments: [
        "id": #""../../../victim""#, "url": #""file:///etc/passwd""#, "path": #""../victim""#, "failures": "-1",
        "restarts": "9223372036854775807", "deadline": "1e300", "received": "18446744073709551615",
        "tag": #""\"a\"\r\nX-Evil: 1""#, "sha256": #""../x""#, "nextAttempt": "-9223372036854775808",
    ])
    func `a forged record is no transfer, and leads to no file outside`(field: String, value: String) throws {
        try Data("mine".utf8).write(to: URL(filePath: temporary.directory + "/victim.part"))
        let honest = Transfer(
            .download, url: "\(address)/good/1/10", path: "file", sha256: String(repeating: "a", count: 64), length: 10,
            opening: nil, id: "0123456789abcdef", timeout: .seconds(60))
        var members = try #require(
            try JSONSerialization.jsonObject(with: JSONEncoder().encode(honest)) as? [String: Any])
        let forged = try JSONSerialization.jsonObject(with: Data("[\(value)]".utf8)) as? [Any]
        members[field] = try #require(forged?.first)
        // Over and not reported, so that the program removes its files at once.
        members["state"] = "failed"
        let key = try #require(members["id"] as? String)
        try GroupDefaults(container, suite: "group-container.transfers").set(
            .json(Array(try JSONSerialization.data(withJSONObject: members))), forKey: key)
        #expect(transfers.all().isEmpty)
        try work()
        #expect(FileManager.default.fileExists(atPath: temporary.directory + "/victim.part"))
    }

    @Test func `the length and the hash that were given are verified`() throws {
        let bytes = try FileServer.content(3, 500)
        let hash = try RunningProcess(
            [
                "python3", "-c",
                "import hashlib;print(hashlib.sha256(bytes.fromhex('\(bytes.hexadecimal)')).hexdigest())",
            ],
            input: ""
        ).finish().text.trimmed
        let right = try transfers.download("\(address)/good/3/500", to: "right", sha256: hash, length: 500)
        let wrong = try transfers.download(
            "\(address)/good/3/500", to: "wrong", sha256: String(hash.reversed()), length: 500)
        let longer = try transfers.download("\(address)/good/3/500", to: "longer", length: 501)
        try work()
        #expect(transfers.transfer(right)?.state == .completed)
        #expect(transfers.transfer(wrong)?.state == .failed)
        #expect(transfers.transfer(wrong)?.reason?.contains(hash) == true)
        #expect(transfers.transfer(longer)?.state == .failed)
        #expect(temporary.exists("right") && !temporary.exists("wrong") && !temporary.exists("longer"))
    }

    @Test func `an address with a user, another scheme or control characters is refused`() throws {
        for url in [
            "file:///etc/passwd", "ftp://a/b", "http://u:p@a/", "http://", "a", "http://a/\u{7}", "http://a/ b",
        ] {
            #expect(throws: CoordinationError.self, "\(url)") { try transfers.download(url, to: "x") }
        }
        #expect(transfers.all().isEmpty)
    }

    @Test(arguments: ["", "/a", "../a", ".group/a", "a//b"])
    func `a path that no item can have is refused when the download is queued`(path: String) throws {
        #expect(throws: CoordinationError.self) { try transfers.download("http://a/b", to: ItemPath(path)) }
        #expect(throws: CoordinationError.self) { try transfers.download("http://a/b", to: ItemPath(bytes: [0xFF])) }
        #expect(transfers.all().isEmpty)
    }

    @Test func `what is not a regular file is refused at once as an upload`() throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.path + "/fifo"
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        for file in [fifo, directory.path, "/dev/null"] {
            let error = #expect(throws: CoordinationError.self) {
                try transfers.upload(file: file, to: "\(address)/busy/mine")
            }
            #expect(error?.code == .wrongType && error?.reason == "it is not a regular file", "\(file)")
        }
        #expect(transfers.all().isEmpty)
    }

    @Test func `an upload sends the file as it was when it was queued`() throws {
        let directory = try TemporaryDirectory()
        try directory.put("first", at: "a.txt")
        let id = try transfers.upload(file: directory.path + "/a.txt", to: "\(address)/busy/mine")
        try directory.put("second", at: "a.txt")
        try work()
        #expect(transfers.transfer(id)?.state == .completed, "\(transfers.transfer(id)?.reason ?? "")")
        try transfers.download("\(address)/put/mine", to: "hash")
        try work()
        let first = "a7937b64b8caa58f03721bb6bacf5c78cb235febe0e70b1b84cd99541461a08e"
        #expect(try content("hash") == Array(first.utf8))
        #expect(try partsLeft() == [])
    }

    @Test func `one process makes the transfers of a container`() throws {
        let id = try transfers.download("\(address)/stall/1/1000000", to: "a")
        let first = try program()
        try wait(for: id) { $0.state != .waiting }
        #expect(try program().finish().status == 0)
        #expect(try first.finish().status == 0)
        #expect(transfers.transfer(id)?.state == .completed)
    }

    @Test func `a transfer is given up when its time is over, also while bytes come`() throws {
        let id = try transfers.download("\(address)/trickle/1/1000000", to: "a", timeout: .seconds(2))
        let running = try program()
        try wait(for: id) { $0.received > 0 }
        // The server would go on for minutes.
        #expect(try running.finish().status == 0)
        #expect(transfers.transfer(id)?.state == .failed)
        #expect(!temporary.exists("a"))
        #expect(try partsLeft() == [])
    }

    @Test func `a transfer that is cancelled leaves nothing`() throws {
        let id = try transfers.download("\(address)/stall/1/1000000", to: "a")
        let running = try program()
        try wait(for: id) { $0.received > 0 }
        #expect(try transfers.cancel(id))
        #expect(try !transfers.cancel(id))
        #expect(try running.finish().status == 0)
        #expect(transfers.transfer(id)?.state == .cancelled)
        #expect(!temporary.exists("a"))
        #expect(try partsLeft() == [])
    }

    @Test func `a program that was killed after it had placed the file, or had posted the message, does neither again`()
        throws
    {
        let listener = try GroupChannel(container, name: Transfers.channel).listener(named: Transfers.listener)
        var changes = try container.follow(since: .now, matching: ["a"])
        let id = try transfers.download("\(address)/good/1/1000", to: "a")
        try work()
        server.end()
        // As the record was after the file had been placed.
        try transfers.records.update(id) { current in
            (current.state, current.messageAfter, current.isReported) = (.placing, 1, false)
            return true
        }
        try work()
        // As the record was after the message had been posted.
        try transfers.records.update(id) { current in
            (current.messageAfter, current.isReported) = (0, false)
            return true
        }
        try work()
        #expect(transfers.transfer(id)?.state == .completed && transfers.transfer(id)?.needsWork == false)
        #expect(try changes.next(timeout: .zero) != nil)
        #expect(try changes.next(timeout: .zero) == nil)
        // The second one is that of the first change of the record.
        let results = [try listener.next(timeout: .zero), try listener.next(timeout: .zero)]
        #expect(try results.map { try $0?.decode(as: TransferResult.self).id } == [id, id])
        #expect(try listener.next(timeout: .zero) == nil)
    }

    @Test func `the message of a transfer whose program was killed before it posted is not taken for posted`() throws {
        let listener = try GroupChannel(container, name: Transfers.channel).listener(named: Transfers.listener)
        let first = try transfers.download("\(address)/missing/1/1", to: "first")
        let second = try transfers.download("\(address)/missing/2/1", to: "second")
        // Both are over, and of the second the program has noted the channel's last number, and was killed.
        for (id, after) in [(first, nil), (second, 0)] as [(Transfer.ID, UInt64?)] {
            try transfers.records.update(id) { current in
                current.state = .failed
                current.messageAfter = after
                return true
            }
        }
        try work()
        var posted: [Transfer.ID] = []
        while let message = try listener.next(timeout: .zero) {
            posted.append(try message.decode(as: TransferResult.self).id)
        }
        #expect(posted == [second, first])
    }

    @Test func `each of fifty files is whole or one error, though the program is killed again and again`() throws {
        let kinds = [
            "good", "cut", "untagged", "weak", "unknown", "stall", "changed", "lies", "wrong-total", "piece", "busy",
            "other", "half-head",
        ]
        // The server never has these as a whole. After a kill, "short" is asked for the rest of the file, and answers
        // with another length than before, or than the range that it states.
        let wrong = ["short": ["no byte", "bytes now, and had", "as the part"], "loop": ["more than 10 times"]]
        let all = kinds + wrong.keys.sorted()
        let listener = try GroupChannel(container, name: Transfers.channel).listener(named: Transfers.listener)
        var changes = try container.follow(since: .now)
        var paths: [Transfer.ID: (path: ItemPath, number: Int, kind: String)] = [:]
        var random = Seeded(20)
        var (kills, restarts) = (0, 0)
        for round in 0..<40 {
            // Ten runs get new files, so each of them has work, however late this process sees what the last one did.
            for number in paths.count..<min(paths.count + 5, 50) {
                let path = ItemPath("files/\(number)")
                let kind = all[number % all.count]
                paths[try transfers.download("\(address)/\(kind)/\(number)/700000", to: path)] = (path, number, kind)
            }
            guard transfers.all().contains(where: \.needsWork) else { break }
            let running = try program()
            var steps = try transfers.records.changes()
            for _ in 0..<random.next(below: 20) where transfers.all().contains(where: \.needsWork) {
                if try steps.next(timeout: .seconds(10)) == nil { break }
            }
            running.kill()
            kills += 1
            if round % 3 == 2 {
                try restart(&random)
                restarts += 1
            }
        }
        try work()
        var seen: [Transfer.ID: Int] = [:]
        while let message = try listener.next(timeout: .zero) {
            let result = try message.decode(as: TransferResult.self)
            seen[result.id, default: 0] += 1
            #expect((result.state == .completed) == (wrong[paths[result.id]?.kind ?? ""] == nil), "\(result)")
        }
        #expect(seen.count == 50 && seen.values.allSatisfy { $0 == 1 }, "\(seen.values.sorted())")
        var records: [ItemPath: [Change]] = [:]
        while let change = try changes.next(timeout: .zero) { records[change.path, default: []].append(change) }
        for (id, file) in paths {
            let transfer = try #require(transfers.transfer(id))
            if let reasons = wrong[file.kind] {
                let isKnown = reasons.contains { transfer.reason?.contains($0) == true }
                #expect(transfer.state == .failed && isKnown, "\(transfer)")
                #expect(!temporary.exists("\(file.path)") && records[file.path] == nil, "\(transfer)")
            } else {
                #expect(transfer.state == .completed, "\(transfer)")
                #expect(try content(file.path) == FileServer.content(file.number, 700_000), "\(transfer)")
                #expect(records[file.path]?.count == 1, "\(records[file.path] ?? [])")
            }
        }
        // Enough of both to mean something.
        #expect(kills >= 10 && restarts >= 3, "\(kills) kills, \(restarts) restarts")
        #expect(try partsLeft() == [])
    }

    /// Does to the files what a power cut may do: another boot, and zeros in place of what was not synchronized.
    private func restart(_ random: inout Seeded) throws {
        for transfer in transfers.all() where !transfer.state.isOver && transfer.state != .placing {
            try transfers.records.update(transfer.id) { current in
                current.boot = "another boot"
                return true
            }
            let path = temporary.path + "/.group/transfers/\(transfer.id).part"
            guard let file = try? FileDescriptor.open(path: Array(path.utf8), .readingAndWriting) else { continue }
            let size = Int(try file.status().size)
            let good = Int(transfer.durable)
            guard size > good else { continue }
            try file.setSize(good + random.next(below: size - good))
            try file.setSize(size)
        }
    }
}

private struct Seeded {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    /// SplitMix64 (Steele, Lea, Flood, 2014).
    mutating func next(below limit: Int) -> Int {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int((word ^ (word >> 31)) % UInt64(max(1, limit)))
    }
}

extension Sequence<UInt8> {
    fileprivate var hexadecimal: String {
        map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}

extension String {
    fileprivate var trimmed: String { String(prefix { !$0.isNewline }) }
}
#endif
