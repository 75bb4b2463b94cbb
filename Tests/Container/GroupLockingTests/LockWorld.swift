import GroupBytes
import TestSupport

@testable import GroupLocking

/// Processes with one thread each, which request random items of a model container, over a model of the kernel's byte
/// locks. The product's own code decides which way a request takes, and whether it is in a cycle.
struct LockWorld {
    typealias Part = LockPlan.Part
    typealias Claim = WaitGraph.Claim

    /// A request on its way, in the same steps as `LockAcquisition`.
    struct Request {
        var plan: LockPlan
        var chain: UInt64
        var isNested: Bool
        /// The owner of the request's locks, which stands for an open file description.
        var owner: Int
        var taken = 0
        var ticket: UInt64 = 0
        var stage = Claim.Stage.wanted
        var hasAnnounced = false
        /// What the request's thread still has to do in the kernel; empty if it does not wait.
        var steps: [Part.Step] = []
        /// The byte that the request has waited for in an undivided step.
        var awaited: Int64?
    }

    struct Process {
        /// The locks of the process's closures, the outermost first.
        var locks: [Request] = []
        var request: Request?
        var isWaiting: Bool { !(request?.steps.isEmpty ?? true) }
    }

    struct Report {
        var process: Int
        var isTrue: Bool
    }

    private(set) var processes: [Process]
    private var kernel = ModelKernel()
    private var tickets: UInt64 = 0
    private var owners = 0
    private(set) var grants = 0
    private(set) var reports: [Report] = []
    /// Processes that have not entered the kernel yet.
    private var looking: Set<Int> = []
    /// False in the continuation that finds out whether a report was true: there no request gives up.
    private var givesUp = true

    init(processes count: Int) { processes = Array(repeating: Process(), count: count) }

    // MARK: - Steps of a process

    /// Begins a request; does nothing if the request would wait for its own process.
    mutating func begin(_ plan: LockPlan, by process: Int, namesItem: (Part, LockPlan) -> Bool) {
        let around = processes[process].locks
        var rest: [Part] = []
        for part in plan.parts {
            let held = around.map { Nesting.Held(plan: $0.plan, namesItem: namesItem(part, $0.plan)) }
            switch Nesting.judge(part, under: held) {
            case .independent: rest.append(part)
            case .granted: break
            case .refused: return
            }
        }
        owners += 1
        processes[process].request = Request(
            plan: LockPlan(rest), chain: around.first?.chain ?? UInt64(owners), isNested: !around.isEmpty,
            owner: owners)
        advance(process)
    }

    /// Ends the innermost closure.
    mutating func end(_ process: Int) {
        guard let lock = processes[process].locks.popLast() else { return }
        kernel.unlock(all: lock.owner)
    }

    /// Lets the thread that waits in the kernel take its next step, if it was granted. Returns false if it still waits.
    mutating func wake(_ process: Int) -> Bool {
        if let owner = processes[process].request?.owner { kernel.retry(owner) }
        guard var request = processes[process].request, let step = request.steps.first,
            !kernel.isWaiting(request.owner), !looking.contains(process)
        else { return false }
        if proceed(with: step, of: &request) { request.steps.removeFirst() }
        let isThrough = request.steps.isEmpty
        if isThrough {
            request.taken += 1
            request.stage = .wanted
        }
        processes[process].request = request
        if isThrough { advance(process) }
        return true
    }

    // MARK: - Acquisition

    private mutating func advance(_ process: Int) {
        guard var request = processes[process].request else { return }
        while request.taken < request.plan.parts.count {
            let part = request.plan.parts[request.taken]
            processes[process].request = request
            request.steps = take(part, for: process, &request)
            processes[process].request = request
            if request.steps.isEmpty {
                request.taken += 1
                request.stage = .wanted
                continue
            }
            let looks = request.isNested || request.taken > 0
            if looks && isInCircle(process, request) {
                // The process looks again once all processes that the kernel has granted something have run.
                letGrantedRun(besides: process)
                tickets += 1
                request.ticket = tickets
                processes[process].request = request
                if isInCircle(process, request) { return giveUp(process) }
            }
            if let step = request.steps.first, proceed(with: step, of: &request) { request.steps.removeFirst() }
            processes[process].request = request
            return
        }
        grants += 1
        processes[process].locks.append(request)
        processes[process].request = nil
    }

    private mutating func take(_ part: Part, for process: Int, _ request: inout Request) -> [Part.Step] {
        let isWanted = isWanted(part, besides: process)
        if request.isNested || !isWanted, attempt(part.whole, request.owner) { return [] }
        request.hasAnnounced = true
        request.stage = .queued
        tickets += 1
        request.ticket = tickets
        processes[process].request = request
        let held =
            processes[process].locks.flatMap { $0.plan.parts.map(\.range) }
            + request.plan.parts[..<request.taken].map(\.range)
        var gates = part.range.enclosing.filter { gate in
            wants(besides: process).contains { $0.mode == .tree && $0.range == gate }
                && part.standsBehind(gate, holding: held)
        }
        while let gate = gates.first, Part.pass(gate).allSatisfy({ attempt($0, request.owner) }) { gates.removeFirst() }
        guard gates.isEmpty, attempt(part.arrival, request.owner) else {
            return gates.flatMap(Part.pass) + [part.arrival] + part.passage
        }
        if part.passage.allSatisfy({ attempt($0, request.owner) }) { return [] }
        request.stage = .atTurnstile
        return part.passage
    }

    private mutating func attempt(_ step: Part.Step, _ owner: Int) -> Bool {
        switch step {
        case .exclusive(let start, let length), .undivided(let start, let length):
            kernel.tryLock(owner, start, length, isShared: false)
        case .shared(let start, let length): kernel.tryLock(owner, start, length, isShared: true)
        case .release(let start, let length): kernel.unlock(owner, start, length)
        }
    }

    /// Makes one call of the waiting thread. Returns false if it has to be made again once the kernel has granted what
    /// it waits for.
    private mutating func proceed(with step: Part.Step, of request: inout Request) -> Bool {
        if attempt(step, request.owner) {
            request.awaited = nil
            return true
        }
        switch step {
        case .undivided(let start, let length):
            if let awaited = request.awaited { _ = kernel.unlock(request.owner, awaited, 1) }
            guard let byte = kernel.conflict(request.owner, start, length) else { return false }
            request.awaited = max(byte, start)
            kernel.wait(request.owner, max(byte, start), 1, isShared: false)
        case .exclusive(let start, let length): kernel.wait(request.owner, start, length, isShared: false)
        case .shared(let start, let length): kernel.wait(request.owner, start, length, isShared: true)
        case .release: return true
        }
        return false
    }

    private mutating func letGrantedRun(besides process: Int) {
        looking.insert(process)
        var hasMoved = true
        while hasMoved { hasMoved = processes.indices.contains { wake($0) } }
        looking.remove(process)
    }

    private mutating func giveUp(_ process: Int) {
        reports.append(Report(process: process, isTrue: isStuck(process)))
        guard let request = processes[process].request else { return }
        processes[process].request = nil
        kernel.unlock(all: request.owner)
    }

    // MARK: - Claims

    private func wants(besides process: Int) -> [Part] {
        processes.indices.compactMap { index in
            guard index != process, let request = processes[index].request, request.stage != .wanted else { return nil }
            return request.plan.parts[request.taken]
        }
    }

    private func isWanted(_ part: Part, besides process: Int) -> Bool {
        let wants = wants(besides: process)
        if part.mode == .tree { return !wants.isEmpty }
        return wants.contains { other in
            if other.range == part.range { return other.mode != .shared || part.mode != .shared }
            return other.mode != .shared && part.range.enclosing.contains(other.range)
        }
    }

    private var claims: [Claim] {
        processes.indices.flatMap { index -> [Claim] in
            var claims = processes[index].locks.flatMap { lock in
                lock.plan.parts.map { claim(index, lock, $0, .held) }
            }
            if let request = processes[index].request, request.hasAnnounced {
                for (number, part) in request.plan.parts.enumerated() {
                    let stage: Claim.Stage =
                        number < request.taken ? .held : number > request.taken ? .wanted : request.stage
                    claims.append(claim(index, request, part, stage))
                }
            }
            return claims
        }
    }

    private func claim(_ process: Int, _ request: Request, _ part: Part, _ stage: Claim.Stage) -> Claim {
        Claim(
            member: process, owner: request.chain, ticket: stage == .held ? 0 : request.ticket,
            order: request.isNested ? 1 : 0, stage: stage, part: part)
    }

    private func isInCircle(_ process: Int, _ request: Request) -> Bool {
        givesUp
            && WaitGraph(claims).outlook(of: .init(slot: process, number: request.chain), ticket: request.ticket)
                == .circle
    }

    // MARK: - Whether a report is true

    /// Returns whether a process can come to wait for ever though all running closures end. The order in which the
    /// requests came is tried, and others, as woken threads run in no certain order.
    private func isStuck(_ process: Int) -> Bool {
        (0..<64).contains { seed in isStuck(process, inOrder: seed) }
    }

    private func isStuck(_ process: Int, inOrder seed: UInt64) -> Bool {
        var world = self
        var generator = SeededGenerator(seed: seed)
        world.givesUp = false
        world.looking = []
        world.kernel.handsOver = seed == 0
        if var request = processes[process].request {
            if let step = request.steps.first, world.proceed(with: step, of: &request) { request.steps.removeFirst() }
            world.processes[process].request = request
        }
        let tickets = world.processes.map { $0.request?.ticket ?? 0 }
        world.settle { seed == 0 ? $0.sorted { tickets[$0] < tickets[$1] } : $0.shuffled(using: &generator) }
        return world.processes[process].isWaiting
    }

    /// Ends all closures that can end, without further requests. Returns false if a process waits for ever.
    @discardableResult mutating func settle(_ order: ([Int]) -> [Int] = { $0 }) -> Bool {
        var bound = 10_000
        var hasMoved = true
        while hasMoved && bound > 0 {
            bound -= 1
            // One process at a time: a step changes which one is next.
            hasMoved = order(Array(processes.indices)).contains { process in
                if processes[process].isWaiting { return wake(process) }
                if processes[process].locks.isEmpty { return false }
                end(process)
                return true
            }
        }
        return processes.allSatisfy { !$0.isWaiting && $0.locks.isEmpty }
    }
}
