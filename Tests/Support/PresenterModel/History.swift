// Imports nothing: no file, clock or process.

/// The events of a schedule, sorted by what they are about.
package struct History: Sendable {
    struct Life: Sendable {
        var identifier = ""
        /// The moment before it was killed.
        var killed: Int64?
        /// From the moment before each stop to that after the process went on.
        var stops: [(from: Int64, to: Int64)] = []
    }

    struct Presenter: Sendable {
        var name: String
        var process: String
        var item: String
        var answers: Questions
        /// The moments before and after the registration.
        var begun: Int64
        var presented: Int64?
        var withdrawing: Int64?
        var withdrawn: Int64?
        /// What it was asked, and what it did, in order.
        var calls: [StormEvent] = []
    }

    struct Request: Sendable {
        var name: String
        var process: String
        var intents: [Intent]
        /// In nanoseconds; nil: no limit.
        var timeout: Int64?
        var grace: Int64
        var presenter: String?
        /// The request that asked, and the presenter that answers, if this request is part of an answer.
        var parent: (request: String, presenter: String)?
        var isNested: Bool { parent != nil || outer != nil }
        var outer: String?
        var begins: Int64
        var grant: Grant?
        var leaves: Int64?
        var end: (time: Int64, result: String)?
    }

    struct Grant: Sendable {
        var time: Int64
        var reach: Reach
        var unresponsive: [(identifier: String, item: String)]
        var versions: [String: Version] = [:]

        struct Version: Sendable {
            /// Nil: there is no item.
            var generation: Int64?
            var content: String
        }
    }

    struct Change: Sendable {
        var sequence: Int64
        var kind: String
        var path: String
        var from: String?
        /// The name of the request that made it.
        var purpose: String
    }

    private(set) var lives: [String: Life] = [:]
    private(set) var presenters: [Presenter] = []
    private(set) var requests: [Request] = []
    private(set) var changes: [Change] = []
    private(set) var events: [StormEvent] = []
    private(set) var unreadable: [String] = []
    private var presenterIndexes: [String: Int] = [:]
    private var requestIndexes: [String: Int] = [:]

    package init(_ lines: [String]) {
        for line in lines {
            if let event = StormEvent(line) { events.append(event) } else { unreadable.append(line) }
        }
        // Lines of several processes may be in another order than their times. The sort is stable.
        events = events.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
            .map(\.element)
        for event in events { take(event) }
    }

    func request(_ name: String) -> Request? { requestIndexes[name].map { requests[$0] } }

    func presenter(_ name: String) -> Presenter? { presenterIndexes[name].map { presenters[$0] } }

    func killed(_ process: String) -> Int64? { lives[process]?.killed }

    /// Returns for how long a process was stopped between two moments.
    func stopped(_ process: String, from start: Int64, to end: Int64) -> Int64 {
        (lives[process]?.stops ?? []).reduce(0) { $0 + max(0, min($1.to, end) - max($1.from, start)) }
    }

    /// Returns the places that an item may have been at, by any of the schedule's moves; its own place is the first.
    func places(of item: String) -> [String] {
        var places = [item]
        var next = 0
        while next < places.count {
            for change in changes {
                guard let from = change.from, let place = places[next].following(from, to: change.path),
                    !places.contains(place)
                else { continue }
                places.append(place)
            }
            next += 1
        }
        return places
    }

    /// Returns whether a request is made, directly or as part of an answer, while another one has its access.
    func isWithinAccess(_ request: Request) -> Bool {
        if request.outer != nil { return true }
        guard let (name, _) = request.parent, let parent = self.request(name) else { return false }
        return isWithinAccess(parent)
    }

    /// Returns the lines about presenters, requests and processes, in order.
    func lines(about names: [String]) -> [String] {
        let processes = names.flatMap { [presenter($0)?.process, request($0)?.process].compactMap { $0 } }
        return events.filter { event in
            if event.word == .change { return names.contains(event["purpose"]) }
            if ["as", "request", "parent"].contains(where: { names.contains(event[$0]) }) { return true }
            let isOfProcess = [.armed, .kills, .stops, .resumes, .died].contains(event.word)
            return isOfProcess && (processes + names).contains(event.fields["process"] ?? event.process)
        }.map(\.text)
    }

    /// Whether each request has returned, and each presenter has reacquired as often as it has let go, of those that
    /// can.
    package var isQuiet: Bool {
        requests.allSatisfy { $0.end != nil || killed($0.process) != nil }
            && presenters.allSatisfy { presenter in
                presenter.withdrawing != nil || killed(presenter.process) != nil || presenter.balance == 0
            }
    }

    private mutating func take(_ event: StormEvent) {
        switch event.word {
        case .started: lives[event.process, default: Life()].identifier = event["pid"]
        case .armed where event["action"] == "kill": noteKill(of: event.process, event.time)
        case .armed, .stops:
            lives[event.fields["process"] ?? event.process, default: Life()].stops.append((event.time, .max))
        case .kills: noteKill(of: event["process"], event.time)
        case .resumes:
            let process = event["process"]
            for index in lives[process]?.stops.indices ?? 0..<0 where lives[process]?.stops[index].to == .max {
                lives[process]?.stops[index].to = event.time
            }
        case .presenting:
            presenterIndexes[event["as"]] = presenters.count
            presenters.append(
                Presenter(
                    name: event["as"], process: event.process, item: event["item"],
                    answers: Questions(event["answers"]), begun: event.time))
        case .presented, .withdrawing, .withdrawn, .edited, .asked, .saved, .answered, .failed, .reacquired:
            if let index = presenterIndexes[event["as"]] { presenters[index].take(event) }
        case .begins: begin(event)
        case .granted, .leaves, .ends:
            if let index = requestIndexes[event["request"]] { requests[index].take(event) }
        case .change:
            changes.append(
                Change(
                    sequence: event.number("sequence") ?? 0, kind: event["kind"], path: event["path"],
                    from: event.fields["from"], purpose: event["purpose"]))
        case .done, .died, .final, .open, .finding: break
        }
    }

    private mutating func noteKill(of process: String, _ time: Int64) {
        if lives[process]?.killed == nil { lives[process, default: Life()].killed = time }
    }

    private mutating func begin(_ event: StormEvent) {
        requestIndexes[event["request"]] = requests.count
        let parent = event.fields["parent"].map { (request: $0, presenter: event["answering"]) }
        requests.append(
            Request(
                name: event["request"], process: event.process,
                intents: event["intents"].split(separator: ",").compactMap { Intent($0) },
                timeout: event.number("timeout").map { $0 * 1_000 }, grace: (event.number("grace") ?? 0) * 1_000,
                presenter: event.fields["presenter"], parent: parent, outer: event.fields["outer"], begins: event.time))
    }
}

extension History.Presenter {
    /// How many relinquishments are not followed by a reacquisition yet.
    var balance: Int {
        calls.reduce(0) { $0 + ($1.word == .reacquired ? -1 : $1.isRelinquishment ? 1 : 0) }
    }

    /// Returns the questions of a request that were answered before a moment.
    func answered(_ request: String, before time: Int64) -> Questions {
        calls.reduce(into: Questions()) { questions, call in
            if call.word == .answered && call["request"] == request && call.time < time {
                questions.formUnion(Questions(call["questions"]))
            }
        }
    }

    mutating fileprivate func take(_ event: StormEvent) {
        switch event.word {
        case .presented: presented = event.time
        case .withdrawing: withdrawing = withdrawing ?? event.time
        case .withdrawn: withdrawn = event.time
        default: calls.append(event)
        }
    }
}

extension StormEvent {
    /// Whether the presenter lets go of its item now.
    var isRelinquishment: Bool { word == .asked && Questions(self["questions"]).relinquishes }
}

extension History.Request {
    mutating fileprivate func take(_ event: StormEvent) {
        switch event.word {
        case .granted: grant = History.Grant(event, intents)
        case .leaves: leaves = event.time
        default: end = (event.time, event["result"])
        }
    }
}

extension History.Grant {
    fileprivate init(_ event: StormEvent, _ intents: [Intent]) {
        time = event.time
        reach = Reach(
            intents: intents, places: event["places"].split(separator: ",").map(String.init),
            hasDirectory: event["directory"] == "yes")
        unresponsive = event["unresponsive"].split(separator: ",").compactMap {
            text -> (identifier: String, item: String)? in
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            return parts.count == 2 ? (identifier: parts[0], item: parts[1]) : nil
        }
        for text in event["versions"].split(separator: ",") {
            let parts = text.split(separator: ":").map(String.init)
            if parts.count == 3 { versions[parts[0]] = Version(generation: Int64(parts[1]), content: parts[2]) }
        }
    }
}
