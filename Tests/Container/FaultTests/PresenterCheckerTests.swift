import PresenterModel
import Testing

/// The rules for presenters and requests, on events that were written down: each rule finds what is put into them, and
/// nothing else.
@Suite struct `Presenter checker` {
    typealias Rule = PresenterChecker.Rule

    /// A read that a presenter answers by saving. The times are nanoseconds, timeout and grace microseconds.
    private static let events = """
        1 p1 started pid=11
        2 r1 started pid=21
        10 p1 presenting as=p1.1 item=d/a answers=reader+writer+save+deletion
        20 p1 presented as=p1.1
        100 r1 begins request=r1-1 intents=read:d/a timeout=1000 grace=300
        110 p1 asked as=p1.1 request=r1-1 questions=reader+save
        112 p1 begins request=p1-n1 intents=write:d/a timeout=1000 grace=300 presenter=p1.1 parent=r1-1 answering=p1.1
        114 p1 granted request=p1-n1 places=d/a directory=no unresponsive= versions=d/a:1:initial
        115 p1 leaves request=p1-n1
        116 p1 ends request=p1-n1 result=ok
        117 p1 saved as=p1.1 version=1 item=d/a generation=2
        120 p1 answered as=p1.1 request=r1-1 questions=reader+save saved=1 version=1
        130 r1 granted request=r1-1 places=d/a directory=no unresponsive= versions=d/a:2:p1-n1
        140 r1 leaves request=r1-1
        150 r1 ends request=r1-1 result=ok
        160 p1 reacquired as=p1.1
        9000000 storm final item=d/a result=ok
        9000001 storm change sequence=1 kind=modified path=d/a purpose=initial
        9000002 storm change sequence=2 kind=modified path=d/a purpose=p1-n1
        """

    private static let answer = "p1 answered as=p1.1 request=r1-1 questions=reader+save saved=1 version=1"
    private static let grant = "r1 granted request=r1-1 places=d/a directory=no unresponsive="

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// The rule that is violated; nil: none.
        var rule: Rule?
        /// Texts that occur once, and what takes the place of their lines.
        var edits: [(line: String, others: [String])] = []

        init(_ name: String, _ rule: Rule?, _ edits: (line: String, others: [String])...) {
            testDescription = name
            self.rule = rule
            self.edits = edits
        }
    }

    private static let passedOver = [
        "400000 \(grant)11:d/a versions=d/a:1:initial", "400010 r1 leaves request=r1-1",
        "400020 r1 ends request=r1-1 result=ok", "400030 p1 reacquired as=p1.1",
    ]

    /// A presenter answers by a request that ends in a deadlock, after another presenter was asked for it, which writes
    /// the same item.
    private static func deadlockOfAnswer(_ name: String, _ rule: Rule?, by presenter: String = "") -> Case {
        let request = "timeout=1000 grace=300"
        return Case(
            name, rule,
            ("p1 presented", ["20 p1 presented as=p1.1", "101 p2 presenting as=p2.1 item=d/a answers=writer"]),
            (
                "begins request=p1-n1",
                [
                    "102 p2 presented as=p2.1",
                    "112 p1 begins request=p1-n1 intents=write:d/a \(request)\(presenter) parent=r1-1 answering=p1.1",
                    "113 p2 asked as=p2.1 request=p1-n1 questions=writer",
                    "114 p2 begins request=p2-n1 intents=write:d/a \(request) parent=p1-n1 answering=p2.1",
                ]
            ),
            ("granted request=p1-n1", []), ("leaves request=p1-n1", []),
            ("ends request=p1-n1", ["116 p1 ends request=p1-n1 result=deadlock"]),
            (
                "p1 saved",
                [
                    "117 p2 ends request=p2-n1 result=conflict",
                    "118 p2 failed as=p2.1 request=p1-n1 questions=writer saved=0 version=1",
                    "119 p2 reacquired as=p2.1",
                ]
            ),
            ("p1 answered", ["120 p1 failed as=p1.1 request=r1-1 questions=reader+save saved=0 version=1"]),
            ("r1 granted", []), ("r1 leaves", []),
            ("r1 ends", ["150 r1 ends request=r1-1 result=presenterFailed"]), ("sequence=2", []))
    }

    /// A request for which the presenter is not asked, as it is made for it.
    private static let holder = [
        "90 r2 begins request=r2-1 intents=write:d/a timeout=1000 grace=300 presenter=p1.1",
        "91 r2 granted request=r2-1 places=d/a directory=no unresponsive= versions=", "127 r2 leaves request=r2-1",
        "128 r2 ends request=r2-1 result=ok",
    ]

    private static let move = [
        "20 p1 presented as=p1.1", "30 r2 begins request=r2-1 intents=move:d/c,replace:d/a timeout=1000 grace=1",
        "40 r2 granted request=r2-1 places=d/c,d/a directory=no unresponsive= versions=",
        "50 r2 leaves request=r2-1", "51 r2 ends request=r2-1 result=ok",
        "35 p1 asked as=p1.1 request=r2-1 questions=writer",
        "36 p1 answered as=p1.1 request=r2-1 questions=writer saved=0 version=1", "52 p1 reacquired as=p1.1",
    ]

    /// A request goes on without a presenter that another one has gone on without, and that has failed since.
    private static func passedOverAtOnce(_ name: String, _ rule: Rule?, calledAgain: [String] = []) -> Case {
        Case(
            name, rule, ("r1 begins", ["4000 r1 begins request=r1-1 intents=read:d/a timeout=1000 grace=300"]),
            ("p1 asked", []), ("begins request=p1-n1", []), ("granted request=p1-n1", []),
            ("leaves request=p1-n1", []), ("ends request=p1-n1", []), ("p1 saved", []), ("p1 answered", []),
            ("r1 granted", ["4001 \(grant)11:d/a versions=d/a:1:initial"]),
            ("r1 leaves", ["4002 r1 leaves request=r1-1"]), ("r1 ends", ["4003 r1 ends request=r1-1 result=ok"]),
            ("p1 reacquired", ["4010 p1 reacquired as=p1.1"]), ("sequence=2", []),
            (
                "p1 presented",
                [
                    "20 p1 presented as=p1.1", "30 r2 begins request=r2-1 intents=read:d/a timeout=1000 grace=1",
                    "32 p1 asked as=p1.1 request=r2-1 questions=reader+save",
                    "2000 r2 granted request=r2-1 places=d/a directory=no unresponsive=11:d/a versions=d/a:1:initial",
                    "2001 r2 leaves request=r2-1", "2002 r2 ends request=r2-1 result=ok",
                    "3997 p1 failed as=p1.1 request=r2-1 questions=reader+save saved=0 version=1",
                ] + calledAgain
            ))
    }

    /// A request for the directory `d` asks a presenter twice. The presenter's item was at `e/c`, and another request
    /// moved it to `d/b` before the request began.
    private static func askedTwice(
        _ name: String, _ rule: Rule?, presented: Int = 20, meanwhile: [String], moves: [String]
    ) -> Case {
        let question = "as=p1.1 request=r1-1 questions=writer+deletion"
        return Case(
            name, rule, ("as=p1.1 item", ["10 p1 presenting as=p1.1 item=e/c answers=reader+writer+save+deletion"]),
            ("p1 presented", ["\(presented) p1 presented as=p1.1"] + moving("r2-1", from: "e/c", to: "d/b", at: 30)),
            ("r1 begins", ["100 r1 begins request=r1-1 intents=delete:d timeout=1000 grace=300"]),
            ("p1 asked", ["110 p1 asked \(question)"] + meanwhile + ["118 p1 asked \(question)"]),
            ("p1 answered", ["120 p1 answered \(question) saved=1 version=1"]),
            ("r1 granted", ["130 r1 granted request=r1-1 places=d directory=yes unresponsive= versions=d/a:2:p1-n1"]),
            ("p1 reacquired", ["160 p1 reacquired as=p1.1", "161 p1 reacquired as=p1.1"]),
            ("sequence=1", ["9000001 storm change sequence=0 kind=moved path=d/b from=e/c purpose=r2-1"] + moves))
    }

    /// A request that moves an item, for which no presenter is asked.
    private static func moving(_ name: String, from: String, to: String, at time: Int) -> [String] {
        [
            "\(time) r2 begins request=\(name) intents=move:\(from),replace:\(to) timeout=1000 grace=0 presenter=p1.1",
            "\(time + 1) r2 granted request=\(name) places=\(from),\(to) directory=no unresponsive= versions=",
            "\(time + 2) r2 leaves request=\(name)", "\(time + 3) r2 ends request=\(name) result=ok",
        ]
    }

    private static let cases: [Case] = [
        Case("nothing changed", nil),

        Case("the answer comes behind the grant", .answeredBeforeGrant, ("p1 answered", ["135 \(answer)"])),
        Case(
            "only a part of the question is answered", .answeredBeforeGrant,
            ("p1 answered", ["120 p1 answered as=p1.1 request=r1-1 questions=reader saved=0 version=1"])),
        Case(
            "the presenter is killed behind the grant", .answeredBeforeGrant,
            ("p1 answered", ["131 storm kills process=p1"])),
        Case("the presenter is killed before", nil, ("p1 answered", ["118 storm kills process=p1"])),
        Case(
            "the presenter is stopped, and not named as unresponsive", .answeredBeforeGrant,
            ("p1 answered", ["118 storm stops process=p1", "170 storm resumes process=p1"])),
        Case(
            "the presentation ends behind the grant", .answeredBeforeGrant,
            ("p1 answered", ["131 p1 withdrawing as=p1.1", "132 p1 withdrawn as=p1.1"])),
        Case(
            "the presentation ends before", nil,
            ("p1 answered", ["118 p1 withdrawing as=p1.1", "119 p1 withdrawn as=p1.1"])),
        Case(
            "another presenter in the way does not answer", .answeredBeforeGrant,
            (
                "as=p1.1 item",
                [
                    "10 p1 presenting as=p1.1 item=d/a answers=reader+writer+save+deletion",
                    "11 p2 presenting as=p2.1 item=d answers=reader", "12 p2 presented as=p2.1",
                ]
            )),
        Case(
            "another presenter is not in the way", nil,
            (
                "as=p1.1 item",
                [
                    "10 p1 presenting as=p1.1 item=d/a answers=reader+writer+save+deletion",
                    "11 p2 presenting as=p2.1 item=d answers=deletion", "12 p2 presented as=p2.1",
                    "13 p3 presenting as=p3.1 item=d/b answers=reader", "14 p3 presented as=p3.1",
                ]
            )),
        Case(
            "another presenter comes while the request waits", nil,
            (
                "ends request=p1-n1",
                [
                    "116 p1 ends request=p1-n1 result=ok", "117 p2 presenting as=p2.1 item=d/a answers=reader",
                    "121 p2 presented as=p2.1",
                ]
            )),
        Case(
            "another presenter comes before the last answer", .answeredBeforeGrant,
            (
                "ends request=p1-n1",
                [
                    "116 p1 ends request=p1-n1 result=ok", "117 p2 presenting as=p2.1 item=d/a answers=reader",
                    "118 p2 presented as=p2.1",
                ]
            )),
        Case(
            "another presenter comes while the request waits for a lock", .answeredBeforeGrant,
            (
                "p1 answered",
                [
                    "120 \(answer)", "124 p2 presenting as=p2.1 item=d/a answers=reader",
                    "125 p2 presented as=p2.1",
                ] + holder
            )),
        Case(
            "another presenter comes when the request may have its lock", nil,
            (
                "p1 answered",
                [
                    "120 \(answer)", "124 p2 presenting as=p2.1 item=d/a answers=reader",
                    "129 p2 presented as=p2.1",
                ] + holder
            )),
        Case(
            "an answer's own request does not ask the others that are asked", nil,
            (
                "as=p1.1 item",
                [
                    "10 p1 presenting as=p1.1 item=d/a answers=reader+writer+save+deletion",
                    "11 p2 presenting as=p2.1 item=d answers=reader+writer", "12 p2 presented as=p2.1",
                ]
            ),
            (
                "p1 answered",
                [
                    "120 \(answer)", "111 p2 asked as=p2.1 request=r1-1 questions=reader",
                    "129 p2 answered as=p2.1 request=r1-1 questions=reader saved=0 version=0",
                    "161 p2 reacquired as=p2.1",
                ]
            )),
        Case(
            "an answer's own request does not ask the others that are asked in a later round", nil,
            ("as=p1.1 item", ["10 p1 presenting as=p1.1 item=d/a answers=reader+writer+save+deletion"]),
            (
                "p1 answered",
                [
                    "120 \(answer)", "111 p2 asked as=p2.1 request=r1-1 questions=reader",
                    "129 p2 answered as=p2.1 request=r1-1 questions=reader saved=0 version=0",
                    "161 p2 reacquired as=p2.1",
                ]
            ),
            (
                "p1 asked",
                [
                    "105 p1 asked as=p1.1 request=r1-1 questions=reader",
                    "106 p1 answered as=p1.1 request=r1-1 questions=reader saved=0 version=1",
                    "107 p2 presenting as=p2.1 item=d answers=reader+writer", "108 p2 presented as=p2.1",
                    "110 p1 asked as=p1.1 request=r1-1 questions=reader+save",
                ]
            ), ("p1 reacquired", ["160 p1 reacquired as=p1.1", "161 p1 reacquired as=p1.1"])),
        Case(
            "a presenter that was moved is asked at its new place", .answeredBeforeGrant,
            ("as=p1.1 item", ["10 p1 presenting as=p1.1 item=d/c answers=reader+writer+save+deletion"]),
            ("p1 presented", move), ("p1 answered as=p1.1 request=r1-1", []),
            ("sequence=1", ["9000001 storm change sequence=1 kind=moved path=d/a from=d/c purpose=r2-1"])),
        Case(
            "a presenter that was moved answers at its new place", nil,
            ("as=p1.1 item", ["10 p1 presenting as=p1.1 item=d/c answers=reader+writer+save+deletion"]),
            ("p1 presented", move),
            ("sequence=1", ["9000001 storm change sequence=1 kind=moved path=d/a from=d/c purpose=r2-1"])),

        Case(
            "a request asks twice", .askedOnce,
            (
                "p1 asked",
                [
                    "110 p1 asked as=p1.1 request=r1-1 questions=reader+save",
                    "118 p1 asked as=p1.1 request=r1-1 questions=reader+save", "161 p1 reacquired as=p1.1",
                ]
            )),
        Case(
            "a request asks for more than before", nil,
            (
                "p1 asked",
                [
                    "110 p1 asked as=p1.1 request=r1-1 questions=reader",
                    "118 p1 asked as=p1.1 request=r1-1 questions=reader+save", "161 p1 reacquired as=p1.1",
                ]
            )),

        askedTwice("a presenter that was moved before is asked twice", .askedOnce, meanwhile: [], moves: []),
        askedTwice(
            "a presenter that was moved while it was registered is asked again", nil, presented: 105, meanwhile: [],
            moves: []),
        askedTwice(
            "a presenter that was moved twice is asked again", nil,
            meanwhile: moving("r2-2", from: "d/b", to: "d/a", at: 111),
            moves: ["9000001 storm change sequence=1 kind=moved path=d/a from=d/b purpose=r2-2"]),
        askedTwice(
            "a presenter is asked again, and a killed process may have moved it", nil, meanwhile: [],
            moves: ["9000001 storm change sequence=1 kind=moved path=d/a from=d/b purpose="]),

        Case("a reacquisition is missing", .reacquiredOnce, ("p1 reacquired", [])),
        Case("a killed presenter does not reacquire", nil, ("p1 reacquired", ["155 p1 armed action=kill"])),
        Case(
            "a presenter reacquires twice", .reacquiredOnce,
            ("p1 reacquired", ["160 p1 reacquired as=p1.1", "161 p1 reacquired as=p1.1"])),
        Case(
            "a presenter reacquires before the access", .reacquiredOnce,
            ("p1 reacquired", ["125 p1 reacquired as=p1.1"])),
        Case("a presenter reacquires in the access", .reacquiredOnce, ("p1 reacquired", ["135 p1 reacquired as=p1.1"])),
        Case(
            "a presenter keeps its answer while the request is stopped", .reacquiredOnce,
            ("r1 granted", ["125 storm stops process=r1"]), ("r1 leaves", ["5000000 storm resumes process=r1"]),
            ("r1 ends", ["5000010 r1 ends request=r1-1 result=lockTimedOut"]),
            ("p1 reacquired", ["5000020 p1 reacquired as=p1.1"])),
        Case(
            "a presenter withdraws its answer while the request is stopped", nil,
            ("r1 granted", ["125 storm stops process=r1"]), ("r1 leaves", ["5000000 storm resumes process=r1"]),
            ("r1 ends", ["5000010 r1 ends request=r1-1 result=lockTimedOut"]),
            ("p1 reacquired", ["1100000 p1 reacquired as=p1.1"])),

        Case(
            "a request is granted behind its deadline", .inTime,
            ("r1 granted", ["5000000 \(grant) versions=d/a:2:p1-n1"]),
            ("r1 leaves", ["5000001 r1 leaves request=r1-1"]),
            ("r1 ends", ["5000002 r1 ends request=r1-1 result=ok"]),
            ("p1 reacquired", ["5000003 p1 reacquired as=p1.1"])),
        Case(
            "a request fails behind its deadline", .inTime, ("r1 granted", []), ("r1 leaves", []),
            ("r1 ends", ["5000002 r1 ends request=r1-1 result=lockTimedOut"])),
        Case(
            "a request is stopped", nil, ("r1 granted", ["125 storm stops process=r1"]),
            ("r1 leaves", ["4900000 storm resumes process=r1"]),
            ("r1 ends", ["5000002 r1 ends request=r1-1 result=lockTimedOut"])),

        Case(
            "a save comes behind the grant that went on without it", .noLateSave, ("p1 answered", []),
            ("r1 leaves", []), ("r1 ends", []), ("p1 reacquired", []), ("r1 granted", passedOver)),
        Case(
            "a late save is refused", nil, ("p1 answered", []), ("r1 leaves", []), ("r1 ends", []),
            ("p1 reacquired", []), ("p1 saved", []), ("sequence=2", []), ("r1 granted", passedOver),
            ("ends request=p1-n1", ["116 p1 ends request=p1-n1 result=conflict"])),

        Case("a read misses a save", .seesSaves, ("r1 granted", ["130 \(grant) versions=d/a:1:initial"])),
        Case("a read sees another content", .seesSaves, ("r1 granted", ["130 \(grant) versions=d/a:2:initial"])),
        Case(
            "a read sees what came behind the save", nil, ("r1 granted", ["130 \(grant) versions=d/a:3:r2-1"]),
            (
                "sequence=2",
                [
                    "9000002 storm change sequence=2 kind=modified path=d/a purpose=p1-n1",
                    "9000003 storm change sequence=3 kind=modified path=d/a purpose=r2-1",
                ]
            )),
        Case(
            "a read finds that what was saved is removed", nil, ("r1 granted", ["130 \(grant) versions=d/a:-:-"]),
            (
                "sequence=2",
                [
                    "9000002 storm change sequence=2 kind=modified path=d/a purpose=p1-n1",
                    "9000003 storm change sequence=3 kind=removed path=d purpose=r2-1",
                ]
            )),

        Case(
            "a presenter is passed over before its grace is over", .fullGrace,
            ("r1 granted", ["130 \(grant)11:d/a versions=d/a:2:p1-n1"])),

        Case(
            "a presenter is passed over at once, and another one of its process and item has ended", nil,
            ("r1 begins", ["4000 r1 begins request=r1-1 intents=read:d/a timeout=1000 grace=300"]),
            ("p1 asked", []), ("begins request=p1-n1", []), ("granted request=p1-n1", []),
            ("leaves request=p1-n1", []), ("ends request=p1-n1", []), ("p1 saved", []), ("p1 answered", []),
            ("r1 granted", ["4001 \(grant)11:d/a versions=d/a:1:initial"]),
            ("r1 leaves", ["4002 r1 leaves request=r1-1"]), ("r1 ends", ["4003 r1 ends request=r1-1 result=ok"]),
            ("p1 reacquired", []), ("sequence=2", []),
            (
                "p1 presented",
                [
                    "20 p1 presented as=p1.1",
                    "21 p1 presenting as=p1.2 item=d/a answers=reader+writer+save+deletion",
                    "22 p1 presented as=p1.2", "30 r2 begins request=r2-1 intents=read:d/a timeout=1000 grace=1",
                    "32 p1 asked as=p1.1 request=r2-1 questions=reader+save",
                    "2000 r2 granted request=r2-1 places=d/a directory=no unresponsive=11:d/a versions=d/a:1:initial",
                    "2001 r2 leaves request=r2-1", "2002 r2 ends request=r2-1 result=ok",
                    "3000 p1 withdrawing as=p1.1", "3001 p1 withdrawn as=p1.1",
                    "3002 p1 failed as=p1.1 request=r2-1 questions=reader+save saved=0 version=1",
                ]
            )),

        passedOverAtOnce("the failure of a presenter is printed, and perhaps not known yet", nil),
        passedOverAtOnce(
            "a presenter has failed, and was called again since", .fullGrace,
            calledAgain: ["3998 p1 reacquired as=p1.1"]),

        Case(
            "a request ends in an error that the schedule has no reason for", .expectedResult,
            ("r1 ends", ["150 r1 ends request=r1-1 result=damaged"])),
        Case(
            "a request ends in a deadlock, and nothing is nested", .expectedResult, ("r1 granted", []),
            ("r1 leaves", []),
            ("r1 ends", ["150 r1 ends request=r1-1 result=deadlock"])),
        deadlockOfAnswer("an answer asks a presenter whose answer asks the first one", nil),
        deadlockOfAnswer(
            "an answer is made for its presenter, which no answer to it asks", .expectedResult, by: " presenter=p1.1"),
        Case(
            "a request times out before its deadline", .expectedResult, ("r1 granted", []), ("r1 leaves", []),
            ("r1 ends", ["150 r1 ends request=r1-1 result=lockTimedOut"])),
        Case(
            "a presenter is blamed, and has not failed", .expectedResult, ("r1 granted", []), ("r1 leaves", []),
            ("r1 ends", ["150 r1 ends request=r1-1 result=presenterFailed"])),
        Case(
            "a presenter fails", nil,
            (
                "p1 answered",
                [
                    "120 p1 failed as=p1.1 request=r1-1 questions=reader+save saved=1 version=1"
                ]
            ), ("r1 granted", []), ("r1 leaves", []),
            ("r1 ends", ["150 r1 ends request=r1-1 result=presenterFailed"])),
        Case("a request never ends", .expectedResult, ("r1 granted", []), ("r1 leaves", []), ("r1 ends", [])),
        Case(
            "a killed request does not end", nil, ("r1 granted", ["125 storm kills process=r1"]), ("r1 leaves", []),
            ("r1 ends", [])),
        Case("a process crashes", .expectedResult, ("r1 started", ["2 r1 started pid=21", "Fatal error: x"])),
        Case(
            "a process ends", .expectedResult,
            ("r1 started", ["2 r1 started pid=21", "3 storm died process=p1 status=1"])),

        Case(
            "the last write is not granted", .nothingLeft,
            ("final", ["9000000 storm final item=d/a result=lockTimedOut"])),
        Case("a question stays open", .nothingLeft, ("final", ["9000000 storm open text=d/a:r1-1:asked"])),
        Case("the doctor finds something", .nothingLeft, ("final", ["9000000 storm finding text=journalDamaged"])),
    ]

    @Test(arguments: cases)
    func `the rules for presenters find what is put into a list of events, and nothing else`(planted: Case) {
        var lines = Self.events.split(separator: "\n").map(String.init)
        for edit in planted.edits {
            let places = lines.indices.filter { lines[$0].contains(edit.line) }
            #expect(places.count == 1, "\(edit.line)")
            if let place = places.first { lines.replaceSubrange(place...place, with: edit.others) }
        }
        let violations = PresenterChecker.violations(in: lines, slack: 1_000_000)
        if let rule = planted.rule {
            #expect(violations.contains { $0.rule == rule }, "\(violations)")
        } else {
            #expect(violations.isEmpty, "\(violations)")
        }
    }

    @Test func `each rule for presenters has events that violate it`() {
        #expect(Set(Self.cases.compactMap(\.rule)) == Set(Rule.allCases))
    }

    @Test func `a schedule is drawn from its seed`() {
        struct Counter: RandomNumberGenerator {
            var number: UInt64
            mutating func next() -> UInt64 {
                number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return number ^ number >> 33
            }
        }
        func text(_ seed: UInt64) -> String {
            var random = Counter(number: seed)
            return "\(Schedule(using: &random))"
        }
        #expect(text(1) == text(1))
        #expect(Set((0..<20).map(text)).count == 20)
    }
}
