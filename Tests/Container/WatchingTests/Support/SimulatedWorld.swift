import GroupBytes
import ScenarioKit
import GroupSystemCalls
import TestSupport

@testable import GroupContainer

/// A simulated tree and a journal in memory, as a watcher meets them. The tree that the journal's lines make is checked
/// at each of them.
final class SimulatedWorld {
    var tree = SimulatedTree()
    private(set) var treeIndex = TreeIndex()
    private(set) var streamed = StreamedTree()
    private(set) var reported: [ReportedLine] = []
    private var sequence: UInt64 = 0

    func takeReported() -> [ReportedLine] {
        defer { reported = [] }
        return reported
    }

    /// Gets a line for each event, look and record, to find out how a fault came about.
    var tracing: ((String) -> Void)?

    /// What other processes do before each look.
    var whileLooking: ((inout SimulatedTree) -> Void)?

    /// What other processes do before a content is read.
    var whileReading: ((SimulatedWorld) -> Void)?

    /// Items of changes under a lock that are visible, and have no record yet.
    var pending: Set<[UInt8]> = []

    /// Whether two changes that follow each other soon get the same date, as on some file systems.
    var hasCoarseDates = false

    private func state(_ inode: UInt64, _ node: SimulatedTree.Node) -> ItemState {
        let type: ItemType =
            switch node.kind {
            case .file: .file
            case .directory: .directory
            case .link: .symbolicLink
            case .fifo, .socket: .other
            }
        return ItemState(
            type: type, inode: inode, size: UInt64(node.content.count), modified: date(node.modified),
            changed: date(node.changed), mode: node.mode, owner: node.owner, group: node.owner, contentHash: nil)
    }

    private func date(_ time: Int64) -> Int64 { hasCoarseDates ? time / 16 : time }

    /// One line for each item that is not as the journal has it.
    var differences: [String] {
        var (disk, known) = ([String: ItemState](), [String: ItemState]())
        collect([], into: &disk)
        for (location, item) in treeIndex {
            known[String(decoding: location.bytes, as: UTF8.self)] = item.state
        }
        return Set(disk.keys).union(known.keys).sorted().compactMap { path in
            guard let there = disk[path] else { return "\(path) was reported, and is not there" }
            guard let reported = known[path] else { return "\(path) is there, and not reported" }
            if (reported.type, reported.inode, reported.mode) != (there.type, there.inode, there.mode) {
                return "\(path) was reported as \(reported), and is \(there)"
            }
            if reported.type == .file, let hash = reported.contentHash, hash != there.contentHash {
                return "\(path): content"
            }
            return reported.type == .directory || reported.size == there.size ? nil : "\(path): size"
        }
    }

    private func collect(_ directory: [UInt8], into items: inout [String: ItemState]) {
        for name in (try? tree.entries(directory)) ?? [] {
            let path = directory.isEmpty ? name : directory + [UInt8(ascii: "/")] + name
            guard path != Array(".group".utf8), let found = try? tree.status(path) else { continue }
            var state = state(found.inode, found.node)
            if state.type == .file { state.contentHash = Self.hash(found.node.content) }
            items[String(decoding: path, as: UTF8.self)] = state
            if state.type == .directory { collect(path, into: &items) }
        }
    }

    private static func hash(_ content: [UInt8]) -> UInt64 {
        content.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }
}

extension SimulatedWorld: WatchedFileSystem {
    var isSuperseded: Bool { false }

    /// There is no other writer.
    func catchUp() -> Bool { false }

    func state(at location: ItemLocation) -> ItemState? {
        whileLooking?(&tree)
        let found = tree.statusWithoutLinks(location.bytes).map { state($0.inode, $0.node) }
        tracing?("looks at \(printable(location.bytes)): \(found.map { "\($0.type) \($0.inode)" } ?? "nothing")")
        return found
    }

    func contentHash(of location: ItemLocation, inode: UInt64) throws(CoordinationError) -> ContentHash? {
        whileReading?(self)
        guard let found = state(at: location), (found.type, found.inode) == (.file, inode),
            let content = try? tree.content(location.bytes)
        else {
            throw CoordinationError(Errno.noSuchEntry, operation: "watch", item: "\(location)")
        }
        return ContentHash(hash: Self.hash(content), size: UInt64(content.count))
    }

    func isFresh(_ state: ItemState) -> Bool { hasCoarseDates }

    func isBusy(_ locations: [ItemLocation], in directories: [ItemLocation]) -> Bool {
        let isInside = { (path: [UInt8]) in directories.contains { path.starts(with: $0.bytes + [UInt8(ascii: "/")]) } }
        return locations.contains { pending.contains($0.bytes) } || pending.contains(where: isInside)
    }

    func append(_ record: ChangeRecord) -> Bool {
        sequence += 1
        treeIndex.apply(record, at: sequence)
        for part in record.changes {
            let kind = "\(part.kind)"
            tracing?("reports \(kind) \(printable(part.path)), from \(printable(part.from ?? []))")
            reported.append(ReportedLine(kind, part.path, from: part.from))
            let type = part.state.map { "\($0.type)" }
            streamed.apply(
                JSONChange(
                    sequence: sequence, kind, part.path, from: part.from, type: type,
                    size: part.state.flatMap { $0.type == .file ? $0.size : nil }))
        }
        return true
    }

    func list(_ directory: ItemLocation?) -> DirectoryListing? {
        if let directory, state(at: directory)?.type != .directory { return nil }
        let path = directory?.bytes ?? []
        guard let watch = try? tree.watch(path), let names = try? tree.entries(path),
            let inode = try? tree.status(path.isEmpty ? [46] : path)?.inode
        else { return nil }
        var listing = DirectoryListing(watch: watch, inode: inode, entries: [])
        for name in names.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            if path.isEmpty && name == Array(".group".utf8) { continue }
            whileLooking?(&tree)
            // Through the open directory, wherever that is by now.
            let entry = tree.entry(name, ofDirectory: inode)
            listing.entries.append((name, entry.map { state($0.inode, $0.node) }))
        }
        return listing
    }

    /// Learns the hashes of items whose content was not read.
    func learnHashes() {
        for (location, item) in treeIndex where item.state.type == .file && item.state.contentHash == nil {
            guard let found = state(at: location), found.looksLike(item.state) else { continue }
            guard let content = try? contentHash(of: location, inode: found.inode) else { continue }
            treeIndex.learn(hash: content.hash, of: location, seen: item.state)
        }
    }

    func unwatch(_ watch: Int32) { tree.unwatch(watch) }

    func record(
        _ kind: ChangeRecord.Kind, _ location: ItemLocation, _ state: ItemState?, from: ItemLocation?, other: ItemState?
    ) -> ChangeRecord {
        var record = ChangeRecord(
            kind, path: location.bytes, from: from?.bytes, state: state, isCoordinated: false, processIdentifier: 0,
            purpose: [], time: 0)
        record.otherState = other
        return record
    }
}

/// Plays a scenario to the deciding code alone: no process, no disk, no clock.
struct SimulatedStage: ScenarioStage {
    let view = SimulatedWorld()
    private var treeWatcher: TreeWatcher<SimulatedWorld>
    /// How many events are read and handled before the rest, of those that are there at once.
    var firstReading = 0

    init() { treeWatcher = TreeWatcher(view) }

    mutating func prepare(_ steps: [ScenarioStep]) throws {
        for step in steps { try perform(step) }
        try begin()
    }

    /// Lets another member become leader.
    mutating func begin() throws {
        for watch in treeWatcher.watches.numbers { view.tree.unwatch(watch) }
        _ = view.tree.drain()
        treeWatcher = TreeWatcher(view)
        treeWatcher.compareEverything()
        try settle()
        view.learnHashes()
        _ = view.takeReported()
    }

    /// Has a path compared by itself, as after another process was in the way of it.
    mutating func compare(_ path: String) throws { treeWatcher.compare(try ItemLocation(Array(path.utf8))) }

    func perform(_ step: ScenarioStep) throws {
        guard case .tree(let step) = step else {
            throw TemporaryContainer.Failed(description: "\(step) cannot be simulated")
        }
        try view.tree.perform(step)
    }

    /// Takes some of the events that are there, and handles them.
    mutating func serve(atMost limit: Int = .max) throws {
        let events = view.tree.drain(atMost: limit)
        for event in view.tracing == nil ? [] : events {
            let directory = treeWatcher.watches.location(of: event.watch).map { $0.map { printable($0.bytes) } ?? "." }
            let kinds = String(event.kinds.rawValue, radix: 16)
            view.tracing?("reads \(kinds) \(directory ?? "unknown") \(printable(event.name)) \(event.cookie)")
        }
        if events.contains(where: { $0.kinds.contains(.overflow) }) { treeWatcher.compareEverything() }
        try treeWatcher.take(events.compactMap { DirectoryEvent($0) }, more: events.count == limit)
        _ = try treeWatcher.work()
    }

    mutating func settle() throws {
        repeat { try serve() } while !treeWatcher.isCaughtUp
    }

    mutating func reported(of steps: [ScenarioStep], _ mode: Scenario.Mode) throws -> [ReportedLine] {
        switch mode {
        case .live:
            for step in steps {
                try perform(step)
                try serve()
            }
        case .inOneRound:
            for step in steps { try perform(step) }
            if firstReading > 0 { try serve(atMost: firstReading) }
        case .unwatched:
            for step in steps { try perform(step) }
            // The events that are not read are lost with the old leader.
            for watch in treeWatcher.watches.numbers { view.tree.unwatch(watch) }
            _ = view.tree.drain()
            treeWatcher = TreeWatcher(view)
            treeWatcher.compareEverything()
        }
        try settle()
        return view.takeReported()
    }
}
