import GroupCommandLine
import Testing

// Swift Testing has an `ExitStatus` too.
private typealias ExitStatus = GroupCommandLine.ExitStatus

struct ExitStatusTests {
    private static let contract: [(ExitStatus, Int32)] = [
        (.success, 0), (.failure, 1), (.timedOut, 2), (.noData, 3), (.unchanged, 3), (.conflict, 4), (.usage, 64),
        (.damaged, 65), (.notFound, 66), (.unsupported, 69), (.inputOutput, 74), (.lockTimedOut, 75),
        (.notPermitted, 77), (.commandNotExecutable, 126), (.commandNotFound, 127), (.signal(2), 130),
        (.signal(15), 143),
    ]

    @Test func `each exit status has its documented number`() {
        for (status, number) in Self.contract { #expect(status.rawValue == number) }
    }
}
