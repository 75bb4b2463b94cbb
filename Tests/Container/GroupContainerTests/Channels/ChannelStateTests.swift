import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.ownThreads) struct `Channel state` {
    /// A plain model of the state: everything that was ever posted, and each listener's place.
    private struct Model {
        var posted: [UInt64] = []
        var sizes: [UInt64: Int] = [:]
        var places: [String: UInt64] = [:]
        var kept = Set<UInt64>()

        mutating func forget() {
            if let done = places.values.min() {
                kept = kept.filter { $0 > done }
                return
            }
            while kept.count > 1, let oldest = kept.min(),
                kept.count > ChannelState.unreadCount
                    || kept.reduce(0, { $0 + (sizes[$1] ?? 0) }) > ChannelState.unreadSize
            {
                kept.remove(oldest)
            }
        }
    }

    private struct Log {
        var records: [(body: [UInt8], sequence: UInt64, isControl: Bool)] = []
        var sequence: UInt64 = 0

        mutating func append(_ body: [UInt8], isControl: Bool) {
            if !isControl { sequence += 1 }
            records.append((body, sequence, isControl))
        }

        func fold(from base: UInt64) -> ChannelState {
            var state = ChannelState(last: base)
            for record in records { state.apply(record.body, at: record.sequence, isControl: record.isControl) }
            return state
        }

        /// Returns the log that a compacted segment of this state begins with.
        func compacted(_ state: ChannelState) -> Log {
            var log = Log(sequence: sequence)
            let messages = records.compactMap { state.carried($0.body, at: $0.sequence, isControl: $0.isControl) }
            for body in state.carriedBodies() + messages { log.append(body, isControl: true) }
            return log
        }
    }

    @Test(arguments: 0..<20) func `a channel's state equals a plain model's, however often its log is compacted`(
        seed: Int
    ) {
        var random = SeededGenerator(seed: UInt64(seed))
        var (log, base, model) = (Log(), UInt64(0), Model())
        var state = ChannelState()
        let names = ["a", "b", "c"]
        for turn in 0..<1_500 {
            let name = names[Int.random(in: 0..<3, using: &random)]
            var step: ChannelRecord.Step?
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                let fromOldest = Bool.random(using: &random)
                step = .listen(name, fromOldest: fromOldest)
                let start = fromOldest ? model.kept.min().map { $0 - 1 } ?? log.sequence : log.sequence
                if model.places[name] == nil { model.places[name] = start }
            case 1:
                step = .remove(name)
                model.places[name] = nil
            case 2..<8:
                let number = UInt64.random(in: 0...log.sequence + 2, using: &random)
                step = .acknowledge(name, upTo: number)
                model.places[name] = model.places[name].map { max($0, min(number, log.sequence)) }
            case 8:
                log.append([99, UInt8(turn & 255)], isControl: true)
                state.keep([99, UInt8(turn & 255)], at: log.sequence, isControl: true)
            case 9:
                log.append([98, 1, 2], isControl: false)
                state.keep([98, 1, 2], at: log.sequence, isControl: false)
                model.posted.append(log.sequence)
                model.sizes[log.sequence] = ChannelState.size(3, "")
                model.kept.insert(log.sequence)
            default:
                let largest = turn % 500 < 20 ? 200_000 : 40
                let content: [UInt8]? =
                    Bool.random(using: &random)
                    ? nil : Array(repeating: 7, count: Int.random(in: 0...largest, using: &random))
                step = .post(content)
                model.posted.append(log.sequence + 1)
                model.sizes[log.sequence + 1] = ChannelState.size(content?.count ?? 0, "me")
                model.kept.insert(log.sequence + 1)
            }
            if let step {
                let record = ChannelRecord(processIdentifier: 1, time: Int64(turn), purpose: "me", step: step)
                log.append(record.encoded(), isControl: record.isControl)
                state.apply(record, at: log.sequence)
            }
            model.forget()
            if Int.random(in: 0..<60, using: &random) == 0 {
                (log, base) = (log.compacted(state), log.sequence)
                #expect(log.fold(from: base) == state)
            }
            let isSame =
                state.messages.map(\.number) == model.kept.sorted() && state.last == log.sequence
                && state.listeners.mapValues(\.acknowledged) == model.places
                && state.size == state.messages.reduce(0) { $0 + $1.size }
            #expect(isSame, "turn \(turn)")
            if !isSame { return }
        }
        #expect(log.fold(from: base) == state)
        for number in [0, 1, log.sequence / 2, log.sequence] {
            #expect(state.messages(behind: number).map(\.number) == model.kept.filter { $0 > number }.sorted())
        }
    }

    private static let steps: [ChannelRecord.Step] = [
        .post(nil), .post([]), .post([1, 2, 3]), .listen("a", fromOldest: true), .listen("", fromOldest: false),
        .acknowledge("a", upTo: .max), .remove("a"), .carriedPost(number: 7, nil), .carriedPost(number: 8, [0]),
        .carriedUnknown(number: 9, [99]), .carriedListener("ä", acknowledged: 3, since: -1),
    ]

    /// Any bytes give a record or an error, and never a crash.
    @Test(arguments: steps) func `channel records are decoded from any bytes without a crash`(step: ChannelRecord.Step)
        throws
    {
        var random = SeededGenerator(seed: 5)
        let record = ChannelRecord(processIdentifier: 12, time: 34, purpose: "p", step: step)
        let bytes = record.encoded()
        #expect(try ChannelRecord(decoding: bytes) == record)
        var state = ChannelState()
        for turn in 0..<3_000 {
            let broken = mutated(bytes, using: &random)
            state.apply(broken, at: UInt64(turn), isControl: record.isControl)
            _ = state.carried(broken, at: UInt64(turn), isControl: record.isControl)
        }
        #expect(state.messages.map(\.number) == state.messages.map(\.number).sorted())
    }

    @Test func `a listener's place in a segment preamble is limited to the channel's last message`() {
        var state = ChannelState(last: 7)
        state.apply(
            ChannelRecord(
                processIdentifier: 1, time: 0, purpose: "",
                step: .carriedListener("l", acknowledged: .max, since: 0)), at: 7)
        #expect(state.listeners["l"]?.acknowledged == 7)
    }
}
