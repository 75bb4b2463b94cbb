// Imports nothing: no file, clock or process.

/// Draws a schedule from random numbers.
struct ScheduleDrawing<Random: RandomNumberGenerator> {
    var random: Random
    private var theme = Schedule.Theme.crowd
    private var requestCounts: [String: Int] = [:]

    init(random: Random) { self.random = random }

    mutating func schedule() -> Schedule {
        theme = Schedule.Theme.allCases.randomElement(using: &random) ?? .crowd
        let presenters = (1...draw(theme == .circles ? 2...3 : 1...3)).map { presenter("p\($0)", $0) }
        let requesters = (1...(isPrecise ? 1 : draw(1...3))).map { requester("r\($0)") }
        var schedule = Schedule(theme: theme, workers: presenters + requesters, interventions: [])
        intervene(in: &schedule)
        while isDrawn(25) { killAnyone(in: &schedule) }
        replace(in: &schedule)
        return schedule
    }

    /// Whether one process is stopped at one step of one request: there is one requester, and it asks the first
    /// presenter.
    private var isPrecise: Bool { [.hangingPresenter, .stoppedRequester].contains(theme) }

    // MARK: Numbers

    private mutating func draw(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    private mutating func isDrawn(_ percent: Int) -> Bool { draw(1...100) <= percent }

    private mutating func one<Element>(of elements: [Element]) -> Element {
        elements[draw(0...elements.count - 1)]
    }

    /// Draws from 0 to a time so that each magnitude is as likely: between two steps of a protocol there may be one
    /// microsecond or many.
    private mutating func delay(upTo most: Int) -> Int {
        var limit = 1
        while limit < most && isDrawn(80) { limit *= 3 }
        return draw(0...min(limit, most))
    }

    // MARK: Presenters

    private mutating func presenter(_ name: String, _ number: Int) -> Schedule.Worker {
        var worker = Schedule.Worker(name: name, isBlocking: isDrawn(50))
        var items = ["d/a", "d/a", "d/a", "d", "d", "d/b"]
        if theme == .circles { items = [["d/a", "d/b", "d"][number - 1]] }
        if isPrecise && number == 1 { items = ["d/a", "d"] }
        worker.steps.append(.pause(delay(upTo: theme == .withdrawals ? 20_000 : 2_000)))
        let item = one(of: items)
        worker.steps.append(.present(presentation("\(name).1", item)))
        if theme == .withdrawals || isDrawn(5) {
            worker.steps += [
                .pause(delay(upTo: 20_000)), .withdraw("\(name).1"), .pause(delay(upTo: 2_000)),
                .present(presentation("\(name).2", one(of: items))),
            ]
        } else if isDrawn(15) {
            // Two presentations of one process are of two items.
            worker.steps.append(.present(presentation("\(name).2", item == "d/b" ? "d/a" : "d/b")))
        }
        if isDrawn(theme == .circles ? 50 : 15) {
            worker.steps += [.pause(delay(upTo: 10_000)), .request(request(by: name, for: "\(name).1"))]
        }
        return worker
    }

    private mutating func presentation(_ name: String, _ item: String) -> Schedule.Presentation {
        var answers = Questions.all
        // A presenter that saves, and does not let go, would not learn who asks.
        if isPrecise && name == "p1.1" {
            let replies = [Schedule.Reply(action: isDrawn(50) ? .save : .nothing)]
            return Schedule.Presentation(
                name: name, item: item, document: item == "d" ? "a" : "", answers: .all, replies: replies)
        }
        if isDrawn(10) { answers.remove(.save) }
        if isDrawn(5) { answers.subtract([.reader, .save]) }
        return Schedule.Presentation(
            name: name, item: item, document: item == "d" ? "a" : "", answers: answers,
            replies: (1...draw(1...3)).map { _ in reply(on: item) })
    }

    private mutating func reply(on item: String) -> Schedule.Reply {
        var reply = Schedule.Reply(delay: isDrawn(60) ? 0 : delay(upTo: 5_000), action: .save)
        if theme == .lateSave && isDrawn(40) { reply.delay = draw(50_000...350_000) }
        let isOther = theme == .circles ? 60 : 6
        let isEnd = theme == .withdrawals ? 20 : 4
        if isDrawn(isOther) {
            let other = item == "d/b" ? "d/a" : "d/b"
            reply.action = isDrawn(60) ? .write(other) : .read(other)
        } else if isDrawn(isEnd) {
            reply.action = .withdraw
        } else if isDrawn(8) {
            reply.action = .fail
        } else if isDrawn(15) {
            reply.action = .nothing
        }
        return reply
    }

    // MARK: Requesters

    private mutating func requester(_ name: String) -> Schedule.Worker {
        var worker = Schedule.Worker(name: name, isBlocking: isDrawn(50))
        for _ in 1...(isPrecise ? 1 : draw(1...3)) {
            worker.steps += [
                .pause(isDrawn(30) ? draw(5_000...30_000) : delay(upTo: 20_000)), .request(request(by: name)),
            ]
        }
        return worker
    }

    private mutating func request(by process: String, for presenter: String? = nil) -> Schedule.Request {
        let number = requestCounts[process, default: 0] + 1
        requestCounts[process] = number
        var request = Schedule.Request(
            name: "\(process)-\(number)", intents: intents(), timeout: 2_000_000, grace: 300_000)
        request.thinking = delay(upTo: 3_000)
        if isDrawn(50) { request.grace = one(of: [60_000, 150_000, 1_000_000, 5_000_000]) }
        if isDrawn(15) { request.timeout = one(of: [0, 1_000, 5_000, 30_000, 150_000]) }
        if isDrawn(10) { request.cancel = delay(upTo: 50_000) }
        request.needsAnswers = isDrawn(8)
        if presenter != nil && isDrawn(70) { request.presenter = presenter }
        switch theme {
        case .lateSave, .moves: request.grace = one(of: [40_000, 80_000, 150_000])
        case .hangingPresenter:
            (request.timeout, request.grace) = (draw(30_000...200_000), 10_000_000)
            request.needsAnswers = false
        case .killedRequester where isDrawn(50): request.timeout = 5_000_000
        case .stoppedRequester: (request.timeout, request.grace) = (draw(50_000...200_000), 5_000_000)
        case .circles where request.intents.count == 1 && isDrawn(30): addInner(to: &request)
        default: break
        }
        return request
    }

    private mutating func addInner(to request: inout Schedule.Request) {
        guard let path = request.intents.first?.path, path != "d" else { return }
        var inner = request
        inner.name += "i"
        inner.intents = [Intent(one(of: [.read, .write]), path == "d/a" ? "d/b" : "d/a")]
        (inner.cancel, inner.timeout) = (nil, 1_000_000)
        request.inner = [inner]
    }

    private mutating func intents() -> [Intent] {
        if theme == .moves && isDrawn(50) {
            let (origin, place) = one(of: [("d/a", "d/m"), ("d/m", "d/a"), ("d", "e"), ("e", "d"), ("d/a", "e/a")])
            return [Intent(.move, origin), Intent(.replace, place)]
        }
        var item = isDrawn(theme == .circles ? 50 : isPrecise ? 100 : 85) ? "d/a" : "d/b"
        if theme == .moves && isDrawn(40) { item = "d/m" }
        let other = item == "d/a" ? "d/b" : "d/a"
        return switch draw(1...100) {
        case ...35: [Intent(.read, item)]
        case ...55: [Intent(.write, item)]
        case ...75: [Intent(.merge, item)]
        case ...80: [Intent(.readDisk, item)]
        case ...86: [Intent(.delete, item)]
        case ...89: [Intent(.delete, "d")]
        case ...93: [Intent(.move, item), Intent(.replace, item == "d/m" ? "d/a" : "d/m")]
        default: [Intent(one(of: [.write, .merge]), item), Intent(one(of: [.read, .write]), other)]
        }
    }
}

// MARK: Kills and stops

extension ScheduleDrawing {
    private static var requesterWords: [StormEvent.Word] { [.begins, .begins, .granted, .leaves] }
    private static var presenterWords: [StormEvent.Word] {
        [
            .presenting, .presented, .asked, .asked, .begins, .granted, .leaves, .ends, .saved, .answered, .answered,
            .reacquired,
        ]
    }

    private mutating func intervene(in schedule: inout Schedule) {
        let requesters = schedule.workers.indices.filter { schedule.workers[$0].name.hasPrefix("r") }
        let requester = one(of: Array(requesters))
        let name = schedule.workers[requester].name
        switch theme {
        case .killedRequester:
            if isDrawn(40) {
                schedule.workers[requester].own = own(name, Self.requesterWords, .kill)
            } else {
                schedule.interventions.append(
                    intervention(on: "p1", [.asked, .begins, .granted, .saved, .answered], against: name, .kill))
            }
        case .killedPresenter:
            schedule.workers[0].own = own("p1", Self.presenterWords, .kill)
        case .lateSave where isDrawn(70):
            schedule.workers[0].own = own(
                "p1", Self.presenterWords, .stop(until: .time(draw(100_000...450_000))))
        case .hangingPresenter:
            let end = Schedule.Intervention.End.event(process: name, word: .ends, limit: 4_000_000)
            schedule.workers[0].own = own("p1", [.asked, .asked, .presented], .stop(until: end), count: 1)
        case .stoppedRequester:
            let end = Schedule.Intervention.End.event(process: "p1", word: .reacquired, limit: 2_600_000)
            schedule.interventions.append(
                intervention(on: "p1", [.asked, .answered, .answered], against: name, .stop(until: end), count: 1))
        case .moves where isDrawn(50):
            schedule.workers[0].own = own(
                "p1", [.presented, .asked, .answered, .answered], .stop(until: .time(draw(50_000...250_000))))
        default: break
        }
    }

    private mutating func own(
        _ name: String, _ words: [StormEvent.Word], _ action: Schedule.Intervention.Action, count: Int? = nil
    ) -> Schedule.Intervention {
        intervention(on: name, words, against: name, action, count: count)
    }

    private mutating func intervention(
        on process: String, _ words: [StormEvent.Word], against target: String,
        _ action: Schedule.Intervention.Action, count: Int? = nil
    ) -> Schedule.Intervention {
        Schedule.Intervention(
            process: process, word: one(of: words), count: count ?? one(of: [1, 1, 1, 2, 3]),
            delay: delay(upTo: 3_000), target: target, action: action)
    }

    /// Kills or stops a process at any time.
    private mutating func killAnyone(in schedule: inout Schedule) {
        let target = one(of: schedule.workers).name
        schedule.interventions.append(
            Schedule.Intervention(
                process: target, word: .started, count: 0, delay: draw(0...60_000), target: target,
                action: isDrawn(50) ? .kill : .stop(until: .time(delay(upTo: 300_000)))))
    }

    /// Starts another process in the place of one that may be killed, in half of the schedules.
    private mutating func replace(in schedule: inout Schedule) {
        let targets = schedule.interventions + schedule.workers.compactMap(\.own)
        for intervention in targets {
            guard case .kill = intervention.action, isDrawn(50),
                schedule.workers.allSatisfy({ $0.replaces != intervention.target })
            else { continue }
            let name = intervention.target.hasPrefix("p") ? "p8" : "r8"
            if schedule.workers.contains(where: { $0.name == name }) { continue }
            var next = name.hasPrefix("p") ? presenter(name, 1) : requester(name)
            next.replaces = intervention.target
            schedule.workers.append(next)
        }
    }
}
