import TestSupport

@testable import GroupContainer

/// Processes, each with one thread, that ask for random items in a container of the model's, over a model of the
/// kernel's byte locks. Whatever decides which way a request takes, and whether it is in a circle, is the product's
/// own.
struct LockWorld {
    typealias Part = LockPlan.Part
    typealias Claim = WaitGraph.Claim

    /// A request on its way: `LockAcquisition`, in the same steps.
    struct Request {
        var plan: LockPlan
        var chain: UInt64
        var isNested: Bool
        /// Its locks, as an open file description has them.
        var owner: Int
        var taken = 0
        var ticket: UInt64 = 0
        var stage = Claim.Stage.wanted
        var hasAnnounced = false
        /// What its thread in the kernel has to do still; empty: it does not wait.
        var steps: [Part.Step] = []
        /// The byte that it has waited for in an undivided step.
        var awaited: Int64?
    }

    struct Process {
        /// What its closures hold, the outermost first.
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
    /// Those that have not gone into the kernel yet.
    private var looking: Set<Int> = []
    /// For the continuation that tells whether a report was true: there nobody gives up.
    private var givesUp = true

    init(processes count: Int) { processes = Array(repeating: Process(), count: count) }

    // MARK: - What a process can do

    /// Begins a request; nothing where it would wait for itself.
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

    /// Lets the thread that waits in the kernel do its next step, if it was granted. False: it still waits.
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

    // MARK: - The way of a request

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
                // It looks again once those have run that the kernel has granted something.
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
            wants(besides: process).contains { $0.mode == .structural && $0.range == gate }
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

    /// One call of the waiting thread; false: it has to be made again once the kernel has granted what it waits for.
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

    // MARK: - What others see

    private func wants(besides process: Int) -> [Part] {
        processes.indices.compactMap { index in
            guard index != process, let request = processes[index].request, request.stage != .wanted else { return nil }
            return request.plan.parts[request.taken]
        }
    }

    private func isWanted(_ part: Part, besides process: Int) -> Bool {
        let wants = wants(besides: process)
        if part.mode == .structural { return !wants.isEmpty }
        return wants.contains { other in
            if other.range == part.range { return other.mode != .reading || part.mode != .reading }
            return other.mode != .reading && part.range.enclosing.contains(other.range)
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
            member: process, chain: request.chain, ticket: stage == .held ? 0 : request.ticket,
            order: request.isNested ? 1 : 0, stage: stage, part: part)
    }

    private func isInCircle(_ process: Int, _ request: Request) -> Bool {
        givesUp
            && WaitGraph(claims).outlook(member: process, chain: request.chain, ticket: request.ticket) == .circle
    }

    // MARK: - The truth

    /// Whether a process can come to wait for ever though all closures that run end: it is tried, in the order in which
    /// the requests came and in others, as woken threads get on in no certain one.
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

    /// All closures that can end do, without asking for more. False: somebody waits for ever.
    @discardableResult mutating func settle(_ order: ([Int]) -> [Int] = { $0 }) -> Bool {
        var bound = 10_000
        var hasMoved = true
        while hasMoved && bound > 0 {
            bound -= 1
            // One at a time: a step changes who comes next.
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
