import GroupCommandLine
import Testing

struct TimeArgumentTests {
    @Test(arguments: [
        ("0", Duration.zero), ("2", .seconds(2)), ("002", .seconds(2)), ("0.5", .milliseconds(500)), ("0ms", .zero),
        ("250ms", .milliseconds(250)), ("1500ms", .milliseconds(1500)), ("0.5ms", .microseconds(500)),
        ("0.1", .milliseconds(100)), ("0.000000001", .nanoseconds(1)), ("1.999999999", .nanoseconds(1_999_999_999)),
        ("0.000000000000000001", Duration(secondsComponent: 0, attosecondsComponent: 1)),
        ("0.0000000000000000019", Duration(secondsComponent: 0, attosecondsComponent: 1)),
        ("9223372035", .seconds(9_223_372_035)), ("9223372035000ms", .seconds(9_223_372_035)),
        ("5s", .seconds(5)), ("0.5s", .milliseconds(500)), ("2m", .seconds(120)), ("1h", .seconds(3_600)),
        ("1.5h", .seconds(5_400)), ("0.001m", .milliseconds(60)), ("30d", .seconds(2_592_000)),
        ("153722867m", .seconds(9_223_372_020)), ("106751d", .seconds(9_223_286_400)),
    ])
    func `a time is an exact number with a unit, or in seconds without a unit`(text: String, expected: Duration)
        throws
    {
        #expect(try TimeArgument.parse(text) == expected)
    }

    @Test(arguments: [
        "nan", "inf", "infinity", "ms", ".", ".5", "5.", "1.2.3", "2S", "2 ", " 2", "+2", "1e3", "0x10", "1_000", "1,5",
        "2msms", "2sm", "2w", "5 m", "s", "m", "h", "d", "1h30m", "250 ms", "٢", "２", "2\n", "2\0",
    ])
    func `a word that is not a time is malformed`(text: String) {
        #expect(throws: TimeArgumentError.malformed(text)) { try TimeArgument.parse(text) }
    }

    @Test(arguments: ["-1", "-0", "-0.5", "-250ms"])
    func `a negative time is refused`(text: String) {
        #expect(throws: TimeArgumentError.negative(text)) { try TimeArgument.parse(text) }
    }

    @Test(arguments: [
        "9223372036", "9223372036000ms", "9223372036854775808", "153722868m", "106752d",
        "99999999999999999999999999999999999999999999h", "99999999999999999999999999999",
    ])
    func `a time that is too long is refused`(text: String) {
        #expect(throws: TimeArgumentError.tooLarge(text)) { try TimeArgument.parse(text) }
    }

    @Test func `an empty time is refused`() {
        #expect(throws: TimeArgumentError.empty) { try TimeArgument.parse("") }
    }

    @Test func `the longest time fits in 64 bits of nanoseconds`() throws {
        let longest = try TimeArgument.parse("9223372035.999999999999999999").components
        #expect(longest.seconds < Int64.max / 1_000_000_000)
    }

    @Test func `the message of a malformed time escapes the word`() {
        #expect(TimeArgumentError.malformed("\u{1B}c").description.hasPrefix(#"'\033c' is not a time"#))
    }
}
