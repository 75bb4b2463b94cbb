// Imports nothing: no file, clock or process.

/// An event of a schedule, as its process writes it: `TIME PROCESS WORD KEY=VALUE…`. The time is in nanoseconds of the
/// monotonic clock, which is the same for all processes. Each word says at which moment its time is taken: the rules of
/// `PresenterChecker` stand on that.
package struct StormEvent: Sendable {
    package enum Word: String, Sendable {
        /// A worker has opened the container: `pid`.
        case started
        /// A worker is about to present, and has presented: `as`, `item`, `answers`. In between, requests may or may
        /// not ask the presenter.
        case presenting, presented
        /// The presenter has a version that is not on the disk: `as`, `version`.
        case edited
        /// An answer begins: `as`, `request`, `questions`.
        case asked
        /// The presenter's save is in the item: `as`, `version`, `item`, `generation`.
        case saved
        /// The answer is made, and about to be returned: `as`, `request`, `questions`, `saved` (the last version that
        /// was saved), `version` (the last one).
        case answered, failed
        /// The presenter is asked to show the item again: `as`.
        case reacquired
        /// The presentation is about to end, and has ended: `as`.
        case withdrawing, withdrawn
        /// A request is about to be made: `request`, `intents`, `timeout` and `grace` in microseconds; `presenter`, if
        /// it is made for one; `parent` and `answering`, if it is part of an answer: the request that asked, and the
        /// presenter; `outer`, if it is made within the access of another one.
        case begins
        /// The first moment of the access: `request`, `places`, `directory`, `unresponsive` (`PID:ITEM`), `versions`
        /// (`ITEM:GENERATION:CONTENT`).
        case granted
        /// The last moment of the access, before its locks end: `request`.
        case leaves
        /// The request has returned: `request`, `result`.
        case ends
        /// The worker's script is over.
        case done
        /// The worker has set a timer that kills or stops it: `action`.
        case armed

        // Of the controller.
        /// A process is about to be killed, is about to be stopped, and goes on: `process`.
        case kills, stops, resumes
        /// A process ended by itself, though it should not have: `process`, `status`.
        case died
        /// A change in the journal: `sequence`, `kind`, `path`, `from`, `purpose`.
        case change
        /// A request after everything: `item`, `result`.
        case final
        /// A question that is still open, and what the doctor finds: `text`.
        case open, finding
    }

    package var time: Int64
    package var process: String
    package var word: Word
    package var fields: [String: String]
    package var text: String

    package init?(_ line: some StringProtocol) {
        let parts = line.split(separator: " ")
        guard parts.count >= 3, let time = Int64(parts[0]), let word = Word(rawValue: String(parts[2])) else {
            return nil
        }
        self.time = time
        process = String(parts[1])
        self.word = word
        text = String(line)
        fields = [:]
        for part in parts.dropFirst(3) {
            guard let sign = part.firstIndex(of: "=") else { return nil }
            fields[String(part[..<sign])] = String(part[part.index(after: sign)...])
        }
    }

    package subscript(_ key: String) -> String { fields[key] ?? "" }

    func number(_ key: String) -> Int64? { fields[key].flatMap { Int64($0) } }

    /// The presenter that the event is about, or the process.
    package var presenter: String { fields["as"] ?? process }
}
