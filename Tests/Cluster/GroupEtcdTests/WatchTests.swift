#if Curl
import EtcdSupport
import GroupEtcd
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"), .tags(.etcd))
struct `A watch` {
    let server: EtcdServer
    let client: EtcdClient

    init() throws {
        server = try EtcdServer()
        client = EtcdClient(try .patient(server.endpoints))
    }

    private func watch(_ prefix: String, from revision: UInt64, silence: Duration = .seconds(30)) throws -> EtcdWatch {
        EtcdWatch(try .patient(server.endpoints), prefix: bytes(prefix), from: revision, silence: silence)
    }

    @Test func `a watch from a revision returns what was and what comes`() throws {
        let first = try client.transaction(then: [.put(bytes("w/1"), bytes("one"))]).revision
        try client.transaction(then: [.put(bytes("x"), [])])
        var events: [EtcdEvent] = []
        try watch("w/", from: first).run { response in
            if response.events.isEmpty { return true }
            events += response.events
            if events.count == 1 {
                _ = try? client.transaction(then: [.delete(bytes("w/1")), .put(bytes("w/2"), bytes("two"))])
            }
            return events.count < 3
        }
        #expect(events.map(\.kind) == [.put, .delete, .put])
        #expect(events.map(\.keyValue.key) == [bytes("w/1"), bytes("w/1"), bytes("w/2")])
        #expect(events.map(\.keyValue.modRevision) == [first, first + 2, first + 2])
        #expect(events.map(\.keyValue.value) == [bytes("one"), [], bytes("two")])
    }

    @Test func `a watch from now on has what is written after its first response`() throws {
        try client.transaction(then: [.put(bytes("w"), [1])])
        var values: [[UInt8]] = []
        try watch("w", from: 0).run { response in
            if response.isProgress && values.isEmpty {
                _ = try? client.transaction(then: [.put(bytes("w"), [2])])
                return true
            }
            values += response.events.map(\.keyValue.value)
            return values.isEmpty
        }
        #expect(values == [[2]])
    }

    @Test func `two writers' events come once and in order, while they write`() throws {
        let start = try client.transaction(then: [.put(bytes("start"), [])]).revision
        let endpoints = server.endpoints
        let writers = (0..<2).map { writer in
            Side {
                let client = EtcdClient(try .patient(endpoints))
                for number in 0..<150 {
                    let value = [UInt8](repeating: UInt8(number), count: number % 10 == 0 ? 1 << 20 : 20_000)
                    try client.transaction(then: [.put(bytes("w/\(writer)"), value)])
                }
            }
        }
        var next = [0, 0]
        var revision = start
        try watch("w/", from: start + 1).run { response in
            for event in response.events {
                #expect(event.keyValue.modRevision > revision)
                revision = event.keyValue.modRevision
                let writer = event.keyValue.key.last == UInt8(ascii: "1") ? 1 : 0
                let number = next[writer]
                #expect(event.keyValue.version == UInt64(number + 1))
                #expect(event.keyValue.value.count == (number % 10 == 0 ? 1 << 20 : 20_000))
                #expect(event.keyValue.value.last == UInt8(number))
                next[writer] += 1
            }
            return next != [150, 150]
        }
        for writer in writers { try writer.answer() }
        #expect(revision == start + 300)
    }

    @Test func `a history of many megabytes comes with the events of a revision together`() throws {
        let value = [UInt8](repeating: 7, count: 700_000)
        var start: UInt64 = 0
        for number in 0..<24 {
            let revision = try client.transaction(then: [
                .put(bytes("h/\(number)/a"), value), .put(bytes("h/\(number)/b"), value),
            ]).revision
            if number == 0 { start = revision }
        }
        var count = 0
        var responses = 0
        try watch("h/", from: start).run { response in
            responses += 1
            for (first, second) in zip(response.events, response.events.dropFirst()) {
                #expect(first.keyValue.modRevision <= second.keyValue.modRevision)
            }
            #expect(response.events.count % 2 == 0)
            #expect(response.events.allSatisfy { $0.keyValue.value == value })
            #expect(Set(response.events.map(\.keyValue.modRevision)).count * 2 == response.events.count)
            count += response.events.count
            return count < 48
        }
        #expect(count == 48)
        // etcd has cut it into pieces.
        #expect(responses > 3)
    }

    @Test func `one revision whose events are megabytes comes in one response`() throws {
        let name = String(repeating: "n", count: 1_000)
        for block in 0..<40 {
            try client.transaction(then: (0..<128).map { .put(bytes("d/\(block)/\($0)/\(name)"), []) })
        }
        let deletion = try client.transaction(then: [.delete(bytes("d/"), end: EtcdRange.endOfPrefix(bytes("d/")))])
        #expect(deletion.deleted == [5_120])
        try client.transaction(then: [.put(bytes("d/end"), [])])
        var counts: [Int] = []
        try watch("d/", from: deletion.revision).run { response in
            if !response.events.isEmpty { counts.append(response.events.count { $0.kind == .delete }) }
            return response.events.last?.kind != .put
        }
        #expect(counts.max() == 5_120)
    }

    @Test func `a watch of a compacted revision fails with the oldest one that stands`() throws {
        for number in 0..<5 { try client.transaction(then: [.put(bytes("k"), [UInt8(number)])]) }
        let newest = try client.range(.key(bytes("k"))).revision
        try client.compact(newest)
        let old = try watch("k", from: 2)
        #expect(failure { () throws(EtcdFailure) in try old.run { _ in true } } == .compacted(newest))
        var events = 0
        try watch("k", from: newest).run { response in
            events += response.events.count
            return events == 0
        }
    }

    @Test func `a watch that is cancelled returns, also if it begins later`() throws {
        let watch = try watch("k", from: 0)
        let stands = Event()
        let side = Side {
            try watch.run { _ in
                stands.happen()
                return true
            }
        }
        #expect(stands.await())
        watch.cancel()
        try side.answer()
        try watch.run { _ in
            Issue.record("a cancelled watch has a response")
            return false
        }
    }

    @Test func `an idle watch has signs of life, and fails once its member is stopped`() throws {
        let watch = try watch("k", from: 0, silence: .milliseconds(1_500))
        var signs = 0
        let found = failure { () throws(EtcdFailure) in
            try watch.run { response in
                #expect(response.isProgress)
                signs += 1
                if signs == 5 { server.stop() }
                return true
            }
        }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
        #expect(signs >= 5)
    }

    @Test func `a caller that works for longer than the silence gets what came meanwhile`() throws {
        let watch = try watch("k", from: 0, silence: .milliseconds(300))
        var number: UInt8 = 0
        var values: [[UInt8]] = []
        try watch.run { response in
            values += response.events.map(\.keyValue.value)
            guard number < 3 else { return values.count < 3 }
            if !response.events.isEmpty || number == 0 {
                number += 1
                _ = try? client.transaction(then: [.put(bytes("k"), [number])])
                let end = awakeNanoseconds() + 400_000_000
                while awakeNanoseconds() < end { _ = try? client.range(.key(bytes("k"))) }
            }
            return true
        }
        #expect(values == [[1], [2], [3]])
    }

    @Test func `a watch fails when its member is killed`() throws {
        let watch = try watch("k", from: 0)
        let found = failure { () throws(EtcdFailure) in
            try watch.run { _ in
                server.kill()
                return true
            }
        }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
    }

    @Test func `a watch fails at once when its member ends in order`() throws {
        // The failure does not wait for the silence, nor for the next sign of life.
        let watch = try watch("k", from: 0, silence: .seconds(600))
        let start = awakeNanoseconds()
        let found = failure { () throws(EtcdFailure) in
            try watch.run { _ in
                server.terminate()
                return true
            }
        }
        #expect(found?.isNoAnswer == true, "\(String(describing: found))")
        #expect(awakeNanoseconds() - start < patience.nanoseconds)
    }

    @Test func `a member that has lost the others ends its watches, and begins none`() throws {
        let cluster = try EtcdCluster(nodes: 3)
        let alone = try #require(try cluster.followers().first)
        let watch = EtcdWatch(try .patient(alone.endpoints), prefix: bytes("k"), from: 0)
        var isFirst = true
        let found = failure { () throws(EtcdFailure) in
            try watch.run { _ in
                if isFirst { for node in cluster.nodes where node !== alone { node.stop() } }
                isFirst = false
                return true
            }
        }
        guard case .refused(code: 14, let text)? = found, text.contains("no leader") else {
            Issue.record("\(String(describing: found))")
            return
        }
        let again = EtcdWatch(try .patient(alone.endpoints), prefix: bytes("k"), from: 0)
        let second = failure { () throws(EtcdFailure) in try again.run { _ in false } }
        guard case .refused(code: 14, _)? = second else {
            Issue.record("\(String(describing: second))")
            return
        }
        // A write is refused at once, and surely not done.
        let writer = EtcdClient(try .patient(alone.endpoints))
        let third = failure { () throws(EtcdFailure) in try writer.transaction(then: [.put(bytes("k"), [])]) }
        #expect(third?.isSurelyNotWritten == true, "\(String(describing: third))")
    }
}
#endif
