import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(2)), .tags(.process)) struct `Repair of suites` {
    private static let all = Dictionary(uniqueKeysWithValues: (0..<100).map { ("key \($0)", "value \($0)") })

    private static func all(but lost: Int...) -> [String: String] {
        all.filter { key, _ in !lost.contains { key == "key \($0)" } }
    }

    private func filled() throws -> Patient {
        let patient = try Patient()
        try patient.fill()
        #expect(try patient.findings() == [])
        return patient
    }

    // fault: flipped-bit
    @Test func `repairing a suite with a flipped bit in a record loses only that key`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let place = try patient.place(of: "value 50", in: file)
        try patient.flip(file, at: place + 24)
        let found = try patient.findings()
        #expect(found.map(\.code) == [.suiteDamaged] && found.first?.severity == .error)
        #expect(found.first?.item == file && found.first?.what.contains("at byte \(place) does not fit") == true)
        #expect(found.first?.repaired?.contains("what was set at one place is lost") == true)
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all(but: 50))
    }

    // fault: flipped-bit
    @Test func `repairing a suite with a flipped bit in a record header loses nothing`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let place = try patient.place(of: "value 50", in: file)
        try patient.flip(file, at: place)
        let found = try patient.findings()
        #expect(found.first?.what == "the record header at byte \(place) is malformed")
        #expect(found.first?.repaired?.hasSuffix("nothing is lost") == true)
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all)
    }

    // fault: hole-in-log
    @Test func `repairing a suite with a hole loses only the keys in the hole`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let (first, last) = (try patient.place(of: "value 40", in: file), try patient.place(of: "value 42", in: file))
        let map = try patient.map(file)
        for offset in stride(from: first, to: last, by: 8) { map.store64(offset, 0) }
        let found = try patient.findings()
        #expect(found.map(\.what) == ["there is no record at byte \(first), but there are records behind it"])
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all(but: 40, 41))
    }

    // fault: hole-in-log
    @Test func `repairing a suite with garbage in several places keeps all other keys`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let map = try patient.map(file)
        for first in try [20, 60].map({ try patient.place(of: "value \($0)", in: file) }) {
            for offset in stride(from: first, to: first + 24, by: 8) { map.store64(offset, .max) }
        }
        let found = try patient.findings()
        #expect(found.first?.what.hasSuffix("is malformed, and one place more") == true, "\(found)")
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all(but: 20, 60))
    }

    // fault: truncated-map
    @Test func `repairing a suite that was cut short keeps the keys before the cut`() throws {
        let patient = try filled()
        let file = Patient.suite + "/1.log"
        let place = try patient.place(of: "value 50", in: file)
        try patient.temporary.open(file).setSize(place + 30)
        #expect(throws: CoordinationError.self) { try patient.values() }
        let found = try patient.findings()
        #expect(found.map(\.code) == [.suiteDamaged])
        #expect(found.first?.what.contains("the file was cut short: \(place + 30) of 262144 bytes are left") == true)
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all.filter { key, _ in (Int(key.dropFirst(4)) ?? 0) < 50 })
    }

    // fault: truncated-map
    @Test func `repairing a suite that was cut behind its last record loses nothing`() throws {
        let patient = try filled()
        try patient.temporary.open(Patient.suite + "/1.log").setSize(200_000)
        #expect(try patient.findings().first?.repaired?.hasSuffix("nothing is lost") == true)
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all)
    }

    @Test(arguments: [0, 24, 32, 40, 56, 88, 96]) func `repairing a suite with a broken first page loses nothing`(
        offset: Int
    ) throws {
        let patient = try filled()
        try patient.flip(Patient.suite + "/1.log", at: offset)
        let found = try patient.findings()
        #expect(found.map(\.what) == ["the first page is not a segment's"])
        try patient.heal([.suiteDamaged])
        #expect(try patient.values() == Self.all)
    }

    // fault: empty-metadata
    @Test(arguments: [0, 100, 262_144])
    func `repairing a suite whose newest segment is all zeros restores the one before`(
        size: Int
    ) throws {
        let patient = try filled()
        try patient.fillFile()
        #expect(try patient.findings() == [])
        let file = try patient.temporary.open(Patient.suite + "/2.log")
        try file.setSize(0)
        try file.setSize(size)
        #expect(try patient.findings().map(\.code) == [.suiteDamaged])
        try patient.heal([.suiteDamaged])
        #expect(try patient.values().filter { $0.key != "filler" } == Self.all)
        #expect(try patient.names(in: Patient.suite) == ["3.log", "damaged-2"])
    }
}
