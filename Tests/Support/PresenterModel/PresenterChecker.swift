// Imports nothing: no file, clock or process.

/// Checks what processes saw of presenters and requests against the rules of the protocol. A rule is sound if no
/// scheduling makes a correct library violate it: each comparison of two moments is of one that the library has to have
/// passed before, and one that it reaches after.
package struct PresenterChecker {
    package enum Rule: String, Sendable, CaseIterable {
        /// No grant while a presenter in the way, which can answer, has not.
        case answeredBeforeGrant
        /// A request asks a presenter once.
        case askedOnce
        /// Each relinquishment is followed by one reacquisition, which comes when the request is over.
        case reacquiredOnce
        /// No request waits past its deadline.
        case inTime
        /// No save that answers a request comes behind the grant of that request.
        case noLateSave
        /// A read sees what the presenters had not saved before.
        case seesSaves
        /// A presenter has the whole grace before it is passed over.
        case fullGrace
        /// Each request ends, and fails only for a reason that the schedule has.
        case expectedResult
        /// Nothing is left that blocks a request.
        case nothingLeft
    }

    package struct Violation: Sendable, CustomStringConvertible {
        package var rule: Rule
        package var text: String
        /// The lines about the request and the presenter.
        package var lines: [String]

        package var description: String {
            (["\(rule.rawValue): \(text)"] + lines.map { "    " + $0 }).joined(separator: "\n")
        }
    }

    let history: History
    /// How late a process that runs may be, because others run, in nanoseconds.
    let slack: Int64
    private(set) var violations: [Violation] = []

    package static func violations(in lines: [String], slack: Int64 = 1_500_000_000) -> [Violation] {
        var checker = PresenterChecker(history: History(lines), slack: slack)
        for request in checker.history.requests {
            if let grant = request.grant { checker.checkGrant(grant, of: request) }
            checker.checkEnd(of: request)
            checker.checkResult(of: request)
        }
        for presenter in checker.history.presenters { checker.checkCalls(of: presenter) }
        checker.checkWhatIsLeft()
        return checker.violations
    }

    mutating func report(_ rule: Rule, _ text: String, _ names: String...) {
        violations.append(Violation(rule: rule, text: text, lines: history.lines(about: names)))
    }

    // MARK: The end

    private mutating func checkEnd(of request: History.Request) {
        let isKilled = history.killed(request.process) != nil
        guard let waited = request.grant?.time ?? request.end?.time else {
            if !isKilled { report(.expectedResult, "\(request.name) never ended", request.name) }
            return
        }
        if request.end == nil && !isKilled { report(.expectedResult, "\(request.name) never returned", request.name) }
        // A process cannot look at its deadline while it is stopped.
        guard let timeout = request.timeout else { return }
        let own = waited - request.begins - history.stopped(request.process, from: request.begins, to: waited)
        if own > timeout + slack {
            report(
                .inTime, "\(request.name) waited \(milliseconds(own)), and its limit is \(milliseconds(timeout))",
                request.name)
        }
    }

    private func milliseconds(_ nanoseconds: Int64) -> String { "\(nanoseconds / 1_000_000) ms" }

    /// Errors that say more about the library than about the schedule are violations.
    private mutating func checkResult(of request: History.Request) {
        guard let end = request.end else { return }
        let isExpected =
            switch end.result {
            // The items come and go; a path may be moved again and again; a directory may be full.
            case "ok", "notFound", "conflict", "notEmpty", "wrongType": true
            // The item was moved meanwhile to where it was to be moved.
            case "invalidArgument": request.grant.map { Set($0.reach.places).count < $0.reach.places.count } ?? false
            case "cancelled":
                history.events.contains {
                    $0.word == .begins && $0["request"] == request.name
                        && $0.fields["cancel"] != nil
                }
            case "lockTimedOut": end.time - request.begins >= request.timeout ?? .max
            case "presenterUnresponsive":
                end.time - request.begins >= request.grace
                    || history.presenters.contains { mayBeMarked($0, for: request, at: end.time) }
            case "presenterFailed":
                history.presenters.contains { presenter in
                    presenter.calls.contains {
                        $0.word == .failed && $0["request"] == request.name && $0.time < end.time
                    }
                }
            case "deadlock": isInCircle(request, until: end.time)
            default: false
            }
        if !isExpected { report(.expectedResult, "\(request.name) ended in \(end.result)", request.name) }
    }

    /// Returns whether a request may have been in a circle. Requests that hold nothing and answer nothing take their
    /// locks in one order and make no circle; nor does a request with its answers, nor these with each other. But a
    /// request that is part of an answer, and not made for its presenter, may: what is made to answer it asks that
    /// presenter, which answers.
    private func isInCircle(_ request: History.Request, until end: Int64) -> Bool {
        history.isWithinAccess(request)
            || history.requests.contains { other in
                let isMeanwhile = other.begins < end && other.end?.time ?? .max > request.begins
                let asked = other.parent?.request
                let isOwnAnswer = asked == request.name && (request.parent == nil || request.presenter != nil)
                let isOther = other.outer != nil || asked != request.parent?.request && !isOwnAnswer
                return other.isNested && isMeanwhile && isOther
            }
    }

    private mutating func checkWhatIsLeft() {
        for line in history.unreadable {
            violations.append(Violation(rule: .expectedResult, text: "printed: \(line)", lines: []))
        }
        for event in history.events {
            switch event.word {
            case .final where event["result"] != "ok":
                report(.nothingLeft, "the last write of \(event["item"]) ended in \(event["result"])", event["item"])
            case .open, .finding: report(.nothingLeft, event.text, event["as"])
            case .died: report(.expectedResult, event.text, event["process"])
            default: break
            }
        }
    }
}
