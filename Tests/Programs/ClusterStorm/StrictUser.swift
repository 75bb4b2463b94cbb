import Cluster
import FoundationEssentials
import Glibc
import GroupContainer
import GroupSystemCalls

/// A program that changes a few registers, by writes that the cluster decides only. A register's content is its number
/// of changes and a word that nothing else has. Before each change a line `> WORD KIND REGISTER FROM TIME` is printed,
/// and afterwards `OUTCOME WORD TIME`, with `accepted`, `conflict`, `unavailable` or `unknown OPERATION`.
struct StrictUser {
    let worker: Worker
    private let items: BlockingCoordinator
    private let cluster: BlockingClusterCoordinator
    private let container: Container
    /// Says `accepted` for what was refused, so that the checker has something to find.
    let lies: Bool

    static let registers = ["r/a", "r/b"]
    /// Changed also without a condition.
    static let free = "r/s"
    /// Changed under the cluster's lock only.
    static let locked = "r/l"

    init(_ worker: Worker, lies: Bool) throws {
        self.worker = worker
        self.lies = lies
        container = try Container(path: worker.path)
        items = container.coordinator(purpose: worker.name).blocking
        cluster = container.cluster(purpose: worker.name).blocking
    }

    func work() throws {
        try worker.takeTurns(within: 120) {
            do {
                switch worker.draw(0..<7) {
                case 5, 6: try update(Self.locked)
                case 0: try set(Self.free)
                case 1: try exchange(Self.free)
                default: try exchange(Self.registers[worker.draw(0..<Self.registers.count)])
                }
            } catch let error as CoordinationError {
                printLine("refused \(error.code.rawValue) \(Self.line(error))")
            }
        }
        printLine("ended")
    }

    private static func line(_ error: CoordinationError) -> String {
        "\(error)".split(separator: "\n").joined(separator: " ")
    }

    private func exchange(_ register: String) throws {
        guard let old = try? items.readVersion(ItemPath(register)) else { return }
        let text = String(decoding: old.value, as: UTF8.self).split(separator: " ")
        guard text.count == 2, let number = Int(text[0]) else {
            return printLine("fault \(register) is not whole: \(text)")
        }
        let word = worker.token()
        try attempt(word, "exchange", register, from: String(text[1])) {
            _ = try cluster.write(
                bytes: Array("\(number + 1) \(word)".utf8), to: ItemPath(register),
                if: .generation(old.generation), timeout: .seconds(2))
        }
    }

    private func set(_ register: String) throws {
        let word = worker.token()
        try attempt(word, "set", register, from: "-") {
            _ = try cluster.write(
                bytes: Array("0 \(word)".utf8), to: ItemPath(register), timeout: .seconds(2))
        }
    }

    /// Changes a register under the lock of the cluster. `commit` is printed when the body has ended.
    private func update(_ register: String) throws {
        let word = worker.token()
        var hasBegun = false
        do {
            _ = try cluster.update(ItemPath(register), timeout: .seconds(4)) { old in
                let text = String(decoding: old ?? [], as: UTF8.self).split(separator: " ")
                printLine("> \(word) exchange \(register) \(text.last ?? "-") \(monotonicNanoseconds())")
                hasBegun = true
                pause(nanoseconds: Int64(worker.draw(0..<30) == 0 ? 3_000 : worker.draw(0..<50)) * 1_000_000)
                printLine("commit \(word) \(monotonicNanoseconds())")
                return Array("\((Int(text.first ?? "0") ?? 0) + 1) \(word)".utf8)
            }
            printLine("accepted \(word) \(monotonicNanoseconds())")
        } catch let error as CoordinationError where hasBegun {
            say(error, word)
        }
    }

    private func say(_ error: CoordinationError, _ word: String) {
        let outcome =
            switch error.code {
            case .conflict: lies ? "accepted" : "conflict"
            // Nothing was recorded that could be sent.
            case .unavailable, .noSpace, .lockTimedOut: "unavailable"
            case .unknown: "unknown"
            default: "other"
            }
        printLine("\(outcome) \(word) \(monotonicNanoseconds()) \(error.pendingOperation ?? "-") \(Self.line(error))")
    }

    private func attempt(_ word: String, _ kind: String, _ register: String, from: String, _ body: () throws -> Void)
        throws
    {
        printLine("> \(word) \(kind) \(register) \(from) \(monotonicNanoseconds())")
        do {
            try body()
            printLine("accepted \(word) \(monotonicNanoseconds())")
            // This machine has it now, or what came after it.
            if let now = try? items.readBytes(ItemPath(register)) {
                let text = String(decoding: now, as: UTF8.self).split(separator: " ")
                if text.count == 2 { printLine("seen \(word) \(text[1]) \(text[0])") }
            }
        } catch let error as CoordinationError {
            say(error, word)
        }
    }
}
