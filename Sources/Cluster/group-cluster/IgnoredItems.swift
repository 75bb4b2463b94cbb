import Cluster
import GroupBytes
import GroupCluster
import GroupSystemCalls

/// What is ignored on this machine's disk, and the rules for it, as far as they were read: those of a directory are
/// read when something new is found in it or below it.
///
/// Only what is not mirrored yet is ignored. An item is known by its directory, so that all of this stays right where a
/// directory is moved.
struct IgnoredItems {
    private var rules: [LocalItem: IgnoreRules] = [:]
    private var names: [LocalItem: Set<FileName>] = [:]
    /// The number of ignored items, of which a directory counts as one.
    private(set) var count = 0
    /// Why the rules of some directories are not used, or not all of them.
    private(set) var faults: [LocalItem: String] = [:]
    /// Whether a file with patterns was read.
    private var hasPatterns = false
    private var toLookAt: Set<LocalItem> = []
    /// What the items are that are in the way of an item of the cluster.
    private var inTheWay: [[UInt8]: (wanted: ItemContent?, mark: LocalDisk.Mark)] = [:]

    /// The rules that concern the items of one directory.
    private struct Chain {
        var path: [UInt8]
        /// The rules of the root, and of each directory down to this one; empty where there are none at all.
        var levels: [IgnoreRules]
        var names: [FileName]
        /// Whether the directory itself is ignored, and with it everything in it.
        var isIgnored: Bool
    }
    private var chain: Chain?

    /// The path of an item that is mirrored no more, as it was moved or removed.
    private struct Entry: Hashable {
        var parent: LocalItem
        var name: FileName
    }
    private var left: [Entry: Int64] = [:]
    /// An item that is made anew at its path within this time, in nanoseconds, is mirrored as before: editors and
    /// compilers replace a file like that.
    private static let anewWithin: Int64 = 60_000_000_000

    // MARK: Items

    func contains(_ name: FileName, in parent: LocalItem) -> Bool { names[parent]?.contains(name) == true }

    mutating func insert(_ name: FileName, in parent: LocalItem) {
        if names[parent, default: []].insert(name).inserted { count += 1 }
    }

    mutating func remove(_ name: FileName, in parent: LocalItem) {
        if names[parent]?.remove(name) == nil { return }
        count -= 1
        if names[parent]?.isEmpty == true { names[parent] = nil }
    }

    /// Notes that an item is mirrored at a path, and perhaps was at another one.
    mutating func noteItem(_ node: LocalTree.Node, from old: LocalTree.Node?) {
        remove(node.name, in: node.parent)
        if let old, old.parent != node.parent || old.name != node.name { noteLeft(old) }
        if node.content.kind == .directory { chain = nil }
    }

    /// Notes that an item has left its path.
    mutating func noteLeft(_ node: LocalTree.Node) {
        if !hasPatterns { return }
        let now = monotonicNanoseconds()
        if left.count > 10_000 { left = left.filter { now - $0.value < Self.anewWithin } }
        left[Entry(parent: node.parent, name: node.name)] = now
    }

    func wasLeft(_ name: FileName, in parent: LocalItem) -> Bool {
        left[Entry(parent: parent, name: name)].map { monotonicNanoseconds() - $0 < Self.anewWithin } ?? false
    }

    /// Forgets what is known of a directory that is gone, or is looked at anew.
    mutating func forget(_ item: LocalItem) {
        if let names = names.removeValue(forKey: item) { count -= names.count }
        (rules[item], faults[item], chain) = (nil, nil, nil)
    }

    /// Forgets everything but the paths that were left, before everything is looked at anew.
    mutating func forgetAll() {
        (rules, names, count, faults, chain, toLookAt, inTheWay) = ([:], [:], 0, [:], nil, [], [:])
    }

    /// Returns false if the item at a path was found to have another content, and neither has changed since.
    func mayBe(_ content: ItemContent, _ mark: LocalDisk.Mark, at path: [UInt8]) -> Bool {
        inTheWay[path].map { $0.wanted != content || $0.mark != mark } ?? true
    }

    mutating func noteInTheWay(of content: ItemContent?, _ mark: LocalDisk.Mark, at path: [UInt8]) {
        inTheWay[path] = (content, mark)
    }

    // MARK: Rules

    /// Notes that the `.groupignore` of a directory may have changed.
    mutating func noteChangedRules(in directory: LocalItem, isLookingAtAll: Bool) {
        (rules[directory], faults[directory], chain) = (nil, nil, nil)
        if !isLookingAtAll { toLookAt.insert(directory) }
    }

    /// Returns the directories whose rules have changed; only the root if it is one of them.
    mutating func takeDirectoriesToLookAt() -> [LocalItem] {
        defer { toLookAt = [] }
        return toLookAt.contains(.root) ? [.root] : toLookAt.sorted()
    }

    func hasRead(_ directory: LocalItem) -> Bool { rules[directory] != nil }

    mutating func setRules(_ new: IgnoreRules, of directory: LocalItem) {
        rules[directory] = new
        if !new.isEmpty { hasPatterns = true }
        faults[directory] = new.fault
    }

    func knowsRules(for directory: [UInt8]) -> Bool { chain?.path == directory }

    /// Gets the rules ready for the items of a directory. `line` is the root, and each directory down to this one.
    mutating func prepare(for path: [UInt8], _ line: [LocalItem]) {
        let names = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        var levels = line.map { rules[$0] ?? IgnoreRules() }
        if levels.allSatisfy(\.isEmpty) { levels = [] }
        var chain = Chain(path: path, levels: levels, names: [], isIgnored: false)
        for name in names where !chain.isIgnored {
            chain.isIgnored = Self.matches(chain, name, isDirectory: true)
            chain.names.append(name)
        }
        self.chain = chain
    }

    /// Returns whether a name in the directory that was prepared for is ignored.
    func matches(_ name: FileName, isDirectory: Bool) -> Bool {
        guard let chain, !chain.levels.isEmpty else { return false }
        return chain.isIgnored || Self.matches(chain, name, isDirectory: isDirectory)
    }

    /// The last pattern that matches decides, of the nearest directory that has one.
    private static func matches(_ chain: Chain, _ name: FileName, isDirectory: Bool) -> Bool {
        for (level, rules) in chain.levels.prefix(chain.names.count + 1).enumerated().reversed() {
            let path = chain.names[level...] + [name]
            if let ignores = rules.ignores(Array(path), isDirectory: isDirectory) { return ignores }
        }
        return false
    }
}

extension LocalDisk {
    /// Returns the rules in the `.groupignore` of a directory. A symbolic link is not followed: it may lead anywhere.
    func rules(of directory: LocalItem) throws -> IgnoreRules {
        do throws(Errno) {
            let file = try FileDescriptor.open(
                FileNames.ignoreFile, in: open(directory: directory), .readingItself)
            if try !file.status().isRegularFile { return IgnoreRules(fault: "it is not a file") }
            return IgnoreRules(bytes: try file.readAll(limit: IgnoreRules.mostBytes + 1))
        } catch {
            switch error {
            case .noSuchEntry, .notADirectory: return IgnoreRules()
            case .tooManyLinks: return IgnoreRules(fault: "it is a symbolic link, which is not followed")
            case .tooManyFiles, .tooManyFilesInSystem, .noMemory: throw error
            default: return IgnoreRules(fault: "it cannot be read: \(error)")
            }
        }
    }

    /// What the status states of the ignored items; nil where there is nothing to state.
    var statedIgnored: ClusterStatus.Ignored? {
        if ignored.count == 0 && ignored.faults.isEmpty { return nil }
        let faults = ignored.faults.map { directory, fault in
            ClusterStatus.Unmirrored(path: printable(path(FileNames.ignoreFile, in: directory)), reason: fault)
        }
        return ClusterStatus.Ignored(
            count: ignored.count, faults: Array(faults.sorted { $0.path < $1.path }.prefix(100)))
    }
}
