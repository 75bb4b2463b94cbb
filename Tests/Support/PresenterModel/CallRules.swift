// Imports nothing: no file, clock or process.

/// What has to be true of the calls of each presenter.
extension PresenterChecker {
    mutating func checkCalls(of presenter: History.Presenter) {
        checkQuestions(of: presenter)
        checkReacquisitions(of: presenter)
        checkReleases(of: presenter)
        // A call that is being made when the presentation ends may still run; a second one may not begin.
        let late = presenter.calls.filter {
            [.asked, .reacquired].contains($0.word) && $0.time > presenter.withdrawn ?? .max
        }
        if late.count(where: { $0.word == .reacquired || $0.isRelinquishment }) > 1 {
            report(.reacquiredOnce, "\(presenter.name) was called after its end", presenter.name)
        }
    }

    /// A request that follows a moved item may ask for more than before, and no other one asks twice: a presenter that
    /// withdraws its answer does so because the deadline is over, and then the request does not ask any more. (A
    /// presenter that is called once for each part of a question does not know the later parts yet.)
    private mutating func checkQuestions(of presenter: History.Presenter) {
        var asked: [String: Questions] = [:]
        for call in presenter.calls where call.isRelinquishment {
            let questions = Questions(call["questions"])
            if let before = asked[call["request"]], before.isSuperset(of: questions),
                !hasFollowed(call["request"], presenter, before: call.time)
            {
                report(
                    .askedOnce, "\(call["request"]) asked \(presenter.name) twice", presenter.name, call["request"])
            }
            asked[call["request"], default: []].formUnion(questions)
        }
    }

    /// Returns whether one of a request's items, or the presenter's, may have been moved by another request since it
    /// began. A presenter that was being registered then may follow an earlier move only now.
    private func hasFollowed(_ name: String, _ presenter: History.Presenter, before time: Int64) -> Bool {
        guard let request = history.request(name) else { return false }
        let isNew = presenter.presented ?? .max > request.begins
        let start = isNew ? min(request.begins, presenter.begun) : request.begins
        let places = (request.intents.map(\.path) + [presenter.item]).flatMap(history.places(of:))
        return history.changes.contains { change in
            guard let from = change.from, places.contains(where: { $0.following(from, to: change.path) != nil }) else {
                return false
            }
            // A move by a process that died may have been recorded as one that no request made.
            guard let mover = history.request(change.purpose) else { return true }
            return mover.name != name && mover.grant?.time ?? .max < time && mover.leaves ?? .max > start
        }
    }

    private mutating func checkReacquisitions(of presenter: History.Presenter) {
        var balance = 0
        for call in presenter.calls {
            if call.isRelinquishment { balance += 1 }
            if call.word == .reacquired { balance -= 1 }
            if balance < 0 {
                report(.reacquiredOnce, "\(presenter.name) reacquired what it had not let go", presenter.name)
                return
            }
        }
        // A process that is killed makes no calls, and a presentation that has ended gets none.
        if history.killed(presenter.process) != nil || presenter.withdrawing != nil { return }
        if balance > 0 {
            report(.reacquiredOnce, "\(presenter.name) did not reacquire \(balance) times", presenter.name)
        }
    }

    /// A presenter reacquires when the request that has its answer is over: when it has returned, when its process was
    /// killed, and when it was not granted by its deadline, also while that process is stopped. It looks ten times a
    /// second.
    private mutating func checkReleases(of presenter: History.Presenter) {
        if history.killed(presenter.process) != nil || presenter.withdrawing != nil { return }
        // The end of a schedule is not the end of time.
        let seen = history.events.last { ![.change, .final].contains($0.word) }?.time ?? 0
        for call in presenter.calls where call.word == .answered {
            guard let request = history.request(call["request"]), let over = end(of: request) else { continue }
            guard let due = dueTime(after: max(over, call.time), besides: request.name), due < seen else { continue }
            if history.stopped(presenter.process, from: request.begins, to: due) > 0 { continue }
            if !presenter.calls.contains(where: { $0.word == .reacquired && $0.time > call.time && $0.time < due }) {
                report(
                    .reacquiredOnce, "\(presenter.name) kept its answer to \(request.name), which was over",
                    presenter.name, request.name)
            }
        }
    }

    /// Returns when a request is over for its presenters; nil if it is not.
    private func end(of request: History.Request) -> Int64? {
        let deadline = request.grant == nil ? request.timeout.map { request.begins + $0 } : nil
        return [request.end?.time, history.killed(request.process), deadline].compactMap { $0 }.min()
    }

    /// Returns by when a presenter has reacquired that could from a moment on. While another request has an answer of
    /// it, or waits for one, it does not.
    private func dueTime(after time: Int64, besides name: String) -> Int64? {
        var due = time + slack
        for other in history.requests.sorted(by: { $0.begins < $1.begins }) where other.name != name {
            let over = end(of: other)
            if other.begins > due || over ?? .max < time { continue }
            guard let over else { return nil }
            due = max(due, over + slack)
        }
        return due
    }
}
