import GroupContainer
import TestSupport
import Widgets

/// Opens a container after a power cut, as the first process would, and returns what is wrong with it.
struct Inspection {
    let path: String
    let outcomes: CrashOutcomes

    /// Returns what was found, in one line, and what is wrong, a line each.
    func run() async throws -> (found: String, faults: [String]) {
        var faults = try doctorsFaults("before it was opened", below: .error)
        let found: String
        do {
            let performance = Performance(try Container(path: path))
            let (items, keys) = (try items(performance, &faults), try keys(performance, &faults))
            let messages = try messages(performance, &faults)
            faults += outcomes.faults(items: items, keys: keys, messages: messages)
            found = "items \(CrashOutcomes.text(items)) keys \(CrashOutcomes.text(keys)) messages \(messages)"
            faults += try await widgetsFaults(performance)
            faults += try journalsFaults(performance.container)
            try await goOn(performance)
        }
        return (found, faults + (try doctorsFaults("after it was opened", below: .warning)))
    }

    /// Returns what a doctor finds from outside. Nothing is damaged by a power cut; what is left half done is repaired
    /// by the process that opens the container.
    private func doctorsFaults(_ moment: String, below limit: Finding.Severity) throws -> [String] {
        try ContainerCheck(.path(Array(path.utf8))).examine().filter {
            $0.severity == .error || $0.severity == .warning && limit == .warning
        }
        .map { "doctor, \(moment): \($0.code) \($0.item ?? ""): \($0.what)" }
    }

    /// Returns the tree, read under locks; an item that is not whole is a fault.
    private func items(_ performance: Performance, _ faults: inout [String]) throws -> [String: String] {
        var found: [String: String] = [:]
        for path in try filePaths(performance.container) where !isOwn(path) {
            let bytes = try performance.items.readBytes(ItemPath(path))
            let text = String(
                decoding: bytes.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "\n") }, as: UTF8.self)
            let content = path == "n" ? "number \(text)" : text
            if bytes != CrashModel.bytes(of: content) { faults.append("\(path) is not whole: \(bytes.count) bytes") }
            found[path] = content
        }
        return found
    }

    private func isOwn(_ path: String) -> Bool { path == CrashModel.relaxedItem || path.hasPrefix("probe") }

    /// Returns the container's files, from a snapshot; compared with the disk.
    private func filePaths(_ container: Container) throws -> [String] {
        var follower = try container.follow(since: .snapshot)
        var paths: [String] = []
        while let change = try follower.next(timeout: .zero), change.kind.word != .bookmark {
            if change.kind.word == .present, change.type == .file { paths.append("\(change.path)") }
        }
        return paths
    }

    private func keys(_ performance: Performance, _ faults: inout [String]) throws -> [String: Int] {
        let values = try performance.suite().dictionaryRepresentation()
        if let filler = values[CrashModel.filler], filler != .data(CrashModel.filling) {
            faults.append("a large value is not whole")
        }
        return values.filter { ["k", "k1", "k2"].contains($0.key) }.compactMapValues(\.integerValue)
    }

    /// Returns the messages that the listener gets, without those that only fill.
    private func messages(_ performance: Performance, _ faults: inout [String]) throws -> [Int] {
        let listener = try performance.channel().listener(named: "listener")
        var messages: [Int] = []
        while let message = try listener.next(timeout: .zero) {
            let bytes = message.bytes ?? []
            if bytes == CrashModel.filling || bytes == Self.probe { continue }
            if let number = Int(String(decoding: bytes, as: UTF8.self)) {
                messages.append(number)
            } else {
                faults.append("message \(message.number) is not whole")
            }
        }
        return messages
    }

    private static let probe = Array("probe".utf8)

    /// Checks that the widget shows what is there, also where it reports nothing new.
    private func widgetsFaults(_ performance: Performance) async throws -> [String] {
        let content = String(decoding: try performance.items.readBytes("a"), as: UTF8.self)
        let widget = WidgetRefresh(CrashWidget(), in: performance.container)
        let result = try await widget.performUpdate()
        let shown = try await widget.last()?.timeline.entries.first?.snapshot
        if result == .failed || shown != content {
            return [
                "the widget shows \(shown?.prefix(20) ?? "nothing") (\(result)), and there is \(content.prefix(20))"
            ]
        }
        return []
    }

    /// Checks that each acknowledged change is in the journal once, as made under a lock.
    private func journalsFaults(_ container: Container) throws -> [String] {
        var follower = try container.recordedChanges(since: .start)
        var all: [Change] = []
        while let change = try follower.next(timeout: .zero) { all.append(change) }
        var faults = Invariants.repeatedOperations(in: all.filter { $0.isCoordinated && $0.kind.word != .touched })
        let numbers = all.filter { !$0.kind.isMarker }.map(\.sequence.rawValue)
        for (number, next) in zip(numbers, numbers.dropFirst()) where next != number && next != number + 1 {
            faults.append("change \(next) comes behind \(number)")
        }
        var counts: [String: Int] = [:]
        for change in all where change.kind.word != .touched && change.isCoordinated {
            counts["\(change.path)", default: 0] += 1
        }
        let isWhole = numbers.first == 1
        for (path, most) in outcomes.most.changes {
            let (count, begun) = (counts[path] ?? 0, CrashModel().items[path] == nil ? 0 : 1)
            let least = outcomes.least.changes[path] ?? 0
            if isWhole && count < least + begun || count > most + begun {
                faults.append("\(path) was changed \(least) to \(most) times, and \(count - begun) are reported")
            }
        }
        return faults
    }

    /// Checks that everything can be written again.
    private func goOn(_ performance: Performance) async throws {
        try performance.write("probe \(UInt64.random(in: 0...UInt64.max))", to: "probe")
        try performance.suite().set(1, forKey: "probe", durability: .durable)
        _ = try performance.channel().post(bytes: Self.probe, durability: .durable)
    }
}
