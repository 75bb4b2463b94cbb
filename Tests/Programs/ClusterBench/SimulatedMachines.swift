import Dispatch
import Glibc
import GroupEtcd
import GroupSystemCalls

/// What the machines of one cluster do at etcd, without their containers: each has a session, which it renews as
/// `EtcdLink` does, and a watch on the order. Some of them commit entries with a small content each, by the transaction
/// of `EtcdLink`.
final class SimulatedMachines: Sendable {
    private let configuration: EtcdConfiguration
    private let count, rate, seconds: Int
    private let committers: Int
    /// For each machine the times at which it had the commits, by their numbers.
    private let arrivals: [Guarded<[Int64]>]
    private let began: Guarded<[Int64]>
    private let standing = Guarded(0)
    private let failures = Guarded(0)
    private let hasEnded = Guarded(false)

    private static let prefix = "/group-container/bench/"
    private static let renewal: Int64 = 5_000_000_000
    private static let sessionLength: Int64 = 15
    /// Threads that renew the sessions of all machines, each by a connection of the machine's own.
    private static let renewers = 16

    init(_ configuration: EtcdConfiguration, count: Int, rate: Int, seconds: Int) {
        self.configuration = configuration
        self.count = count
        self.rate = rate
        self.seconds = seconds
        committers = min(count, 10)
        let commits = rate * seconds
        arrivals = (0..<count).map { _ in Guarded([Int64](repeating: 0, count: commits)) }
        began = Guarded([Int64](repeating: 0, count: commits))
    }

    private static func key(_ rest: String) -> [UInt8] { Array((prefix + rest).utf8) }

    private static func name(_ machine: Int) -> String {
        let digits = String(machine, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    func run() throws {
        for machine in 0..<count { try WorkThread.start { self.watch(machine) } }
        for renewer in 0..<min(Self.renewers, count) { try WorkThread.start { self.renew(renewer) } }
        let limit = monotonicNanoseconds() + 60_000_000_000
        while standing.withLock({ $0 }) < count {
            if monotonicNanoseconds() > limit { break }
            pace(until: monotonicNanoseconds() + 50_000_000)
        }
        flush("standing \(standing.withLock { $0 })")
        // The sessions begin within one interval.
        let start = monotonicNanoseconds() + Self.renewal + 1_000_000_000
        pace(until: start)
        failures.withLock { $0 = 0 }
        flush("begin")
        let ended = DispatchGroup()
        for machine in 0..<committers {
            ended.enter()
            try WorkThread.start {
                self.commit(machine, start)
                ended.leave()
            }
        }
        pace(until: start + Int64(seconds) * 1_000_000_000)
        flush("end")
        _ = ended.wait(timeout: .now() + 10)
        pace(until: monotonicNanoseconds() + 2_000_000_000)
        hasEnded.withLock { $0 = true }
        report()
    }

    /// Prints a line at once.
    private func flush(_ line: String) {
        print(line)
        fflush(nil)
    }

    private func report() {
        let times = began.withLock { $0 }
        let seen = arrivals.map { $0.withLock { $0 } }
        var missing = 0
        var delays: [Int64] = []
        for (number, began) in times.enumerated() where began != 0 {
            var last: Int64 = 0
            var isComplete = true
            for machine in seen {
                if machine[number] == 0 { (isComplete, missing) = (false, missing + 1) }
                last = max(last, machine[number])
            }
            if isComplete { delays.append(last - began) }
        }
        print(times.count { $0 != 0 }, failures.withLock { $0 }, missing)
        delays.forEach { print($0) }
    }

    private func fail() { failures.withLock { $0 += 1 } }

    /// Follows the order, as a machine does.
    private func watch(_ machine: Int) {
        var next: UInt64 = 0
        var isFirst = true
        let entries = Self.key("o/e/")
        while !hasEnded.withLock({ $0 }) {
            do throws(EtcdFailure) {
                try EtcdWatch(configuration, prefix: Self.key("o/"), from: next).run { response in
                    let now = monotonicNanoseconds()
                    if isFirst {
                        standing.withLock { $0 += 1 }
                        isFirst = false
                    }
                    for event in response.events {
                        next = event.keyValue.modRevision + 1
                        guard event.keyValue.key.starts(with: entries) else { continue }
                        let digits = event.keyValue.value.prefix { $0 != UInt8(ascii: ".") }
                        guard let number = Int(String(decoding: digits, as: UTF8.self)) else { continue }
                        arrivals[machine].withLock { if $0.indices.contains(number) { $0[number] = now } }
                    }
                    return !hasEnded.withLock { $0 }
                }
            } catch {
                fail()
                pace(until: monotonicNanoseconds() + 100_000_000)
            }
        }
    }

    /// Keeps the sessions of some machines alive, and reads the number of entries for each.
    private func renew(_ renewer: Int) {
        var sessions: [(client: EtcdClient, lease: Int64)] = []
        let machines = Array(stride(from: renewer, to: count, by: Self.renewers))
        for _ in machines { sessions.append((EtcdClient(configuration), 0)) }
        var round = monotonicNanoseconds()
        while !hasEnded.withLock({ $0 }) {
            for (place, machine) in machines.enumerated() {
                pace(until: round + Self.renewal * Int64(place) / Int64(machines.count))
                if hasEnded.withLock({ $0 }) { return }
                do throws(EtcdFailure) {
                    let client = sessions[place].client
                    var lease = sessions[place].lease
                    if lease != 0, try client.keepLeaseAlive(lease) <= 0 {
                        lease = 0
                        fail()
                    }
                    if lease == 0 {
                        lease = try client.grantLease(seconds: Self.sessionLength)
                        let key = Self.key("n/\(Self.name(machine))")
                        _ = try client.transaction(then: [.put(key, Array("machine".utf8), lease: lease)])
                        sessions[place].lease = lease
                    }
                    _ = try client.range(.key(Self.key("o/t")))
                } catch {
                    fail()
                }
            }
            round += Self.renewal
        }
    }

    /// Commits entries at this machine's part of the rate; no faster where it is late.
    private func commit(_ machine: Int, _ start: Int64) {
        let client = EtcdClient(configuration)
        let name = Self.name(machine)
        let counter = Self.key("o/m/\(name)")
        let end = start + Int64(seconds) * 1_000_000_000
        var number = 0
        for commit in stride(from: machine, to: rate * seconds, by: committers) {
            pace(until: start + Int64(commit) * 1_000_000_000 / Int64(rate))
            let now = monotonicNanoseconds()
            if now > end { return }
            let digits = Array("\(commit)".utf8)
            let entry = digits + [UInt8](repeating: UInt8(ascii: "."), count: 200 - digits.count)
            let place = String(number + 1, radix: 16)
            let entryKey = Self.key("o/e/\(name)/\(String(repeating: "0", count: 16 - place.count) + place)")
            do throws(EtcdFailure) {
                let result = try client.transaction(
                    if: [number == 0 ? .absent(counter) : .value(counter, equals: Array("\(number)".utf8))],
                    then: [
                        .put(counter, Array("\(number + 1)".utf8)), .put(entryKey, entry),
                        .put(Self.key("o/t"), Array("\(name)/\(number + 1)".utf8)),
                        .put(Self.key("b/\(name)\(place)/content/0"), [UInt8](repeating: 46, count: 120)),
                        .range(.key(Self.key("o/t"))),
                    ],
                    else: [.range(.key(counter))])
                if result.succeeded {
                    number += 1
                    began.withLock { $0[commit] = now }
                } else {
                    fail()
                    let value = result.ranges.first?.keyValues.first?.value ?? []
                    number = Int(String(decoding: value, as: UTF8.self)) ?? 0
                }
            } catch {
                fail()
            }
        }
    }
}
