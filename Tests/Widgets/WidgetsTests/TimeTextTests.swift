import Testing
import Widgets

struct `A text for a time` {
    private static let second: Int64 = 1_000_000_000

    @Test(
        arguments: [
            (0, "0:00"), (-5, "0:00"), (1, "0:01"), (59, "0:59"), (60, "1:00"), (245, "4:05"), (3_600, "1:00:00"),
            (86_399, "23:59:59"), (86_400, "1 d"), (86_401, "1 d 1 h"), (180_000, "2 d 2 h"),
        ] as [(Int64, String)])
    func `a countdown is shown as hours, minutes and seconds`(seconds: Int64, expected: String) {
        #expect(TimeText.countdown(to: seconds * Self.second, at: 0).text == expected)
        // A part of a second counts as a second.
        if seconds > 0 { #expect(TimeText.countdown(to: seconds * Self.second, at: 1).text == expected) }
    }

    @Test(
        arguments: [
            (0, "0 s"), (4, "4 s"), (59, "59 s"), (60, "1 min"), (61, "2 min"), (3_600, "1 h"), (86_400, "1 d"),
            (90_000, "2 d"),
        ] as [(Int64, String)])
    func `the time that is left is shown in one unit`(seconds: Int64, expected: String) {
        #expect(TimeText.left(until: seconds * Self.second, at: 0).text == expected)
    }

    @Test(
        arguments: [
            (0, "0 s"), (-3, "0 s"), (59, "59 s"), (60, "1 min"), (3_599, "59 min"), (86_400, "1 d"), (180_000, "2 d"),
        ] as [(Int64, String)])
    func `an age is shown in one unit`(seconds: Int64, expected: String) {
        #expect(TimeText.age(since: 0, at: seconds * Self.second).text == expected)
    }

    @Test func `a text for a time is valid exactly until the moment that it has`() {
        let functions: [(Int64, Int64) -> TimeText] = [
            { TimeText.countdown(to: $0, at: $1) }, { TimeText.left(until: $0, at: $1) },
            { TimeText.age(since: -$0, at: $1) },
        ]
        let distances: [Int64] = [
            1, 59, 60, 61, 3_599, 3_600, 3_601, 7_200, 86_399, 86_400, 86_401, 90_000, 180_001, 400_000,
        ]
        for function in functions {
            for distance in distances.map({ $0 * Self.second }) + distances.map({ $0 * Self.second + 7 }) {
                var now: Int64 = 0
                for _ in 0..<200 {
                    let text = function(distance, now)
                    guard let until = text.until else { break }
                    #expect(until > now && function(distance, until - 1).text == text.text, "\(text) at \(now)")
                    #expect(function(distance, until).text != text.text, "\(text) at \(now)")
                    now = until
                }
            }
        }
    }

    @Test(arguments: [Int64.min, -1, 0, 1, .max], [Int64.min, -1, 0, 1, .max])
    func `extreme dates have a text without an overflow`(date: Int64, now: Int64) {
        #expect(!TimeText.countdown(to: date, at: now).text.isEmpty)
        #expect(!TimeText.left(until: date, at: now).text.isEmpty)
        #expect(!TimeText.age(since: date, at: now).text.isEmpty)
    }
}
