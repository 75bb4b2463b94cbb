// Imports nothing: no file, clock or process.

/// What each process of a schedule does, and when which one is killed or stopped. Times are in microseconds.
package struct Schedule: Sendable {
    package var theme: Theme
    package var workers: [Worker]
    package var interventions: [Intervention]

    /// What a schedule is about; everything else may happen in it, too.
    package enum Theme: String, Sendable, CaseIterable {
        case crowd, killedRequester, killedPresenter, lateSave, hangingPresenter, stoppedRequester, moves, circles
        case withdrawals
    }

    package struct Worker: Sendable {
        package var name: String
        package var steps: [Step] = []
        /// Whether its calls block, rather than suspend.
        package var isBlocking = false
        /// What the process does to itself, by a timer: microseconds after one of its own events.
        package var own: Intervention?
        /// The process whose death starts this one; nil: it starts with the schedule.
        package var replaces: String?
    }

    package enum Step: Sendable {
        case present(Presentation)
        case withdraw(String)
        case request(Request)
        case pause(Int)
    }

    package struct Presentation: Sendable {
        package var name: String
        package var item: String
        /// The item that it saves, below its own one; empty: its own.
        package var document: String
        package var answers: Questions
        /// How it answers, one question after the other, and from the beginning again.
        package var replies: [Reply]
    }

    package struct Reply: Sendable {
        package enum Action: Sendable {
            case nothing, save, fail, withdraw
            case write(String)
            case read(String)
        }
        package var delay = 0
        package var action: Action

        package init(delay: Int = 0, action: Action) { (self.delay, self.action) = (delay, action) }
    }

    package struct Request: Sendable {
        package var name: String
        package var intents: [Intent]
        package var timeout: Int
        package var grace: Int
        package var needsAnswers = false
        /// How long it has its access.
        package var thinking = 0
        /// When its task is cancelled; nil: never.
        package var cancel: Int?
        /// The presenter for which it is made.
        package var presenter: String?
        /// A request that is made within its access.
        package var inner: [Request] = []

        package init(name: String, intents: [Intent], timeout: Int, grace: Int) {
            self.name = name
            self.intents = intents
            self.timeout = timeout
            self.grace = grace
        }
    }

    package struct Intervention: Sendable {
        package enum Action: Sendable {
            case kill
            case stop(until: End)
        }

        package enum End: Sendable {
            case time(Int)
            /// The next such event of a process, at most this much later.
            case event(process: String, word: StormEvent.Word, limit: Int)
        }

        /// The event that it follows: the one of that number, of a process. `started` with 0: the beginning.
        package var process: String
        package var word: StormEvent.Word
        package var count: Int
        package var delay: Int
        package var target: String
        package var action: Action
    }

    /// Draws a schedule; the same numbers make the same one.
    package init(using random: inout some RandomNumberGenerator) {
        var drawing = ScheduleDrawing(random: random)
        self = drawing.schedule()
        random = drawing.random
    }

    init(theme: Theme, workers: [Worker], interventions: [Intervention]) {
        self.theme = theme
        self.workers = workers
        self.interventions = interventions
    }
}
