import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

// fault: flipped-bit
@Suite(.timeLimit(.minutes(1))) struct `Key changes of a damaged suite` {
    private static func all(_ follower: inout Follower<DefaultsChange>) throws -> [DefaultsChange] {
        var changes: [DefaultsChange] = []
        while let change = try follower.next(timeout: .zero) { changes.append(change) }
        return changes
    }

    private static func isDegraded(_ change: DefaultsChange) -> Bool {
        if case .degraded = change.kind { true } else { false }
    }

    @Test func `a follower of a suite gets a damaged record as degraded, and then the records behind it`() throws {
        let patient = try Patient()
        try patient.fill()
        let file = Patient.suite + "/1.log"
        let place = try patient.place(of: "value 50", in: file)
        try patient.flip(file, at: place + 24)
        let container = try Container(path: patient.temporary.path)
        let defaults = try GroupDefaults(container, suite: "settings")
        var follower = try defaults.follow(since: .start)
        let changes = try Self.all(&follower)
        #expect(changes.map(\.key) == (0..<100).map { $0 == 50 ? "" : "key \($0)" })
        #expect(
            changes[50].kind == .degraded(reason: "the record at byte \(place) does not fit its checksum")
                && changes[50].newValue == nil)
        #expect(changes.filter { $0.kind == .set }.count == 99)
        for (number, change) in changes.enumerated() {
            var back = try defaults.follow(since: .cursor(change.cursor))
            #expect(try Self.all(&back) == Array(changes[(number + 1)...]), "behind \(number)")
        }
        try defaults.set("again", forKey: "key 50")
        #expect(try Self.all(&follower).map(\.newValue) == [.string("again")])
    }

    @Test func `a follower of a suite that was cut gets one rescan, and then the new keys`() throws {
        let patient = try Patient()
        try patient.fill()
        let file = Patient.suite + "/1.log"
        try patient.flip(file, at: try patient.place(of: "value 50", in: file))
        let container = try Container(path: patient.temporary.path)
        let defaults = try GroupDefaults(container, suite: "settings")
        var follower = try defaults.follow(since: .start)
        let changes = try Self.all(&follower)
        // The process that opened the suite has cut its log at the damage.
        #expect(changes.map(\.key) == (0..<50).map { "key \($0)" })
        #expect(try Self.all(&follower) == [])
        let back = follower.cursor
        try defaults.set("new", forKey: "key")
        for var follower in [follower, try defaults.follow(since: .cursor(back))] {
            let rest = try Self.all(&follower)
            #expect(rest.first?.kind == .rescan && rest.contains { $0.key == "key" && $0.newValue == .string("new") })
            #expect(!rest.contains(where: Self.isDegraded))
        }
    }

    @Test func `a follower of a suite gets damage in a segment preamble as degraded`() throws {
        let patient = try Patient()
        try patient.fill()
        try patient.fillFile()
        let container = try Container(path: patient.temporary.path)
        let defaults = try GroupDefaults(container, suite: "settings")
        try patient.temporary.directory.unlink(Array((Patient.suite + "/1.log").utf8))
        try patient.flip(Patient.suite + "/2.log", at: SegmentHeader.size + 24)
        try defaults.set("new", forKey: "key")
        var follower = try defaults.follow(since: .start)
        let changes = try Self.all(&follower)
        #expect(changes.first.map(Self.isDegraded) == true && changes.last?.key == "key")
    }

    @Test func `a follower that wants only the latest of each key gets damage as degraded, and goes on`() async throws {
        let patient = try Patient()
        try patient.fill()
        let file = Patient.suite + "/1.log"
        let container = try Container(path: patient.temporary.path)
        let defaults = try GroupDefaults(container, suite: "settings")
        let start = try defaults.follow(since: .start).cursor
        try patient.flip(file, at: try patient.place(of: "value 50", in: file) + 24)
        var latest = defaults.changes(since: .cursor(start), delivering: .latest).makeAsyncIterator()
        let first = try #require(try await latest.next())
        #expect(Self.isDegraded(first))
        #expect(try await latest.next()?.key == "key 0")
    }
}
