import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Damaged suite files` {
    private static func file(of sample: SampleContainer, _ suite: String) throws -> FileDescriptor {
        let directory = try sample.container.opened.directory.ownDirectory("defaults/\(suite)")
        return try FileDescriptor.open(
            Array("1.log".utf8), in: directory, [.readingAndWriting, .creating], mode: 0o600)
    }

    // fault: empty-metadata
    @Test(arguments: [0, 8, 4_096, 262_144])
    func `a suite file of zeros is damaged instead of empty`(size: Int) throws {
        let sample = try SampleContainer()
        try Self.file(of: sample, "zeros").setSize(size)
        #expect(code { try GroupDefaults(sample.container, suite: "zeros") } == .damaged)
        // Another suite is not affected.
        let other = try GroupDefaults(sample.container, suite: "other")
        try other.set(1, forKey: "n")
        #expect(other.integer(forKey: "n") == 1)
    }

    // fault: truncated-map
    @Test(arguments: [0, 4_096])
    func `a suite cut short under a member keeps its values for reading, and fails when changed`(
        size: Int
    ) throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        for number in 0..<200 { try defaults.set(number, forKey: "n") }
        #expect(defaults.integer(forKey: "n") == 199)
        try Self.file(of: sample, "standard").setSize(size)
        var diagnostics = sample.container.followDiagnostics()
        #expect(code { try defaults.set(1, forKey: "n") } == .damaged)
        #expect(code { try defaults.update(.init("n", default: 0)) { $0 += 1 } } == .damaged)
        #expect(defaults.integer(forKey: "n") == 199)
        #expect(code { try defaults.read(.init("n", default: 0)) } == .damaged)
        _ = diagnostics.next(timeout: .zero)
    }

    // fault: unknown-data
    @Test func `a suite of a newer format is refused`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container, suite: "old")
        try defaults.set(1, forKey: "n")
        let page = try Self.file(of: sample, "old").readAll(limit: SegmentHeader.size)
        var newer = page
        newer[8] = 2
        let file = try Self.file(of: sample, "newer")
        try file.writeAll(newer)
        try file.setSize(262_144)
        #expect(code { try GroupDefaults(sample.container, suite: "newer") } == .newerFormat)
    }

    // fault: unknown-data
    @Test func `a suite keeps NaN and infinity`() throws {
        let sample = try SampleContainer()
        let defaults = try GroupDefaults(sample.container)
        for (key, number) in [("nan", Double.nan), ("infinite", .infinity)] { try defaults.set(number, forKey: key) }
        #expect(defaults.double(forKey: "nan").isNaN && defaults.double(forKey: "infinite") == .infinity)
        #expect(defaults.integer(forKey: "nan") == 0 && defaults.integer(forKey: "infinite") == .max)
        #expect(defaults.value(forKey: "nan")?.jsonBytes == nil)
    }
}
