#if ICalendar
import Agenda
import Foundation
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(2)))
struct `Calendar files` {
    private static let berlin = TimeZone(identifier: "Europe/Berlin") ?? .gmt

    /// Returns the occurrences of an event, with the lines of its properties.
    private static func calendar(
        _ lines: [String], local: TimeZone = .gmt, from: String = "1900-01-01T00:00:00Z",
        through: String = "2100-01-01T00:00:00Z", limit: Int = 10
    ) throws -> CalendarFile {
        let all = ["BEGIN:VCALENDAR"] + zone + ["BEGIN:VEVENT"] + lines + ["END:VEVENT", "END:VCALENDAR", ""]
        return try CalendarFile(
            Array(all.joined(separator: "\r\n").utf8), local: local, from: date(from), through: date(through),
            limit: limit)
    }

    /// A zone that no system knows: two hours before UTC.
    private static let zone = [
        "BEGIN:VTIMEZONE", "TZID:Middle of the Sea", "BEGIN:STANDARD", "DTSTART:19700101T000000", "TZOFFSETFROM:-0200",
        "TZOFFSETTO:-0200", "END:STANDARD", "END:VTIMEZONE",
    ]

    private static func date(_ text: String) -> Date { (try? Date(text, strategy: .iso8601)) ?? .distantPast }

    /// Returns the occurrences after a moment, each with its start and end in UTC.
    private static func times(
        _ lines: [String], local: TimeZone = .gmt, from: String = "1900-01-01T00:00:00Z",
        through: String = "2100-01-01T00:00:00Z", limit: Int = 10
    ) throws -> [String] {
        let calendar = try calendar(lines, local: local, from: from, through: through, limit: limit)
        return calendar.occurrences.map { "\($0.start.formatted(.iso8601)) \($0.end.formatted(.iso8601))" }
            + calendar.faults
    }

    @Test(arguments: [
        // UTC, a zone, a zone that nobody knows, no zone: local times.
        (["DTSTART:20260701T100000Z", "DTEND:20260701T113000Z"], "2026-07-01T10:00:00Z 2026-07-01T11:30:00Z"),
        (["DTSTART;TZID=America/New_York:20260701T100000"], "2026-07-01T14:00:00Z 2026-07-01T14:00:00Z"),
        (["DTSTART;TZID=\"Somewhere; else\":20260701T100000"], "2026-07-01T08:00:00Z 2026-07-01T08:00:00Z"),
        (["DTSTART;TZID=Middle of the Sea:20260701T100000"], "2026-07-01T12:00:00Z 2026-07-01T12:00:00Z"),
        (["DTSTART:20260701T100000", "DURATION:PT1H30M"], "2026-07-01T08:00:00Z 2026-07-01T09:30:00Z"),
        (["DTSTART:20260701T100000", "DURATION:P1W"], "2026-07-01T08:00:00Z 2026-07-08T08:00:00Z"),
        // Whole days are local.
        (["DTSTART;VALUE=DATE:20260701"], "2026-06-30T22:00:00Z 2026-07-01T22:00:00Z"),
        (["DTSTART;VALUE=DATE:20260701", "DTEND;VALUE=DATE:20260704"], "2026-06-30T22:00:00Z 2026-07-03T22:00:00Z"),
        (["DTSTART;VALUE=DATE:20260701", "DTEND;VALUE=DATE:20260701"], "2026-06-30T22:00:00Z 2026-07-01T22:00:00Z"),
        // The day on which clocks are put forward has 23 hours; the hour that is missing is an hour later.
        (["DTSTART;VALUE=DATE:20260329"], "2026-03-28T23:00:00Z 2026-03-29T22:00:00Z"),
        (["DTSTART:20260329T023000"], "2026-03-29T01:30:00Z 2026-03-29T01:30:00Z"),
        // Of the hour that is there twice, it is the first.
        (["DTSTART:20261025T023000"], "2026-10-25T00:30:00Z 2026-10-25T00:30:00Z"),
        (["DTSTART:20261025T120000"], "2026-10-25T11:00:00Z 2026-10-25T11:00:00Z"),
    ])
    func `the times of an event in Berlin are those of its zone`(lines: [String], time: String) throws {
        #expect(try Self.times(lines, local: Self.berlin) == [time])
    }

    @Test(arguments: [
        ("19970902", "FREQ=DAILY;COUNT=3", "19970902 19970903 19970904"),
        ("20260227", "FREQ=DAILY;COUNT=3", "20260227 20260228 20260301"),
        ("19970902", "FREQ=DAILY;INTERVAL=10;COUNT=5", "19970902 19970912 19970922 19971002 19971012"),
        ("20240228", "FREQ=DAILY;UNTIL=20240301", "20240228 20240229 20240301"),
        ("20240228", "FREQ=DAILY;UNTIL=20240301T085959Z", "20240228 20240229"),
        ("20240228", "FREQ=DAILY;UNTIL=20240301T090000Z", "20240228 20240229 20240301"),
        ("20261231", "FREQ=DAILY;BYMONTH=1;BYDAY=MO;COUNT=2", "20270104 20270111"),
        ("19970902", "FREQ=WEEKLY;COUNT=3", "19970902 19970909 19970916"),
        ("19970902", "FREQ=WEEKLY;BYDAY=TU,TH;COUNT=4", "19970902 19970904 19970909 19970911"),
        ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=MO", "19970805 19970810 19970819 19970824"),
        ("19970805", "FREQ=WEEKLY;INTERVAL=2;COUNT=4;BYDAY=TU,SU;WKST=SU", "19970805 19970817 19970819 19970831"),
        ("20260131", "FREQ=MONTHLY;COUNT=4", "20260131 20260331 20260531 20260731"),
        ("20261130", "FREQ=MONTHLY;INTERVAL=3;COUNT=3", "20261130 20270530 20270830"),
        ("19970905", "FREQ=MONTHLY;BYDAY=1FR;COUNT=3", "19970905 19971003 19971107"),
        ("19970922", "FREQ=MONTHLY;BYDAY=-2MO;COUNT=3", "19970922 19971020 19971117"),
        ("20260131", "FREQ=MONTHLY;BYMONTHDAY=-1;COUNT=3", "20260131 20260228 20260331"),
        ("19980213", "FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13;COUNT=3", "19980213 19980313 19981113"),
        ("20260130", "FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1;COUNT=3", "20260130 20260227 20260331"),
        ("20240229", "FREQ=YEARLY;COUNT=3", "20240229 20280229 20320229"),
        ("19970519", "FREQ=YEARLY;BYDAY=20MO;COUNT=3", "19970519 19980518 19990517"),
        ("19970313", "FREQ=YEARLY;BYMONTH=3;BYDAY=TH;COUNT=4", "19970313 19970320 19970327 19980305"),
        (
            "19961105", "FREQ=YEARLY;INTERVAL=4;BYMONTH=11;BYDAY=TU;BYMONTHDAY=2,3,4,5,6,7,8;COUNT=3",
            "19961105 20001107 20041102"
        ),
    ])
    func `a rule repeats an event on the days that are expected`(start: String, rule: String, days: String) throws {
        let expected = days.split(separator: " ").map { day in
            let time = "\(day.prefix(4))-\(day.dropFirst(4).prefix(2))-\(day.suffix(2))T09:00:00Z"
            return "\(time) \(time)"
        }
        #expect(try Self.times(["DTSTART:\(start)T090000Z", "RRULE:\(rule)"]) == expected)
    }

    @Test func `an event stays at its hour when the clocks change, and ends with its zone's until`() throws {
        let lines = ["DTSTART;TZID=Europe/Berlin:20260328T090000", "RRULE:FREQ=DAILY;UNTIL=20260330T070000Z"]
        #expect(
            try Self.times(lines).map { $0.prefix(20) } == [
                "2026-03-28T08:00:00Z", "2026-03-29T07:00:00Z", "2026-03-30T07:00:00Z",
            ])
    }

    @Test func `exceptions and further dates change the occurrences`() throws {
        let rule = "RRULE:FREQ=DAILY;COUNT=5"
        let lines = [
            "DTSTART:20260701T100000Z", rule, "EXDATE:20260702T100000Z,20260703T100000Z", "EXDATE;VALUE=DATE:20260705",
            "RDATE:20260709T120000Z",
        ]
        #expect(
            try Self.times(lines).map { $0.prefix(20) } == [
                "2026-07-01T10:00:00Z", "2026-07-04T10:00:00Z", "2026-07-09T12:00:00Z",
            ])
        let days = ["DTSTART;VALUE=DATE:20260701", rule, "EXDATE;VALUE=DATE:20260702", "EXDATE:20260703T000000"]
        #expect(try Self.times(days, local: Self.berlin).count == 3)
    }

    @Test func `a changed occurrence takes the place of one of the series, and a cancelled one is left out`() throws {
        let lines = [
            "UID:a", "SUMMARY:a", "DTSTART:20260701T100000Z", "RRULE:FREQ=DAILY;COUNT=3", "END:VEVENT", "BEGIN:VEVENT",
            "UID:a", "RECURRENCE-ID:20260702T100000Z", "DTSTART:20260702T150000Z", "END:VEVENT", "BEGIN:VEVENT",
            "UID:a", "RECURRENCE-ID:20260703T100000Z", "DTSTART:20260703T100000Z", "STATUS:CANCELLED",
        ]
        #expect(try Self.times(lines).map { $0.prefix(20) } == ["2026-07-01T10:00:00Z", "2026-07-02T15:00:00Z"])
        // UIDs of some programs are long, and begin equally.
        let long = String(repeating: "0", count: 300)
        let others = lines.enumerated().map { $1 == "UID:a" ? "UID:\(long)\($0)" : $1 }
        #expect(try Self.times(others).count == 4)
        #expect(try Self.times(lines.filter { $0 != "UID:a" }).count == 4)
    }

    @Test func `folds and escapes are undone, and what is within an alarm is not the event's`() throws {
        let lines = [
            "SUMMARY;LANGUAGE=de:Caf\u{E9} \\, Te", " e\\; 1\\n2", "LOCATION:here", "URL:https://example.org/a?b=1,2;c",
            "DESCRIPTION:", "BEGIN:VALARM", "SUMMARY:alarm", "END:VALARM", "DTSTART:20260701T100000Z",
        ]
        let event = try Self.calendar(lines).occurrences.first
        #expect(event?.title == "Caf\u{E9} , Tee; 1 2" && event?.place == "here")
        #expect(event?.url == "https://example.org/a?b=1,2;c")
        // A fold within a character, and lines that end as on Unix.
        var bytes = Array(
            "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:\u{E9}\nDTSTART:20260701T100000Z\nEND:VEVENT\nEND:VCALENDAR\n".utf8)
        if let index = bytes.firstIndex(of: 0xA9) { bytes.insert(contentsOf: Array("\r\n\t".utf8), at: index) }
        #expect(try Self.titles(bytes) == ["\u{E9}"])
        #expect(try Self.titles([0xEF, 0xBB, 0xBF] + bytes + bytes) == ["\u{E9}", "\u{E9}"])
    }

    private static func titles(_ bytes: [UInt8]) throws -> [String] {
        try CalendarFile(
            bytes, local: .gmt, from: date("2026-01-01T00:00:00Z"), through: date("2027-01-01T00:00:00Z"), limit: 10
        ).occurrences.map(\.title)
    }

    @Test(arguments: [
        (["SUMMARY:x"], "'x' has no DTSTART"),
        (["DTSTART:tomorrow"], "'' has a DTSTART that cannot be read"),
        (["DTSTART:20260230T100000Z"], "'' has a DTSTART that is no day"),
        (["DTSTART:20260701T100000Z", "DTEND:20260701T090000Z"], "'' ends before it begins"),
        (["DTSTART:20260701T100000Z", "DTEND:30000701T090000Z"], "'' is too long"),
        (["DTSTART:20260701T100000Z", "RRULE:FREQ=HOURLY"], "'' repeats more often than daily"),
        (["DTSTART:20260701T100000Z", "RRULE:FREQ=DAILY;COUNT=0"], "'' has a RRULE that cannot be read"),
        (["DTSTART:20260701T100000Z", "RRULE:FREQ=WEEKLY;BYDAY=XX"], "'' has a RRULE that cannot be read"),
        (["DTSTART:20260701T100000Z", "RRULE:nonsense"], "'' has a RRULE that cannot be read"),
        (["DTSTART:20260701T100000Z", "DURATION:5 minutes"], "'' has a DURATION that cannot be read"),
        (["DTSTART:20260701T100000Z", "EXRULE:FREQ=DAILY"], "'' has an EXRULE"),
        (["DTSTART:20261301T100000Z"], "'' has a DTSTART that is no day"),
        (["DTSTART:20260701T990000Z"], "'' has a DTSTART that is no day"),
        (["DTSTART:20260701T100000Z", "DTEND:20260732T100000Z"], "'' has a DTEND that is no day"),
        (["DTSTART:20260701T100000Z", "RDATE:20261131T100000Z"], "'' has an RDATE that is no day"),
        (
            ["DTSTART:20260701T100000Z", "RRULE:FREQ=DAILY", "EXDATE:20260631T100000Z"],
            "'' has an EXDATE that is no day"
        ),
        (["DTSTART:20260701T100000Z", "RRULE:FREQ=DAILY;UNTIL=20261301T100000Z"], "'' has an UNTIL that is no day"),
        (["DTSTART:20260701T100000Z", "RRULE:FREQ=DAILY;INTER\r\n VAL=65537"], "'' has a RRULE that cannot be read"),
        (["DTSTART:20260701T100000Z", "RRULE:COUNT=4294967298;FREQ=DAILY"], "'' has a RRULE that cannot be read"),
        (["DTSTART:20260701T100000Z", "DURATION:P99999999999W"], "'' has a DURATION that cannot be read"),
        (
            ["DTSTART:20260701T100000Z"] + (0...10_000).map { "RDATE:2026070\(1 + $0 % 9)T100000Z" },
            "'' lists more than 10000 dates"
        ),
    ])
    func `an event that cannot be read is left out, and named`(lines: [String], fault: String) throws {
        #expect(try Self.times(lines, from: "2026-01-01T00:00:00Z") == [fault])
    }

    @Test
    func `the first occurrences of many events are found, and a file that takes too long is not counted to its end`()
        throws
    {
        func file(_ rule: String) -> [UInt8] {
            let events = (0..<1_000).map {
                "BEGIN:VEVENT\nSUMMARY:\($0)\nDTSTART:20000101T1\($0 / 100)0000Z\nRRULE:\(rule)\nEND:VEVENT\n"
            }
            return Array("BEGIN:VCALENDAR\n\(events.reversed().joined())END:VCALENDAR\n".utf8)
        }
        #expect(
            try Self.titles(file("FREQ=DAILY")).sorted() == ["0", "1", "10", "11", "12", "13", "14", "15", "16", "17"])
        let calendar = try CalendarFile(
            file("FREQ=DAILY;COUNT=100000;INTERVAL=1"), local: .gmt, from: Self.date("2200-01-01T00:00:00Z"),
            through: .distantFuture, limit: 10)
        #expect(calendar.faultCount > 0 && calendar.faults.count == 10)
        #expect(calendar.faults.first?.hasSuffix("has repetitions that take too long to count") == true)
    }

    @Test func `a file whose zone changes its clocks each second is refused at once`() throws {
        let zone =
            "BEGIN:VTIMEZONE\nTZID:z\nBEGIN:STANDARD\nDTSTART:19700101T000000\nTZOFFSETFROM:+0000\nTZOFFSETTO:+0100\n"
            + "RRULE:FREQ=SECONDLY\nEND:STANDARD\nEND:VTIMEZONE\n"
        let event = "BEGIN:VEVENT\nDTSTART;TZID=z:20260701T100000\nEND:VEVENT\n"
        #expect(throws: CalendarFile.Fault("has a time zone whose clocks change more often than yearly")) {
            try Self.titles(Array("BEGIN:VCALENDAR\n\(zone)\(event)END:VCALENDAR\n".utf8))
        }
    }

    @Test func `other text is no calendar, nor is one that another program has half written`() throws {
        for text in ["hello: world", "", "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:x\nDTSTART:20260701T100000Z"] {
            #expect(throws: CalendarFile.Fault("is not a whole calendar")) { try Self.titles(Array(text.utf8)) }
        }
        #expect(throws: CalendarFile.Fault("is larger than 8 MiB")) {
            try Self.titles(Array(repeating: 32, count: CalendarFile.largest + 1))
        }
    }

    /// What is skipped without a count has to be skipped by whole intervals.
    @Test func `rules that begin long ago have the same days as rules that are counted from their start`() throws {
        var random = SeededGenerator(seed: faultSeed)
        for _ in 0..<300 {
            let frequency = ["DAILY", "WEEKLY", "MONTHLY", "YEARLY"].randomElement(using: &random) ?? "DAILY"
            var rule = "FREQ=\(frequency);INTERVAL=\(Int.random(in: 1...5, using: &random))"
            if Bool.random(using: &random) { rule += ";BYDAY=\(Bool.random(using: &random) ? "MO,SU" : "WE")" }
            if Bool.random(using: &random), frequency != "WEEKLY" { rule += ";BYMONTHDAY=1,2,3,-1,-8" }
            if Bool.random(using: &random) { rule += ";BYMONTH=2,3,11" }
            if Bool.random(using: &random) { rule += ";WKST=\(Bool.random(using: &random) ? "SU" : "TH")" }
            let year = Int.random(in: 1990...2020, using: &random)
            let start =
                "DTSTART:\(year)\(10 + Int.random(in: 0...2, using: &random))\(Int.random(in: 10...28, using: &random))T120000Z"
            let from = "2026-06-15T00:00:00Z"
            let counted = try Self.times(
                [start, "RRULE:\(rule);COUNT=1000000"], from: from, through: "2040-01-01T00:00:00Z")
            #expect(
                try Self.times([start, "RRULE:\(rule)"], from: from, through: "2040-01-01T00:00:00Z") == counted,
                "\(start) \(rule)")
        }
    }

    @Test func `no bytes end the reader`() throws {
        var random = SeededGenerator(seed: faultSeed)
        let sample = Array(
            """
            BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART;TZID=Europe/Berlin:20260701T100000\r\nDTEND:20260701T113000Z\r
            RRULE:FREQ=MONTHLY;INTERVAL=2;BYDAY=-1FR,2MO;COUNT=12;UNTIL=20301231T000000Z;BYSETPOS=1\r
            EXDATE;VALUE=DATE:20260801,20260901\r\nSUMMARY:a\\, b\r\n c\r\nDURATION:P1DT2H\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n
            """.utf8)
        let pieces = sample.split(separator: UInt8(ascii: "\n")).map { Array($0) + [UInt8(ascii: "\n")] }
        for round in 0..<3_000 {
            var bytes: [UInt8]
            switch round % 3 {
            case 0:
                bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in .random(in: 0...255, using: &random) }
            case 1: bytes = (0..<20).flatMap { _ in pieces.randomElement(using: &random) ?? [] }
            default: bytes = sample
            }
            for _ in 0..<Int.random(in: 0...6, using: &random) where !bytes.isEmpty {
                let index = bytes.indices.randomElement(using: &random) ?? 0
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[index] = .random(in: 0...255, using: &random)
                case 1: bytes[index] = UInt8.random(in: 0x30...0x39, using: &random)
                case 2: bytes.remove(at: index)
                default: bytes.insert(contentsOf: bytes[index...].prefix(20), at: index)
                }
            }
            let found = try? CalendarFile(
                bytes, local: Self.berlin, from: Self.date("2026-06-01T00:00:00Z"),
                through: Self.date("2028-01-01T00:00:00Z"), limit: 20
            ).occurrences
            if let found { #expect(found.count <= 20 && found == found.sorted(), "seed \(faultSeed)") }
        }
    }
}
#endif
