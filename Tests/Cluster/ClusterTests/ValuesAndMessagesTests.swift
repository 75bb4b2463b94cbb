#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .etcd))
struct `Values and messages of two machines` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    init() throws { (etcd, a, b) = try startTwoMachines() }

    // MARK: Items

    @Test(.tags(.ownEtcd)) func `additions of both machines are all in the sum, also those without a connection`()
        throws
    {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        for round in 0..<2 {
            if round == 1 { etcd.kill() }
            for number in 1...20 { for suite in suites { try suite.increment("n", by: number) } }
            if round == 1 { try etcd.restart() }
        }
        #expect(eventually { suites.allSatisfy { $0.value(forKey: "n") == .integer(840) } })
        try suites[0].set("text", forKey: "k")
        #expect(eventually { suites[1].value(forKey: "k") == .string("text") })
        try suites[1].removeValue(forKey: "k")
        #expect(eventually { suites[0].value(forKey: "k") == nil })
    }

    @Test func `what is cleared is removed, also what was set just before, and what is set after it stays`() throws {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        try suites[0].set("old", forKey: "old")
        try suites[0].increment("n", by: 5)
        #expect(eventually { suites[1].value(forKey: "n") == .integer(5) })
        a.stop()
        try suites[0].set("new", forKey: "new")
        try suites[0].removeAll()
        try suites[0].increment("n")
        try suites[0].set("late", forKey: "late")
        a.resume()
        let expected: [String: DefaultsValue] = ["n": .integer(1), "late": "late"]
        #expect(eventually { suites.allSatisfy { $0.dictionaryRepresentation() == expected } })
        try suites[0].transaction { transaction in
            for number in 0..<900 { transaction.set(.integer(number), forKey: "\(number)") }
        }
        try suites[0].transaction { transaction in
            for number in 900..<1_800 { transaction.set(.integer(number), forKey: "\(number)") }
        }
        #expect(eventually { suites[1].dictionaryRepresentation().count == 1_802 })
        try suites[0].removeAll()
        #expect(eventually { suites[1].dictionaryRepresentation().isEmpty })
        #expect(suites[0].dictionaryRepresentation().isEmpty)
    }

    @Test(.tags(.ownEtcd)) func `what was set in several suites without a connection outlives the program`() throws {
        let suites = try ["s", "t"].map { name in
            try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: name) }
        }
        for suite in suites { try suite[1].set("old", forKey: "k") }
        #expect(eventually { suites.allSatisfy { $0[0].value(forKey: "k") == .string("old") } })
        try a.end()
        for suite in suites { try suite[0].set("new", forKey: "k") }
        etcd.kill()
        try a.begin()
        #expect(try eventually { try a.recorded()?.toSend ?? 0 > 0 })
        // Another round, in which the suites have no new changes.
        let sent = try a.status()["toSend"] as? Int ?? 0
        try a.write("1", to: "f")
        #expect(try eventually { try a.recorded()?.toSend ?? 0 > sent })
        a.kill()
        try etcd.restart()
        try a.start()
        #expect(eventually { suites.allSatisfy { $0.allSatisfy { $0.value(forKey: "k") == .string("new") } } })
    }

    @Test func `a message that no machine could read keeps no value from being sent`() throws {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        let records = try GroupDefaults(a.temporary.open(), suite: "group-container.cluster")
        func forge(_ name: String, _ identifier: String, channel: String) throws {
            let time = Int64(Date().timeIntervalSince1970 * 1e9)
            let post = """
                {"identifier":"\(identifier)","channel":"\(channel)","purpose":"p","time":\(time),"content":"AAAA"}
                """
            try records.set(.json(Array(post.utf8)), forKey: "post.\(name)")
        }
        // Both are taken in one round.
        a.stop()
        try suites[0].set("before", forKey: "one")
        try forge("long", "long", channel: String(repeating: "c", count: 70_000))
        try forge("other", "none", channel: "c")
        try suites[0].set("after", forKey: "two")
        a.resume()
        #expect(eventually { suites[1].value(forKey: "one") != nil && suites[1].value(forKey: "two") != nil })
        #expect(eventually { records.value(forKey: "post.long") == nil })
        #expect(!a.hasEnded)
    }

    @Test func `a machine whose program was killed counts no addition twice`() throws {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        for round in 1...6 {
            for suite in suites { try suite.increment("n") }
            if round.isMultiple(of: 2) { a.kill() } else { b.kill() }
            for suite in suites { try suite.increment("n") }
            if round.isMultiple(of: 2) { try a.start() } else { try b.start() }
        }
        #expect(
            eventually { suites.allSatisfy { $0.value(forKey: "n") == .integer(24) } },
            "\(suites.map { $0.value(forKey: "n") as Any })")
    }

    @Test func `additions and removals of a long time without the program are not lost`() throws {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        try suites[0].set(100, forKey: "n")
        for key in ["removed", "kept"] { try suites[0].set("v", forKey: key) }
        #expect(eventually { suites[1].dictionaryRepresentation().count == 3 })
        #expect(try eventually { try a.isSettled(with: b) })
        a.kill()
        // More than the suite's log keeps.
        for _ in 1...30_000 { try suites[0].increment("n", by: 1) }
        try suites[0].removeValue(forKey: "removed")
        try suites[0].set("w", forKey: "kept")
        try suites[1].increment("n", by: 7)
        try a.start()
        #expect(eventually { suites.allSatisfy { $0.value(forKey: "n") == .integer(30_107) } })
        #expect(eventually { suites.allSatisfy { $0.dictionaryRepresentation().count == 2 } })
        #expect(suites.allSatisfy { $0.value(forKey: "kept") == .string("w") })
    }

    @Test func `a suite that is made and set very often while the program does not run is sent whole`() throws {
        a.kill()
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "new") }
        for number in 1...20 { try suites[0].set(number, forKey: "early \(number)") }
        for _ in 1...30_000 { try suites[0].increment("n", by: 1) }
        try a.start()
        #expect(eventually { suites[1].value(forKey: "n") == .integer(30_000) })
        #expect(eventually { suites.allSatisfy { $0.dictionaryRepresentation().count == 21 } })
        #expect(suites[0].value(forKey: "n") == .integer(30_000))
    }

    @Test func `a process that writes all the time holds up nothing of its suite`() throws {
        let suites = try [a, b].map { try GroupDefaults(try $0.temporary.open(), suite: "s") }
        try suites[0].set(0, forKey: "busy")
        #expect(eventually { suites[1].value(forKey: "busy") != nil })
        let isEnding = Guarded(false)
        let writer = Thread { [suite = suites[0]] in
            while !isEnding.withLock({ $0 }) { _ = try? suite.increment("busy", by: 1) }
        }
        writer.start()
        try suites[1].set("v", forKey: "k")
        #expect(eventually { suites[0].value(forKey: "k") == .string("v") })
        #expect(try a.cluster("write", a.path + "/", "f", input: "1").status == 0)
        let channel = try GroupChannel(b.temporary.open(), name: "c", purpose: "test")
        let listener = try GroupChannel(a.temporary.open(), name: "c", purpose: "test").listener(
            named: "l", since: .start)
        try channel.post(bytes: [1])
        #expect(try listener.next(timeout: patience)?.bytes == [1])
        isEnding.withLock { $0 = true }
        #expect(eventually { writer.isFinished })
        #expect(eventually { suites[0].value(forKey: "busy") == suites[1].value(forKey: "busy") })
    }

    @Test func `a channel of this package stays on its machine`() throws {
        let channels = try [a, b].map {
            try GroupChannel($0.temporary.open(), name: "group-container.test", purpose: "test")
        }
        let listeners = try channels.map { try $0.listener(named: "l", since: .start) }
        for number in 1...2 {
            try channels[0].post(bytes: [UInt8(number)])
            #expect(try listeners[0].next(timeout: patience)?.bytes == [UInt8(number)])
        }
        let shared = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c", purpose: "test") }
        let listener = try shared[1].listener(named: "l", since: .start)
        try shared[0].post(bytes: [3])
        #expect(try listener.next(timeout: patience)?.bytes == [3])
        #expect(try listeners[1].next(timeout: .zero) == nil)
    }

    @Test func `messages come in one order, once on each machine`() throws {
        let channels = try [a, b].map { try GroupChannel(try $0.temporary.open(), name: "c", purpose: "test") }
        let listeners = try channels.map { try $0.listener(named: "l", since: .start) }
        for number in 0..<30 { for channel in channels { try channel.post(bytes: [UInt8(number)]) } }
        let received = try listeners.map { listener in
            var bytes: [UInt8] = []
            while bytes.count < 60, let message = try listener.next(timeout: patience) { bytes += message.bytes ?? [] }
            return bytes
        }
        #expect(received[0] == received[1])
        #expect(received[0].sorted() == (0..<30).flatMap { [UInt8($0), UInt8($0)] })
    }

    @Test func `a machine that was away has all messages, in order, and starts again`() throws {
        let channels = try [a, b].map { try GroupChannel($0.temporary.open(), name: "c", purpose: "test") }
        let listener = try channels[1].listener(named: "l", since: .start)
        func arrive(_ numbers: ClosedRange<Int>) throws {
            for number in numbers {
                let message = try listener.next(timeout: patience)
                #expect(message?.bytes == Array("\(number)".utf8))
                if message == nil { return }
            }
        }
        func post(_ numbers: ClosedRange<Int>) throws {
            for number in numbers { try channels[0].post(bytes: Array("\(number)".utf8)) }
        }
        try post(1...100)
        try arrive(1...100)
        b.kill()
        try post(101...2_200)
        #expect(try eventually { try a.recorded()?.toSend == 0 })
        try b.start()
        try arrive(101...2_200)
        try b.end()
        try b.start()
        #expect(agree(a, b))
    }

    @Test func `a file, a value and a message arrive in the order in which they were made`() throws {
        let (here, there) = (try a.temporary.open(), try b.temporary.open())
        let (suite, other) = (try GroupDefaults(here, suite: "s"), try GroupDefaults(there, suite: "s"))
        let channel = try GroupChannel(here, name: "c", purpose: "test")
        let listener = try GroupChannel(there, name: "c", purpose: "test").listener(named: "l", since: .start)
        let coordinator = here.coordinator(purpose: "test").blocking
        for number in 1...25 {
            try coordinator.write(bytes: Array("\(number)".utf8), to: "f", durability: .relaxed)
            try suite.set(.integer(number), forKey: "k")
            try channel.post(bytes: [UInt8(number)])
        }
        while let message = try listener.next(timeout: patience) {
            let number = Int(message.bytes?.first ?? 0)
            // What was made before the message is there when the message is.
            #expect(Int(b.temporary.content(of: "f") ?? "") ?? 0 >= number)
            if case .integer(let value)? = other.value(forKey: "k") {
                #expect(value >= number)
            } else {
                Issue.record("no value")
            }
            if number == 25 { break }
        }
    }
}
#endif
