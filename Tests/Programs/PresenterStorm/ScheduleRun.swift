import Glibc
import GroupContainer
import GroupSystemCalls
import PresenterModel
import TestSupport

/// The processes of one schedule, in a container of their own, and their kills and stops.
final class ScheduleRun {
    private let seed: UInt64
    let schedule: Schedule
    private let surroundings: TemporaryContainer
    private let output: Pipe
    private let nothing: FileDescriptor
    /// The workers begin when it is closed.
    private var start: Pipe?
    /// The workers' input.
    private var input: Int32
    private let poller: Poller
    private var processes: [String: SignaledProcess] = [:]
    private var lines: [String] = []
    private var rest: [UInt8] = []
    private var counts: [String: Int] = [:]
    private var done: Set<String> = []
    private var ended: Set<String> = []
    /// The processes that were killed, or have a timer that kills them.
    private var doomed: Set<String> = []
    /// The processes that were stopped, or have a timer that stops them.
    private var stopped: Set<String> = []
    private var due: [(time: Int64, action: Action)] = []
    private var awaited: [(event: String, target: String)] = []

    private enum Action {
        case intervene(Schedule.Intervention)
        case resume(String)
    }

    struct Overran: Error {}

    init(seed: UInt64) throws {
        self.seed = seed
        var random = SeededGenerator(seed: seed)
        schedule = Schedule(using: &random)
        surroundings = try TemporaryContainer()
        output = try Pipe()
        nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .reading)
        let start = try Pipe()
        input = start.reading.number
        self.start = consume start
        poller = try Poller()
        try poller.add(output.reading.number)
    }

    /// Runs the schedule once. Returns everything that its processes printed, and what became of the container.
    func run() throws -> [String] {
        try makeItems()
        do {
            try play()
            try settle()
            try finish()
        } catch is Overran {
            resumeAll()
            lines.append("the schedule did not end in \(Self.limit / 1_000_000_000) s")
        }
        return lines
    }

    private static let limit: Int64 = 30_000_000_000

    private func play() throws {
        let end = awakeNanoseconds() + Self.limit
        for worker in schedule.workers where worker.replaces == nil { try launch(worker) }
        while !processes.keys.allSatisfy({ counts["\($0) started"] == 1 }) { try step(until: end) }
        input = nothing.number
        start = nil
        for intervention in schedule.interventions where intervention.count == 0 { plan(intervention) }
        while !processes.keys.allSatisfy({ done.contains($0) || ended.contains($0) }) { try step(until: end) }
        resumeAll()
        // Presenters that save when they are asked, and have something to save after each reacquisition, ask each other
        // without end.
        _ = try FileDescriptor.open(path: StormWorker.markOfEnd(surroundings.path), [.writing, .creating], mode: 0o600)
    }

    private func launch(_ worker: Schedule.Worker) throws {
        processes[worker.name] = try SignaledProcess(
            ["presenter-storm", "work", surroundings.path, "\(seed)", worker.name], input: input,
            output: output.writing.number)
    }

    private func note(_ word: StormEvent.Word, _ fields: String) {
        lines.append("\(awakeNanoseconds()) storm \(word.rawValue) \(fields)")
    }

    // MARK: Events

    /// Takes what is printed or due, and waits for at most some milliseconds.
    private func step(until end: Int64) throws {
        let now = awakeNanoseconds()
        if now > end { throw Overran() }
        for entry in due.filter({ $0.time <= now }).sorted(by: { $0.time < $1.time }) { carryOut(entry.action) }
        due.removeAll { $0.time <= now }
        let next = due.map(\.time).min() ?? .max
        if try poller.wait(nanoseconds: min(5_000_000, max(0, next - now))) { try read() }
        for (name, process) in processes where !ended.contains(name) && process.hasEnded { try takeEnd(of: name) }
    }

    private func read() throws {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = try output.reading.read(into: &chunk)
        rest += chunk[..<count]
        while let newline = rest.firstIndex(of: 10) {
            let line = String(decoding: rest[..<newline], as: UTF8.self)
            rest.removeSubrange(...newline)
            lines.append(line)
            if let event = StormEvent(line) { take(event) }
        }
    }

    private func take(_ event: StormEvent) {
        let name = "\(event.process) \(event.word.rawValue)"
        counts[name, default: 0] += 1
        for wait in awaited where wait.event == name { carryOut(.resume(wait.target)) }
        awaited.removeAll { $0.event == name }
        if event.word == .done { done.insert(event.process) }
        if event.word == .armed {
            let own = schedule.workers.first { $0.name == event.process }?.own
            switch own?.action {
            case .kill: doomed.insert(event.process)
            case .stop(let end): noteStop(of: event.process, until: end, after: own?.delay ?? 0)
            case nil: break
            }
        }
        for intervention in schedule.interventions
        where intervention.process == event.process && intervention.word == event.word
            && intervention.count == counts[name]
        {
            plan(intervention)
        }
    }

    private func takeEnd(of name: String) throws {
        ended.insert(name)
        // Its last words came before its end.
        while try poller.wait(nanoseconds: 0) { try read() }
        let isExpected = doomed.contains(name) || done.contains(name)
        if !isExpected { note(.died, "process=\(name) status=\(processes[name]?.reap() ?? -1)") }
        for worker in schedule.workers where worker.replaces == name { try launch(worker) }
    }

    // MARK: Kills and stops

    private func plan(_ intervention: Schedule.Intervention) {
        due.append((awakeNanoseconds() + Int64(intervention.delay) * 1_000, .intervene(intervention)))
    }

    private func carryOut(_ action: Action) {
        switch action {
        case .resume(let name): resume(name)
        case .intervene(let intervention):
            let name = intervention.target
            guard let process = processes[name], !ended.contains(name) else { return }
            switch intervention.action {
            case .kill:
                note(.kills, "process=\(name)")
                doomed.insert(name)
                process.signal(SIGKILL)
            case .stop(let end):
                note(.stops, "process=\(name)")
                process.signal(SIGSTOP)
                noteStop(of: name, until: end, after: 0)
            }
        }
    }

    private func noteStop(of name: String, until end: Schedule.Intervention.End, after delay: Int) {
        stopped.insert(name)
        let now = awakeNanoseconds() + Int64(delay) * 1_000
        switch end {
        case .time(let time): due.append((now + Int64(time) * 1_000, .resume(name)))
        case .event(let process, let word, let limit):
            awaited.append(("\(process) \(word.rawValue)", name))
            // A process that is done has no such event any more.
            due.append((now + (done.contains(process) ? 0 : Int64(limit) * 1_000), .resume(name)))
        }
    }

    private func resume(_ name: String) {
        guard stopped.remove(name) != nil, let process = processes[name] else { return }
        // A timer may not have stopped it yet.
        _ = process.awaitStop()
        process.signal(SIGCONT)
        note(.resumes, "process=\(name)")
    }

    private func resumeAll() {
        due = []
        for name in stopped { resume(name) }
    }

    // MARK: The end

    private func makeItems() throws {
        let items = try surroundings.open().coordinator(purpose: "initial").blocking
        for item in ["d/a", "d/b"] {
            try items.write(bytes: Array("initial".utf8), to: ItemPath(item), durability: .relaxed)
        }
    }

    /// Waits until each presenter has reacquired, and no process is stopped; the checker finds one that does not.
    private func settle() throws {
        let end = awakeNanoseconds() + 3_000_000_000
        while awakeNanoseconds() < end {
            try step(until: .max)
            if stopped.isEmpty && History(lines).isQuiet { return }
        }
    }

    private func finish() throws {
        let container = try surroundings.open()
        let end = awakeNanoseconds() + 2_000_000_000
        var open = try questions(in: container)
        while !open.isEmpty && awakeNanoseconds() < end {
            try step(until: .max)
            open = try questions(in: container)
        }
        for question in open { note(.open, "text=\(question)") }
        try writeLast("final-living", in: container)
        try settle()
        for process in processes.values {
            process.signal(SIGKILL)
            process.reap()
        }
        try writeLast("final-dead", in: container)
        for finding in try ContainerCheck(.path(Array(surroundings.path.utf8))).examine()
        where finding.severity != .note {
            note(.finding, "text=\("\(finding.code.rawValue) \(finding.what)".replacing(" ", with: "_"))")
        }
        var follower = try container.recordedChanges(since: .start)
        while let change = try follower.next(timeout: .zero) {
            if change.kind.isMarker { continue }
            let from = change.kind.otherPath.map { " from=\($0)" } ?? ""
            note(
                .change,
                "sequence=\(change.sequence.rawValue) kind=\(change.kind.name) path=\(change.path)\(from)"
                    + " purpose=\(change.author?.purpose ?? "")")
        }
    }

    private func questions(in container: Container) throws -> [String] {
        try container.status().members.flatMap(\.presentedItems).flatMap { item in
            item.questions.map { "\(item.path):\($0.purpose):\($0.state)" }
        }
    }

    private func coordinator(for name: String, in container: Container) -> Coordinator {
        var coordinator = container.coordinator(purpose: name)
        coordinator.presenterGrace = .seconds(20)
        return coordinator
    }

    /// Writes each item, whose presenters, if they live, answer at once.
    private func writeLast(_ purpose: String, in container: Container) throws {
        for item in ["d/a", "d/b"] {
            // The content names its writer, by which the model checks what a request reads that is still going on.
            let name = "\(purpose)-\(item.suffix(1))"
            let coordinator = coordinator(for: name, in: container)
            var result = "ok"
            do {
                try coordinator.blocking.coordinate(
                    .writing(ItemPath(item)), durability: .relaxed, timeout: patience
                ) { access in
                    if !access.unresponsivePresenters.isEmpty { result = "passedOver" }
                    try access.write(bytes: Array(name.utf8), to: ItemPath(item))
                }
            } catch let error as CoordinationError {
                result = error.code.rawValue
            }
            note(.final, "item=\(item) result=\(result)")
        }
    }
}
