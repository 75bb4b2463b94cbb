import GroupContainer
import TestSupport

/// A program that increments a number in a suite, posts messages, and listens to the messages of all machines. It
/// prints `added N` and `posted WORD`; `perhaps …` where it got an error; and `got WORD` for each message.
final class DataUser {
    static let suite = "storm"
    static let key = "sum"
    static let channel = "storm"

    private let worker: Worker
    private let suite: GroupDefaults
    private let channel: GroupChannel
    private let listener: GroupListener

    init(_ worker: Worker) throws {
        self.worker = worker
        let container = try Container(path: worker.path)
        suite = try GroupDefaults(container, suite: Self.suite)
        channel = try GroupChannel(container, name: Self.channel, purpose: worker.name)
        listener = try Self.listener(of: channel)
    }

    /// The one listener of a machine: what it has got is not got again.
    static func listener(of channel: GroupChannel) throws -> GroupListener {
        try channel.listener(named: "storm", since: .start)
    }

    func work() throws {
        try worker.takeTurns(within: 200) {
            if worker.draw(0..<2) == 0 {
                let number = worker.draw(1..<1_000)
                let isDone = refusing { try suite.increment(Self.key, by: number) }
                printLine("\(isDone ? "added" : "perhaps-added") \(number)")
            } else {
                let word = worker.token()
                let isDone = refusing { try channel.post(bytes: Array(word.utf8)) }
                printLine("\(isDone ? "posted" : "perhaps-posted") \(word)")
            }
            _ = refusing { try Self.drain(listener) { printLine("got \($0)") } }
        }
        printLine("ended")
    }

    static func drain(_ listener: GroupListener, _ body: (String) -> Void) throws {
        while let message = try listener.next(timeout: .zero) {
            body(String(decoding: message.bytes ?? [], as: UTF8.self))
        }
    }

    private func refusing(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch {
            printLine("refused \((error as? CoordinationError)?.code.rawValue ?? "error") \(error)")
            return false
        }
    }
}

/// What the users of suites and channels have printed, and what has to be true of it.
struct DataAccount {
    private var added = 0
    private var perhapsAdded = 0
    private var posted: Set<Substring> = []
    private var perhapsPosted: Set<Substring> = []
    /// The messages of each machine, in the order in which they came first.
    private var got: [[String]] = []
    private var sums: [Int64] = []

    init(_ machines: [StormMachine]) throws {
        for machine in machines {
            var seen: Set<String> = []
            var words: [String] = []
            for line in machine.lines {
                let parts = line.split(separator: " ", maxSplits: 1)
                guard parts.count == 2 else { continue }
                switch parts[0] {
                case "added": added += Int(parts[1]) ?? 0
                case "perhaps-added": perhapsAdded += Int(parts[1]) ?? 0
                case "posted": posted.insert(parts[1])
                case "perhaps-posted": perhapsPosted.insert(parts[1])
                case "got": if seen.insert(String(parts[1])).inserted { words.append(String(parts[1])) }
                default: continue
                }
            }
            let container = try Container(path: machine.container)
            let channel = try GroupChannel(container, name: DataUser.channel, purpose: "storm")
            try DataUser.drain(try DataUser.listener(of: channel)) { word in
                if seen.insert(word).inserted { words.append(word) }
            }
            got.append(words)
            let suite = try GroupDefaults(container, suite: DataUser.suite)
            guard case .integer(let sum)? = suite.value(forKey: DataUser.key) else {
                sums.append(0)
                continue
            }
            sums.append(Int64(sum))
        }
    }

    var summary: String { "\(posted.count) messages, a sum of \(added)" }

    var faults: [String] {
        var faults: [String] = []
        if Set(sums).count > 1 { faults.append("the sums differ: \(sums)") }
        for sum in sums where !(added...added + perhapsAdded).contains(Int(clamping: sum)) {
            faults.append("the sum is \(sum), and \(added) was added, and perhaps \(perhapsAdded)")
        }
        for (number, words) in got.enumerated() {
            let missing = posted.subtracting(words.map { $0[...] })
            if !missing.isEmpty {
                faults.append("m\(number + 1) did not get \(missing.sorted().prefix(5)) of \(missing.count)")
            }
            let unknown = Set(words.map { $0[...] }).subtracting(posted).subtracting(perhapsPosted)
            if !unknown.isEmpty {
                faults.append("m\(number + 1) got what nobody posted: \(unknown.sorted().prefix(5))")
            }
            if words != got[0], let place = zip(words, got[0]).enumerated().first(where: { $1.0 != $1.1 }) {
                faults.append(
                    "m\(number + 1) has another order than m1 from message \(place.offset) on: \(place.element)")
            }
        }
        return faults
    }
}
