#if Curl && SQLite
import GroupCluster
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@testable import group_cluster

/// `LocalDisk` over a real directory, whose items are renamed and changed while their records are on their way: what
/// Machine does with a journal and its barriers, in drawn interleavings.
@Suite(.ownThreads, .timeLimit(.minutes(5)))
struct `A disk that is changed while it is looked at` {
    @Test func `no item that is there counts as gone, and each directory stays the same item`() throws {
        let temporary = try TemporaryContainer()
        let looking = try Looking(temporary)
        for seed in 0..<(runsLongTests ? 3_000 : 150) {
            let fault = try looking.run(seed: UInt64(seed))
            #expect(fault == nil, "seed \(seed)")
            if fault != nil { break }
        }
    }
}

/// A disk, the records of its changes that were not read yet, and the machine's view of it.
private final class Looking {
    private enum Record {
        case moved([UInt8], [UInt8])
        case made([UInt8])
        case removed([UInt8])
    }

    private let root: FileDescriptor
    private var disk: LocalDisk
    private var records: [Record] = []
    private var random = SeededGenerator(seed: 0)
    private var number = 0
    /// The inode that each item had when it was last in the tree.
    private var inodes: [LocalItem: UInt64] = [:]
    /// The item that each directory was first seen as, by its inode.
    private var directories: [UInt64: LocalItem] = [:]
    private var steps: [String] = []

    init(_ temporary: TemporaryContainer) throws {
        root = try FileDescriptor.open(path: Array(temporary.path.utf8), [.reading, .directory])
        disk = try LocalDisk(temporary.open())
        try disk.lookAtAll()
    }

    private func draw(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

    private func note(_ step: String) { steps.append(step) }

    /// Returns what was wrong, with the steps that led there; nil for nothing.
    func run(seed: UInt64) throws -> String? {
        random = SeededGenerator(seed: seed)
        steps = []
        for _ in 0..<draw(20..<80) {
            switch draw(0..<10) {
            case 0..<6: try change()
            case 6, 7: try deliver(draw(0..<records.count + 1))
            case 8: try passBarrier()
            default:
                if draw(0..<6) == 0 {
                    note("look at all")
                    try disk.lookAtAll()
                }
            }
            if let fault = try takeChanged() { return report(fault) }
        }
        for _ in 0..<10 where !records.isEmpty || !disk.isCertain {
            try passBarrier(changing: false)
            if let fault = try takeChanged() { return report(fault) }
        }
        let (there, known) = try (paths(), Set(disk.tree.nodes.keys.map { disk.path(of: $0) }))
        if !disk.isCertain { return report("it stays uncertain where items are") }
        if there != known { return report("there is \(texts(there)), known is \(texts(known))") }
        // The next seed begins with an empty directory.
        for path in there.sorted(by: { $1.lexicographicallyPrecedes($0) }) {
            try root.unlink(path, directory: root.status(of: path).isDirectory)
            records.append(.removed(path))
        }
        for _ in 0..<10 where !records.isEmpty || !disk.isCertain { try passBarrier(changing: false) }
        _ = disk.takeChanged()
        (inodes, directories) = ([:], [:])
        return disk.tree.nodes.isEmpty ? nil : report("what was removed is left: \(disk.tree.nodes)")
    }

    private func report(_ fault: String) -> String {
        let text = "\(fault)\n\(steps.joined(separator: "\n"))"
        print(text)
        return text
    }

    private func texts(_ paths: Set<[UInt8]>) -> [String] { paths.map { String(decoding: $0, as: UTF8.self) }.sorted() }

    // MARK: The disk

    private func paths() throws -> Set<[UInt8]> {
        var found: Set<[UInt8]> = []
        func walk(_ directory: [UInt8]) throws {
            let open = try FileDescriptor.open(
                directory.isEmpty ? [UInt8(ascii: ".")] : directory, in: root, [.reading, .directory])
            for entry in try open.entries() where entry.name != Array(".group".utf8) {
                let path = directory + (directory.isEmpty ? [] : [UInt8(ascii: "/")]) + entry.name
                found.insert(path)
                if entry.kind == .directory { try walk(path) }
            }
        }
        try walk([])
        return found
    }

    /// Changes the disk, and appends the record of it, as the journal has it some time later.
    private func change() throws {
        let all = try paths().sorted { $0.lexicographicallyPrecedes($1) }
        let within = try all.filter { try root.status(of: $0).isDirectory }
        let parent = ([[]] + within)[draw(0..<within.count + 1)]
        let name = Array(["a", "b", "c", "d", "e"][draw(0..<5)].utf8)
        let goal = parent + (parent.isEmpty ? [] : [UInt8(ascii: "/")]) + name
        let isFree = !all.contains(goal)
        switch draw(0..<12) {
        case 0 where isFree:
            note("mkdir \(String(decoding: goal, as: UTF8.self))")
            try root.createDirectory(goal, mode: 0o755)
            records.append(.made(goal))
        case 1 where isFree:
            number += 1
            note("make \(String(decoding: goal, as: UTF8.self))")
            let file = try FileDescriptor.open(goal, in: root, [.writing, .creating, .exclusively], mode: 0o644)
            try file.writeAll(Array("\(number)".utf8))
            records.append(.made(goal))
        case 2 where !all.isEmpty:
            let path = all[draw(0..<all.count)]
            let isDirectory = within.contains(path)
            if isDirectory && all.contains(where: { $0.starts(with: path + [UInt8(ascii: "/")]) }) { return }
            note("remove \(String(decoding: path, as: UTF8.self))")
            // A file system may use the number again.
            let inode = try root.status(of: path).inode
            for (local, other) in inodes where other == inode { inodes[local] = nil }
            directories[inode] = nil
            try root.unlink(path, directory: isDirectory)
            records.append(.removed(path))
        case 3... where !all.isEmpty && isFree:
            // Mostly directories.
            let sources = within.isEmpty || draw(0..<4) == 0 ? all : within
            let old = sources[draw(0..<sources.count)]
            if goal.starts(with: old + [UInt8(ascii: "/")]) { return }
            note("move \(String(decoding: old, as: UTF8.self)) to \(String(decoding: goal, as: UTF8.self))")
            try root.rename(old, to: goal, in: root, replacing: false)
            // Two renames in succession may have one record.
            if case .moved(let first, let last)? = records.last, last == old, first != goal, draw(0..<3) == 0 {
                records[records.count - 1] = .moved(first, goal)
            } else {
                records.append(.moved(old, goal))
            }
        default: return
        }
    }

    // MARK: The machine

    private func deliver(_ count: Int) throws {
        note("read \(count) of \(records.count)")
        for record in records.prefix(count) {
            switch record {
            case .moved(let old, let new):
                try disk.look(atMoveFrom: old, to: new)
                disk.noteJournal(hasItem: false, at: old)
                disk.noteJournal(hasItem: true, at: new)
            case .made(let path):
                try disk.look(at: path)
                disk.noteJournal(hasItem: true, at: path)
            case .removed(let path):
                try disk.look(at: path)
                disk.noteJournal(hasItem: false, at: path)
            }
        }
        records.removeFirst(count)
    }

    /// Does what `Machine.findMissing` does. The disk may be changed after the barrier.
    private func passBarrier(changing: Bool = true) throws {
        let (last, ahead) = (disk.missing.lastLook, disk.ahead)
        note("barrier")
        let count = records.count
        if changing { for _ in 0..<draw(0..<4) { try change() } }
        // What was coalesced with a record from after the barrier is read with it.
        try deliver(min(records.count, count + (changing ? draw(0..<3) : 0)))
        try disk.lookAgain(at: ahead)
        disk.forgetGone(barrierAfter: last) { _ in false }
    }

    private func takeChanged() throws -> String? {
        let live = try Set(paths().map { try root.status(of: $0).inode })
        for local in disk.takeChanged() where disk.tree[local] == nil {
            if let inode = inodes[local], live.contains(inode) {
                return "item \(local.number) is there, and counts as gone"
            }
        }
        for (local, node) in disk.tree.nodes {
            guard let inode = disk.mark(of: local)?.inode, inode != 0 else { continue }
            inodes[local] = inode
            guard node.content.kind == .directory, live.contains(inode) else { continue }
            if let first = directories[inode], first != local {
                return "the directory with item \(first.number) is item \(local.number) now"
            }
            directories[inode] = local
        }
        return nil
    }
}
#endif
