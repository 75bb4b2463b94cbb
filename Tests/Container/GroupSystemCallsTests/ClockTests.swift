import GroupSystemCalls
import TestSupport
import Testing

@Suite struct `A moment in nanoseconds` {
    /// A file has any date that touch(1) gives it, also one that 64 bits of nanoseconds do not reach.
    @Test(arguments: ["1901-01-01", "1960-06-01", "2025-01-01", "2262-04-12", "2400-01-01"])
    func `can be computed with, whatever the date of a file is`(date: String) throws {
        let temporary = try TemporaryDirectory()
        try temporary.put("x", at: "file")
        try temporary.run("touch", "-d", date, "file")
        let modified = try temporary.status(of: "file").modified
        let now = wallNanoseconds()
        #expect(!now.subtractingReportingOverflow(modified).overflow)
        #expect(!modified.addingReportingOverflow(Duration.seconds(9 * 366 * 86_400).nanoseconds).overflow)
        #expect((modified > now) == (date > "2200"))
    }
}
