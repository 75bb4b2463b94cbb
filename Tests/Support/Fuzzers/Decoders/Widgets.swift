import FoundationEssentials
import GroupManifests
import GroupProtocolLines
@testable import GroupContainer
@testable import GroupLog
@testable import GroupWidgetHosting
@testable import Widgets

extension Decoder {
    static let widgets = [manifest, record, schedule, toWidget, toHost]

    private static let manifestSample = """
        {"kind": "next-todo", "title": "Next", "executable": "../bin/w", "arguments": ["--style", "next"],
         "displayModes": {"compact": {"maximum": {"columns": 40, "rows": 3}}, "expanded": {"preferred": {"columns": 9, "rows": 8}}},
         "interests": ["Library/**", "defaults:settings:opened"], "unknown": [1, {}],
         "refresh": {"perDay": 10, "atOnce": 2, "deadline": 0.5, "settle": 0}, "memoryLimit": 2000000, "urlScheme": "todo"}
        """

    private static let manifest = Decoder("widget-manifest", ["whole": [UInt8](manifestSample)]) { bytes in
        let manifest: WidgetManifest
        do throws(ManifestError) { manifest = try WidgetManifest(bytes, file: "a.json", directory: "f") } catch {
            try expect(error.file == "a.json" && !error.cause.isEmpty, "an error without a place: \(error)")
            return false
        }
        try expect(!manifest.kind.isEmpty && manifest.kind.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a strange kind")
        try expect(manifest.rooms[.compact] != nil && !manifest.executable.isEmpty, "something is missing")
        for room in manifest.rooms.values {
            for size in [room.maximum, room.preferred].compactMap({ $0 }) {
                try expect(1...1_000 ~= size.columns && 1...1_000 ~= size.rows, "no room")
            }
        }
        let refreshing = manifest.refreshing
        try expect(refreshing.deadline > 0 && refreshing.settle >= 0 && refreshing.interval >= 0, "strange times")
        _ = (Concerns(manifest.interests), manifest.urlToOpen("https://a"), manifest.urlToOpen(manifest.title))
        return true
    }

    private static let cursor = Cursor(container: 1, segment: 2, offset: 4_096, sequence: 9, checksum: .max)

    private static var widgetRecord: WidgetRecord {
        var record = WidgetRecord(cursor: cursor, suites: ["settings": .behind(cursor), "none": .absent])
        record.snapshot = [UInt8](#"[{"snapshot":"a"},{"date":9,"snapshot":"b"}]"#)
        (record.renderedAt, record.environment, record.refreshAt) = (7, WidgetEnvironment(), .max)
        return record
    }

    private static let record = Decoder(
        "widget-record",
        [
            "whole": widgetRecord.encoded ?? [], "new": WidgetRecord(cursor: cursor).encoded ?? [],
        ]
    ) { bytes in
        guard case .content(let record) = WidgetRecord.decoded(bytes) else { return false }
        guard let encoded = record.encoded, case .content(record) = WidgetRecord.decoded(encoded) else {
            throw Broken("another one comes back: \(record)")
        }
        if let snapshot = record.snapshot { _ = RenderedEntries.decoded(String.self, from: snapshot) }
        return true
    }

    private static let schedule = Decoder(
        "widget-schedule",
        [
            "used": [UInt8](
                #"{"budgetFullAt":9,"failedAt":7,"failures":2,"reloads":18446744073709551615,"succeededAt":3,"version":1}"#
            ),
            "new": RefreshLedger().encoded ?? [],
        ]
    ) { bytes in
        guard case .content(var ledger) = RefreshLedger.decoded(bytes) else { return false }
        try expect(ledger.failures >= 0, "a negative number of failures")
        guard let encoded = ledger.encoded, case .content(let again) = RefreshLedger.decoded(encoded),
            again.encoded == encoded
        else { throw Broken("another one comes back: \(ledger)") }
        for now in [.min, 0, 1_700_000_000_000_000_000, .max] as [Int64] {
            var situation = RefreshSchedule.Situation()
            (situation.isVisible, situation.isWanted) = (false, true)
            (situation.budget, situation.failures) = (ledger.budget(.init()), ledger.failures)
            situation.failedAt = ledger.failedAt
            let left = situation.budget.left(at: now)
            try expect(0...12 ~= left, "\(left) refreshes left")
            if case .deferred(let time, _) = RefreshSchedule.decide(situation, at: now) {
                try expect(time > now, "put off to the past")
            }
            ledger.noteStart(at: now, spending: .init(), reloads: 1)
            ledger.noteEnd(.failed, at: now)
        }
        return true
    }

    private static let toWidget = Decoder(
        "host-lines",
        [
            "all": [
                HostMessage.update(
                    id: 1, environment: WidgetEnvironment(), deadline: 0.5, shows: true, reloads: false),
                .suspend(id: 2), .resume, .end,
            ].flatMap { (ProtocolLine.encoded($0) ?? []) + [0x0A] }
        ]
    ) { bytes in
        try lines(of: bytes).map { try expectReturn(HostMessage.self, $0) }.contains(true)
    }

    private static let view = WidgetView(
        title: "t",
        lines: [
            .init(
                "a", .warning, url: "todo://a", countdown: Date(timeIntervalSince1970: 5),
                columns: ["d"],
                image: .icon("i", label: "l"), control: .toggle("c", isOn: true), gauge: 0.5)
        ], url: "u",
        preferredSize: WidgetSize(columns: 3, rows: 4))

    private static let toHost = Decoder(
        "widget-lines",
        [
            "all": [
                WidgetMessage.hello(version: WidgetMessage.version, kind: "a", placeholder: view),
                .answer(
                    .init(
                        id: 3, result: .newData,
                        timeline: Timeline(
                            first: .init(snapshot: view),
                            later: [.init(date: Date(timeIntervalSince1970: 9), snapshot: view)],
                            policy: .after(Date(timeIntervalSince1970: 1e9))))),
                .answer(.init(id: 4, result: .failed, cause: "c")), .suspended(id: 2), .open(url: "todo://x"),
                .pressed(id: 5, .notDone, cause: "c"),
                .log("l"),
            ].flatMap { (ProtocolLine.encoded($0) ?? []) + [0x0A] }
        ]
    ) { bytes in
        try lines(of: bytes).map { line in
            guard try expectReturn(WidgetMessage.self, line) else { return false }
            guard let message = ProtocolLine.decoded(WidgetMessage.self, from: line) else { return false }
            if case .answer(let answer) = message, let timeline = answer.timeline { try show(timeline) }
            return true
        }.contains(true)
    }

    /// Lines are the same, however their bytes are cut into pieces.
    private static func lines(of bytes: [UInt8]) throws -> [[UInt8]] {
        var (buffer, pieces) = (LineBuffer(), LineBuffer())
        buffer.append(bytes)
        var (whole, cut): ([[UInt8]], [[UInt8]]) = ([], [])
        while let line = buffer.next() { whole.append(line) }
        for start in stride(from: 0, to: bytes.count, by: 7) {
            pieces.append(bytes[start..<min(start + 7, bytes.count)])
            while let line = pieces.next() { cut.append(line) }
        }
        try expect(whole == cut, "other lines in pieces")
        return whole
    }

    private static func expectReturn<Message: Codable & Equatable>(_ type: Message.Type, _ line: [UInt8]) throws -> Bool
    {
        let fault = ProtocolLine.fault(type, in: line)
        guard let message = ProtocolLine.decoded(type, from: line) else {
            try expect(!fault.isEmpty, "a fault without a word")
            return false
        }
        try expect(fault.isEmpty, "read, and at fault: \(fault)")
        guard let encoded = ProtocolLine.encoded(message), !encoded.contains(0x0A) else {
            throw Broken("it has no line: \(message)")
        }
        guard let again = ProtocolLine.decoded(type, from: encoded) else { throw Broken("not read: \(message)") }
        try expect(again == message, "\(again), and not \(message)")
        return true
    }

    /// Uses a view as a host and a status bar do.
    private static func show(_ timeline: Timeline<WidgetView>) throws {
        for now in [.min, 0, 1_700_000_000_000_000_000, .max] as [Int64] {
            _ = (timeline.entry(atNanosecond: now), timeline.nextChange(afterNanosecond: now))
        }
        _ = timeline.refreshNanosecond
        for entry in timeline.entries {
            for format in BarFormat.allCases {
                let line = format.line(entry.snapshot, kind: "a", at: Date(timeIntervalSince1970: 0))
                try expect(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character for a bar: \(line)")
            }
        }
    }
}
