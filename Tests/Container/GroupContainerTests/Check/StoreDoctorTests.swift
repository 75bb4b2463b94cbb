import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(2)), .tags(.process)) struct `Repair of suites and channels` {
    private static let messages = (11...100).map { "message \($0)." }

    private func filled() throws -> Patient {
        let patient = try Patient()
        try patient.fill()
        #expect(try patient.findings() == [])
        return patient
    }

    // fault: flipped-bit
    @Test func `repairing a channel with a damaged message keeps the others, and its listener gets one error`() throws {
        let patient = try filled()
        let file = Patient.channel + "/1.log"
        try patient.flip(file, at: try patient.place(of: "message 50.", in: file) + 24)
        let found = try patient.findings()
        #expect(found.map(\.code) == [.channelDamaged] && found.first?.item == file)
        try patient.heal([.channelDamaged])
        let (texts, numbers, damaged) = try patient.messages()
        #expect(texts == Self.messages.filter { $0 != "message 50." } && damaged == 1)
        #expect(numbers == (11...100).filter { $0 != 50 })
    }

    // fault: flipped-bit
    @Test(arguments: ["message 50.", "message 5.", "reader"])
    func `repairing a channel with a broken record header loses no message`(
        text: String
    ) throws {
        let patient = try filled()
        let file = Patient.channel + "/1.log"
        try patient.flip(file, at: try patient.place(of: text, in: file))
        try patient.heal([.channelDamaged])
        let (texts, numbers, damaged) = try patient.messages()
        #expect(texts == Self.messages && numbers == Array(11...100) && damaged == 0)
    }

    // fault: hole-in-log
    @Test func `repairing a channel that lost several messages never reuses a message number`() throws {
        let patient = try filled()
        let file = Patient.channel + "/1.log"
        let (first, last) = (
            try patient.place(of: "message 40.", in: file), try patient.place(of: "message 42.", in: file)
        )
        let map = try patient.map(file)
        for offset in stride(from: first, to: last, by: 8) { map.store64(offset, 0) }
        try patient.heal([.channelDamaged])
        let number = try patient.work { try GroupChannel($0, name: "news").post(bytes: Array("new".utf8)) }
        #expect(number > 100)
        let (texts, numbers, damaged) = try patient.messages()
        let kept = Self.messages.filter { !["message 40.", "message 41."].contains($0) }
        #expect(texts == kept + ["new"] && damaged > 0)
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
        #expect(numbers.dropFirst(29).allSatisfy { $0 > 41 })
    }

    // fault: truncated-map
    @Test func `repairing a channel that was cut short keeps the messages before the cut`() throws {
        let patient = try filled()
        let file = Patient.channel + "/1.log"
        try patient.temporary.open(file).setSize(try patient.place(of: "message 50.", in: file))
        try patient.heal([.channelDamaged])
        // The acknowledgement stood behind the cut, and is lost.
        #expect(try patient.messages().texts == (1..<50).map { "message \($0)." })
    }

    @Test func `a check repairs nothing while the container is open`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        try patient.flip(file, at: try patient.place(of: "value 50", in: file))
        try patient.work { _ in
            let found = try patient.findings()
            #expect(found.map(\.code) == [.suiteDamaged] && found.first?.repaired == nil)
            #expect(found.first?.remedy.hasPrefix("end the container's members") == true)
            #expect(try patient.repair() == [])
        }
        try patient.heal([.suiteDamaged])
    }

    // fault: unknown-data
    @Test func `a check leaves a log of a newer version alone`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        try patient.flip(file, at: 8)
        let before = try patient.temporary.open(file).readAll()
        #expect(try patient.findings().map(\.code) == [.formatNewer])
        #expect(try patient.repair() == [])
        #expect(try patient.temporary.open(file).readAll() == before)
    }

    @Test func `repairing a suite puts a segment of another container aside`() throws {
        let (patient, other) = (try filled(), try filled())
        try patient.temporary.run(
            "cp", "\(other.temporary.path)/\(Patient.suite)/1.log", Patient.suite + "/2.log")
        let before = try patient.findings()
        #expect(before.map(\.what) == ["the file belongs to another log or container"])
        try patient.heal([.suiteDamaged])
        #expect(try patient.names(in: Patient.suite) == ["1.log", "damaged-2"])
        #expect(try patient.values().count == 100)
    }

    @Test(arguments: [(1, 1 << 62 - 1), (UInt64(UInt32.max), 0)] as [(UInt64, UInt64)])
    func `repairing a suite whose numbers are used up keeps all values`(number: UInt64, base: UInt64) throws {
        let patient = try filled()
        let file = try patient.temporary.open(Patient.suite + "/1.log")
        var header = try SegmentHeader(decoding: Array(try file.readAll(limit: SegmentHeader.size)))
        (header.number, header.base, header.previousEnd) = (number, base, 4_096)
        try file.overwrite(header.encoded())
        if number != 1 {
            try patient.temporary.run("mv", Patient.suite + "/1.log", Patient.suite + "/\(number).log")
        }
        try patient.heal([.suiteDamaged])
        #expect(try patient.names(in: Patient.suite).contains(number == 1 ? "2.log" : "1.log"))
        #expect(try patient.values().count == 100)
    }

    @Test func `repairing a suite drops a damaged older segment`() throws {
        let patient = try filled()
        try patient.fillFile()
        let file = Patient.suite + "/1.log"
        try patient.flip(file, at: try patient.place(of: "value 50", in: file))
        #expect(try patient.findings().map(\.severity) == [.warning])
        try patient.heal([.suiteDamaged])
        #expect(try patient.names(in: Patient.suite) == ["2.log"])
        #expect(try patient.values().count >= 100)
    }

    @Test func `repairing a suite removes segments before a gap`() throws {
        let patient = try filled()
        try patient.fillFile()
        try patient.fillFile()
        try patient.temporary.run("sh", "-c", "cd \(Patient.suite); ls; rm -f 2.log; [ -e 1.log ] || : > 1.log")
        #expect(try patient.findings().contains { $0.item == Patient.suite + "/1.log" })
        _ = try patient.repair()
        #expect(try patient.findings() == [])
        #expect(try patient.names(in: Patient.suite) == ["3.log"])
        #expect(try patient.values().count >= 100)
    }

    // fault: directory-sync-fails
    @Test func `repairing a channel whose disk refused a write writes everything again`() throws {
        let patient = try filled()
        try patient.map(Patient.channel + "/1.log").store64(SegmentHeader.syncFailed, 1)
        #expect(try patient.findings().map(\.code) == [.logNotDurable])
        try patient.heal([.logNotDurable])
        #expect(try patient.messages().texts == Self.messages)
        #expect(try patient.messages().numbers == Array(11...100))
    }

    @Test func `a log that ends in an unfinished record is a note, and is repaired to end before it`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let map = try patient.map(file)
        let last = try patient.place(of: "value 99", in: file)
        let salt = map.load64(16)
        guard case .record(var record) = RecordHeader.decode(map.load64(last), offset: last, salt: salt) else {
            Issue.record("no record")
            return
        }
        record.state = .reserved
        map.store64(last, record.encoded(offset: last, salt: salt))
        let found = try patient.findings()
        #expect(found.map(\.code) == [.logTorn] && found.first?.severity == .note)
        #expect(try patient.work { _ in try patient.findings() } == [], "it may be just being written")
        try patient.heal([.logTorn])
        #expect(try patient.values().count == 99)
    }

    @Test func `a check finds and repairs modes that keep members out`() throws {
        let patient = try filled()
        try patient.temporary.run("chmod", "0400", Patient.suite + "/1.log")
        try patient.temporary.run("chmod", "0500", Patient.channel)
        let found = try patient.findings()
        #expect(found.map(\.code) == [.permissionsWrong, .permissionsWrong])
        #expect(found.map(\.what).contains("it has mode 0400, and needs 0600"))
        try patient.heal([.permissionsWrong, .permissionsWrong])
        #expect(try patient.temporary.status(of: Patient.suite + "/1.log").permissions == 0o600)
        #expect(try patient.temporary.status(of: Patient.channel).permissions == 0o700)
    }

    @Test func `a check names unknown files among the logs, and leaves them alone`() throws {
        let patient = try filled()
        try patient.temporary.put("", at: ".group/defaults/settings.plist")
        try patient.temporary.put("", at: Patient.suite + "/notes.txt")
        try patient.temporary.run("mkdir", ".group/channels/.hidden")
        let found = try patient.findings()
        #expect(found.map(\.code) == [.strangeName, .strangeName, .strangeName])
        #expect(found.allSatisfy { $0.severity == .note })
        #expect(try patient.repair() == [])
        #expect(try patient.findings() == found)
    }

    @Test func `a check removes leftovers of a killed compaction and a suite that was never begun`() throws {
        let patient = try filled()
        try patient.temporary.put("x", at: Patient.suite + "/new-7-0123456789abcdef")
        try patient.temporary.run("mkdir", ".group/defaults/begun")
        #expect(try Set(patient.findings().map(\.code)) == [.leftovers, .logMissing])
        #expect(try Set(patient.repair().map(\.code)) == [.leftovers, .logMissing])
        #expect(try patient.findings() == [])
        #expect(try patient.names(in: Patient.suite) == ["1.log"])
        #expect(try patient.names(in: ".group/defaults") == ["settings"])
    }
}
