import Foundation
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// One operation, and every fault at each of its system calls.
struct FaultMatrix {
    /// A fault, and the call at which it is put.
    struct Place: CustomStringConvertible {
        var call: Strace.Call
        var fault: Strace.Fault
        var description: String { "\(fault) at \(call)" }
    }

    let operation: FaultedOperation
    private let oracle: FaultOracle
    private let calls: [Strace.Call]
    /// Calls that `PossibleErrors` does not know.
    let unknown: Set<String>

    /// The calls that every process makes until it is a member; faults at these are tried with an operation that does
    /// nothing else.
    static func joining() throws -> [Strace.Call] {
        let container = try TemporaryContainer()
        return try Strace.calls(of: ["groupctl", "path", container.path], input: "", in: container)
    }

    /// Runs the operation once without a fault.
    init(_ operation: FaultedOperation, joining: [Strace.Call] = []) throws {
        self.operation = operation
        let container = try TemporaryContainer(creating: false)
        try operation.prepare(container)
        var before = ContainerState()
        if operation.fate != .comes { before = try ContainerState(of: container, isNumbered: !operation.cutsJournal) }
        // The container is as it is for each fault: no process has looked at it before.
        let model = try TemporaryContainer(creating: false)
        try operation.prepare(model)
        let all = try operation.accompanied(in: model) {
            try Strace.calls(of: operation.command(in: model), input: operation.input, in: model)
        }
        calls = Array(all.dropFirst(zip(all, joining).prefix { $0.name == $1.name }.count))
        var after = ContainerState()
        if operation.fate != .goes { after = try ContainerState(of: model, isNumbered: !operation.cutsJournal) }
        let other = try TemporaryContainer(creating: false)
        try operation.prepare(other)
        let (_, text) = try operation.accompanied(in: other) {
            try RunningProcess(operation.command(in: other), input: operation.input).finish()
        }
        oracle = FaultOracle(operation, before: before, after: after, text: text)
        unknown = Set(calls.filter { PossibleErrors.of($0) == nil }.map(\.name))
    }

    private static func faults(of call: Strace.Call) -> [Strace.Fault] {
        [.kill] + (PossibleErrors.of(call) ?? []).map(Strace.Fault.error)
    }

    /// The calls at which faults are put. Of a call that is made again and again, as by a doctor that looks at every
    /// process of the machine: the first ones, the last ones, and some in between.
    private var fewCalls: [Strace.Call] {
        let edge = 50
        return Dictionary(grouping: calls, by: \.name).values.flatMap { calls in
            if calls.count <= 3 * edge { return calls }
            let between = calls.dropFirst(edge).dropLast(edge)
            let step = between.count / edge
            return calls.prefix(edge)
                + stride(from: between.startIndex, to: between.endIndex, by: step).map { between[$0] }
                + calls.suffix(edge)
        }
    }

    /// Tries every fault of every call, and a kill at each further call until there is none. Returns how many faults
    /// were reached.
    func tryAll() throws -> Int {
        let places = fewCalls.flatMap { call in Self.faults(of: call).map { Place(call: call, fault: $0) } }
        let found = Guarded<[String]>([])
        let count = Guarded(0)
        // Each attempt waits for its processes most of the time.
        DispatchQueue.concurrentPerform(iterations: places.count) { number in
            let faults = faults(at: "\(places[number])") {
                let (faults, isReached) = try attempt(places[number], number)
                if isReached { count.withLock { $0 += 1 } }
                return faults
            }
            found.withLock { $0 += faults }
        }
        // Without a fault, too, the process may make more calls the next time.
        for (name, all) in Dictionary(grouping: calls, by: \.name) {
            guard var call = all.max(by: { $0.number < $1.number }), name != "exit_group" else { continue }
            var isReached = true
            while isReached {
                call.number += 1
                let (faults, wasReached) = try attempt(Place(call: call, fault: .kill), call.number)
                count.withLock { $0 += 1 }
                found.withLock { $0 += faults }
                isReached = wasReached
            }
        }
        found.withLock { $0 += faults(at: "short transfers") { try faultsOfShortTransfers() } }
        report(found.withLock { $0 })
        return count.withLock { $0 }
    }

    private func faults(at place: String, _ body: () throws -> [String]) -> [String] {
        do { return try body() } catch { return ["\(place): \(error)"] }
    }

    private func report(_ faults: [String]) {
        for fault in faults { Issue.record("\(operation.testDescription), \(fault)") }
    }

    /// Tries one place of each error, and a kill at two places beside a rename.
    func trySome(seed: UInt64) throws -> Int {
        var numbers = SeededGenerator(
            seed: seed ^ operation.testDescription.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) })
        let places = calls.flatMap { call in Self.faults(of: call).map { Place(call: call, fault: $0) } }
        var chosen = ["EIO", "ENOSPC", "EINTR", "EMFILE"].compactMap { error in
            places.filter { $0.fault == .error(error) }.randomElement(using: &numbers)
        }
        let renames = calls.indices.filter { calls[$0].name.hasPrefix("rename") }
        for _ in 0..<2 {
            let place = renames.randomElement(using: &numbers).map { $0 + Int.random(in: 0...2, using: &numbers) }
            let killed = calls[min(place ?? Int.random(in: calls.indices, using: &numbers), calls.count - 1)]
            chosen.append(Place(call: killed, fault: .kill))
        }
        for (number, place) in chosen.enumerated() {
            report(faults(at: "\(place)") { try attempt(place, number + Int(seed % 2)).faults })
        }
        report(faults(at: "short transfers") { try faultsOfShortTransfers() })
        return chosen.count + 1
    }

    private func attempt(_ place: Place, _ number: Int) throws -> (faults: [String], isReached: Bool) {
        let container = try TemporaryContainer(creating: false)
        try operation.prepare(container)
        // A member that was there before, or none: then the next member finishes what was left.
        var witness = number % 2 == 0 && operation.fate == .stays && !operation.repairs ? try container.open() : nil
        let (process, (status, text)) = try operation.accompanied(in: container) {
            let process = try Strace.start(
                operation.command(in: container), input: operation.input, fault: place.fault, at: place.call)
            return (process, try process.finish())
        }
        let isReached = process.isReached
        // Beside other processes it makes other calls: a fault that was meant for a lock may have met the copy of a
        // descriptor.
        if case .error(let error) = place.fault, let call = process.injected,
            PossibleErrors.of(call)?.contains(error) == false
        {
            return number % 2 == 0 ? try attempt(place, number + 1) : ([], isReached)
        }
        let faults = oracle.faults(
            in: container, &witness, after: isReached ? place.fault : nil, status: status, text: text)
        return (faults.isEmpty ? [] : ["\(place): \(faults.joined(separator: " | "))"], isReached)
    }

    // fault: short-write
    private func faultsOfShortTransfers() throws -> [String] {
        guard let library = ShortTransfers.library else { return [] }
        let container = try TemporaryContainer(creating: false)
        try operation.prepare(container)
        let (status, text) = try operation.accompanied(in: container) {
            try RunningProcess(
                operation.command(in: container), input: operation.input, environment: ["LD_PRELOAD": library]
            ).finish()
        }
        var member: Container?
        let faults = oracle.faults(in: container, &member, after: .error("EINTR"), status: status, text: text)
        return faults.isEmpty ? [] : ["short transfers: \(faults.joined(separator: " | "))"]
    }
}
