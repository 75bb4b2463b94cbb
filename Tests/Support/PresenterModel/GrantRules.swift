// Imports nothing: no file, clock or process.

/// What has to be true of each grant.
extension PresenterChecker {
    mutating func checkGrant(_ grant: History.Grant, of request: History.Request) {
        let earliest = earliestLook(of: request, grant)
        for presenter in history.presenters {
            if isPassedOver(presenter, in: grant) {
                // The time that is counted is never more than the time that has passed.
                if grant.time - request.begins < request.grace && !mayBeMarked(presenter, for: request, at: grant.time)
                    && !isSucceeded(presenter, request, grant)
                {
                    report(
                        .fullGrace, "\(request.name) passed over \(presenter.name) before its grace was over",
                        request.name, presenter.name)
                }
                continue
            }
            let wanted = questions(of: request, grant, to: presenter, earliest)
            if wanted.isEmpty { continue }
            let answered = presenter.answered(request.name, before: grant.time)
            if !answered.isSuperset(of: wanted) {
                report(
                    .answeredBeforeGrant,
                    "\(request.name) was granted, and \(presenter.name) had not answered \(wanted)", request.name,
                    presenter.name)
                continue
            }
            checkKeeps(presenter, request)
            if wanted.contains(.save) && !request.intents.contains(where: \.isWriting) {
                checkSees(presenter, request, grant)
            }
        }
        checkSaves(for: request, grant)
    }

    /// Returns what a presenter must have answered before a grant: nothing if it may not have been asked.
    private func questions(
        of request: History.Request, _ grant: History.Grant, to presenter: History.Presenter, _ earliest: Int64
    ) -> Questions {
        // A presenter that has registered before the request looked is seen by it. Those that came later may be, too.
        guard let presented = presenter.presented, presented < earliest else { return [] }
        // A presenter is not asked for its own requests, nor for those that are part of its answers.
        if request.presenter == presenter.name || isExempt(presenter, from: request) { return [] }
        // A killed process has lost its liveness lock only after it was killed, and a presenter that ends its
        // presentation leaves the table only after it has begun to. A kill or an end behind the grant excuses nothing,
        // and a stop never does: the request has to name a stopped presenter as unresponsive.
        if let killed = history.killed(presenter.process), killed < grant.time { return [] }
        if let withdrawing = presenter.withdrawing, withdrawing < grant.time { return [] }
        guard let place = place(of: presenter, at: request, grant) else { return [] }
        return grant.reach.questions(to: place).intersection(presenter.answers)
    }

    /// Returns whether an earlier request may have gone on without a presenter that has done nothing since: the later
    /// one goes on at once. An earlier request that was not granted may have done that, too.
    func mayBeMarked(_ presenter: History.Presenter, for request: History.Request, at time: Int64) -> Bool {
        history.requests.contains { other in
            guard other.name != request.name, other.begins + other.grace <= time else { return false }
            var over = other.end?.time ?? .max
            if let grant = other.grant {
                guard isPassedOver(presenter, in: grant) else { return false }
                over = grant.time
            }
            return over - other.begins >= other.grace
                && !presenter.calls.contains {
                    over < $0.time && isKnown($0, of: presenter, at: request.begins) && !isPart($0, of: presenter)
                }
        }
    }

    /// Returns whether other processes surely knew of a call at a time. A presenter prints that it answers or fails
    /// before the library puts this into the table, which has happened when the library calls the presenter again.
    private func isKnown(_ call: StormEvent, of presenter: History.Presenter, at time: Int64) -> Bool {
        if ![.answered, .failed].contains(call.word) { return call.time < time }
        return presenter.calls.contains { call.time < $0.time && $0.time < time }
    }

    /// Returns whether an access names another presenter. The access has only the process and the item, and the process
    /// has ended this presentation and begun another one of the item.
    private func isSucceeded(
        _ presenter: History.Presenter, _ request: History.Request, _ grant: History.Grant
    ) -> Bool {
        guard let withdrawing = presenter.withdrawing, withdrawing < request.begins else { return false }
        return history.presenters.contains { other in
            other.process == presenter.process && other.name != presenter.name && isPassedOver(other, in: grant)
                && mayBeMarked(other, for: request, at: grant.time)
        }
    }

    /// Returns whether a call answers a part of a question, whose other part was answered later: until then, the
    /// presenter has not done what it was asked.
    private func isPart(_ call: StormEvent, of presenter: History.Presenter) -> Bool {
        call.word == .answered
            && presenter.calls.contains {
                $0["request"] == call["request"] && $0.time > call.time && [.answered, .failed].contains($0.word)
            }
    }

    /// The access names it. The item may have been moved since it was passed over.
    private func isPassedOver(_ presenter: History.Presenter, in grant: History.Grant) -> Bool {
        let identifier = history.lives[presenter.process]?.identifier
        let places = history.places(of: presenter.item)
        return grant.unresponsive.contains { $0.identifier == identifier && places.contains($0.item) }
    }

    /// Returns whether an answer need not ask a presenter: the one that answers; the one for which the question was
    /// asked; those that are asked the same question. All questions of a round have their places before the first one
    /// is answered, so a presenter that has registered after that is none of them.
    private func isExempt(_ presenter: History.Presenter, from request: History.Request) -> Bool {
        guard let (name, answering) = request.parent, let parent = history.request(name) else { return false }
        if presenter.name == answering || presenter.name == parent.presenter { return true }
        // A request that follows a moved item asks in another round.
        let asked = history.presenter(answering)?.calls.last {
            $0.word == .asked && $0["request"] == name && $0.time <= request.begins
        }
        guard let asked, presenter.begun < asked.time else { return false }
        // Where the items of the parent were by then is not known: it may have followed them.
        let places = parent.intents.map { history.places(of: $0.path) }
        let own = history.places(of: presenter.item)
        return zip(parent.intents, places).contains { intent, places in
            places.contains { place in
                let reach = Reach(intents: [intent], places: [place], hasDirectory: true)
                return own.contains { !reach.questions(to: $0).intersection(presenter.answers).isEmpty }
            }
        }
    }

    /// Returns a moment before the last look of a request for presenters: it looks under its locks, which it has only
    /// after those before it have left, and after the presenters that it asked have answered.
    private func earliestLook(of request: History.Request, _ grant: History.Grant) -> Int64 {
        var earliest = request.begins
        for other in history.requests where other.name != request.name {
            guard let before = other.grant, let leaves = other.leaves, before.time < grant.time, leaves < grant.time,
                before.reach.excludes(grant.reach)
            else { continue }
            earliest = max(earliest, leaves)
        }
        for presenter in history.presenters
        where presenter.withdrawing == nil && history.killed(presenter.process) == nil
            && !isPassedOver(presenter, in: grant)
        {
            let answers = presenter.calls.filter { $0.word == .answered && $0["request"] == request.name }
            if let last = answers.map(\.time).filter({ $0 < grant.time }).max() { earliest = max(earliest, last) }
        }
        return earliest
    }

    /// Returns where a presenter's item was when a request was granted; nil where it may have been at several places.
    /// A move that matters to the request excludes it, so that its grant is before or after the other one.
    private func place(
        of presenter: History.Presenter, at request: History.Request, _ grant: History.Grant
    ) -> String? {
        var place = presenter.item
        for change in history.changes where change.kind == "moved" {
            guard let from = change.from, let next = place.following(from, to: change.path) else { continue }
            // A move by a process that died may have been recorded as one that no request made.
            guard let mover = history.request(change.purpose), let moved = mover.grant else { return nil }
            if mover.name == request.name || moved.time > grant.time { continue }
            let end = mover.leaves ?? .max
            if end < presenter.begun { continue }
            guard let presented = presenter.presented, presented < moved.time else { return nil }
            place = next
        }
        return place
    }

    /// An answer that a grant stands on is kept until the access is over: the presenter does not reacquire.
    private mutating func checkKeeps(_ presenter: History.Presenter, _ request: History.Request) {
        let answer = presenter.calls.last {
            $0.word == .answered && $0["request"] == request.name && $0.time < request.grant?.time ?? 0
        }
        // A process that is killed in its access ends its questions by that.
        guard let answer, let end = request.leaves ?? history.killed(request.process) else { return }
        if presenter.calls.contains(where: { $0.word == .reacquired && $0.time > answer.time && $0.time < end }) {
            report(
                .reacquiredOnce, "\(presenter.name) reacquired while \(request.name) had its answer", presenter.name,
                request.name)
        }
    }

    /// A read that a presenter has answered by saving reads that save, or what came later.
    private mutating func checkSees(
        _ presenter: History.Presenter, _ request: History.Request, _ grant: History.Grant
    ) {
        let answer = presenter.calls.last {
            $0.word == .answered && $0["request"] == request.name && Questions($0["questions"]).contains(.save)
        }
        // A presenter may answer without saving.
        guard let answer, answer["saved"] == answer["version"], answer["saved"] != "0",
            let save = presenter.calls.last(where: { $0.word == .saved && $0["version"] == answer["saved"] }),
            let saved = save.number("generation")
        else { return }
        let item = save["item"]
        guard let read = grant.versions[item] else { return }
        let seen =
            read.generation ?? history.changes.filter { change in
                // The item was removed, or moved away.
                let places = change.kind == "removed" ? [change.path] : [change.from ?? change.path]
                return places.contains { item == $0 || item.isBelow($0) }
            }.map(\.sequence).max() ?? 0
        if seen < saved {
            report(
                .seesSaves, "\(request.name) read version \(seen) of \(item), and \(presenter.name) had saved \(saved)",
                request.name, presenter.name)
        }
        guard let change = history.changes.first(where: { $0.sequence == read.generation && $0.path == item }),
            ["created", "modified"].contains(change.kind), !change.purpose.isEmpty
        else { return }
        if change.purpose != read.content {
            report(
                .seesSaves, "\(request.name) read \(read.content) in \(item), and \(change.purpose) had written it",
                request.name, presenter.name)
        }
    }

    /// What is written by an answer is in the journal before the request that asked has its access; later it is
    /// refused.
    private mutating func checkSaves(for request: History.Request, _ grant: History.Grant) {
        for save in history.requests where save.parent?.request == request.name {
            for change in history.changes where change.purpose == save.name && grant.reach.covers(change.path) {
                guard let version = grant.versions[change.path], let generation = version.generation else { continue }
                if change.sequence > generation {
                    report(
                        .noLateSave,
                        "\(save.name) wrote \(change.path) (\(change.sequence)) behind the grant of \(request.name), "
                            + "which had \(generation)", request.name, save.name)
                }
            }
        }
    }
}
