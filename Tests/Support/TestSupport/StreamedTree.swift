import Foundation

/// A tree that is known from the lines of a stream alone, as a follower has it that never looks at the disk. Each line
/// that cannot be true of the tree that the lines before it made is a fault.
package struct StreamedTree {
    package struct Entry: Equatable {
        package var type: String
        /// The size of a file.
        package var size: UInt64?
    }

    package private(set) var items: [String: Entry] = [:]
    /// Items in a directory in whose place another item was reported since: their removal is reported still, but they
    /// are not moved.
    private var replaced: Set<String> = []
    package private(set) var faults: [String] = []
    /// The number of the last line.
    package private(set) var sequence: UInt64 = 0
    package private(set) var cursor = ""

    /// Whether a change without coordination in the moment of a coordinated change may be reported after that, or not
    /// at all.
    package var isRacy: Bool

    package init(isRacy: Bool = false) { self.isRacy = isRacy }

    private func children(_ path: String) -> [String] { items.keys.filter { $0.hasPrefix(path + "/") } }

    private mutating func expect(_ isTrue: Bool, _ fault: String, _ change: JSONChange) {
        if !isTrue && !(isRacy && change.coordinated) {
            faults.append("\(change.sequence) \(change.summary): \(fault)")
        }
    }

    private mutating func takeTree(_ top: String) -> [(rest: Substring, entry: Entry)] {
        ([top] + children(top)).compactMap { path in
            items.removeValue(forKey: path).map { (path.dropFirst(top.count), $0) }
        }
    }

    private func hasParent(_ path: String) -> Bool {
        guard let slash = path.lastIndex(of: "/") else { return true }
        return items[String(path[..<slash])]?.type == "directory"
    }

    private mutating func set(_ entry: Entry, _ path: String) {
        items[path] = entry
        replaced.remove(path)
    }

    package mutating func apply(_ change: JSONChange) {
        // The changes of a transaction share one number.
        let step: UInt64 = (change.transaction?.index ?? 0) == 0 ? 1 : 0
        if change.sequence != sequence + step { faults.append("\(change.sequence) comes behind \(sequence)") }
        (sequence, cursor) = (change.sequence, change.cursor)
        let path = String(decoding: change.pathOnDisk, as: UTF8.self)
        let entry = Entry(type: change.type ?? "none", size: change.type == "file" ? change.size : nil)
        switch change.kind {
        case "created":
            // A coordinated write replaces what was there, whatever was reported before.
            expect(items[path] == nil || change.coordinated, "it is there already", change)
            expect(hasParent(path), "its directory is not there", change)
            if items[path] != nil { replaced.formUnion(children(path)) }
            set(entry, path)
        case "modified", "touched":
            let isWriting = change.coordinated && change.kind == "modified"
            expect(items[path]?.type == entry.type || isWriting, "there is no such \(entry.type)", change)
            expect(hasParent(path), "its directory is not there", change)
            if change.kind == "modified" { replaced.formUnion(children(path)) }
            set(entry, path)
        case "removed":
            expect(items[path] != nil, "it is not there", change)
            // Also if the directory itself was never reported.
            for child in children(path) {
                // Under a lock a directory goes as one item.
                expect(change.coordinated, "\(child) was not removed before it", change)
                items[child] = nil
            }
            items[path] = nil
        case "moved":
            let from = String(decoding: change.fromOnDisk ?? [], as: UTF8.self)
            expect(items[from] != nil && from != path, "there is nothing to be moved", change)
            expect(!replaced.contains(from), "what is moved was replaced before", change)
            expect(items[path] == nil || change.coordinated, "something is there already", change)
            expect(items[from]?.type == entry.type, "what is moved is no \(entry.type)", change)
            expect(items[from]?.size == entry.size, "what is moved has another size", change)
            for child in children(from) {
                let place = path + child.dropFirst(from.count)
                items[place] = items.removeValue(forKey: child)
                if replaced.remove(child) != nil { replaced.insert(place) } else { replaced.remove(place) }
            }
            items[from] = nil
            expect(hasParent(path), "its directory is not there", change)
            set(entry, path)
        case "exchanged":
            let other = change.from ?? ""
            expect(items[other] != nil && items[path] != nil, "they are not both there", change)
            replaced = replaced.filter { !$0.hasPrefix(path + "/") && !$0.hasPrefix(other + "/") }
            let (here, there) = (takeTree(path), takeTree(other))
            for (rest, entry) in there { items[path + rest] = entry }
            for (rest, entry) in here { items[other + rest] = entry }
            expect(items[path]?.type == entry.type, "another \(entry.type) went there", change)
        default:
            expect(false, "not to be expected", change)
        }
    }

    /// Returns what is in a container, except `.group`: from find(1), which handles every name.
    package static func onDisk(_ container: TemporaryContainer) async throws -> [String: Entry] {
        entries(found: try await container.shell(find).output)
    }

    /// Returns what is in a container, for tests that block.
    package static func seen(in container: TemporaryContainer) throws -> [String: Entry] {
        entries(
            found: Array(try RunningProcess(["sh", "-c", find, "sh", container.path], input: "").finish().text.utf8))
    }

    package static let find = #"cd "$1" && find . -mindepth 1 -path ./.group -prune -o -printf '%y %s %P\0'"#

    package static func entries(found: [UInt8]) -> [String: Entry] {
        let kinds: [Substring: String] = ["f": "file", "d": "directory", "l": "link"]
        var entries: [String: Entry] = [:]
        for line in found.split(separator: 0) {
            let fields = String(decoding: line, as: UTF8.self).split(separator: " ", maxSplits: 2)
            let type = kinds[fields[0]] ?? "other"
            entries[String(fields[2])] = Entry(type: type, size: type == "file" ? UInt64(fields[1]) : nil)
        }
        // A nested container is one item.
        let marks = entries.filter { $0.key.hasSuffix("/.group") && $0.value.type == "directory" }.keys
        for mark in marks {
            let isContainer = ["/lock", "/format"].contains { entries[mark + $0] != nil }
            let hidden = isContainer ? String(mark.dropLast(6)) : mark
            entries = entries.filter { !$0.key.hasPrefix(hidden) }
        }
        return entries
    }

    /// Returns one line for each path at which both differ; none if all is as it should be.
    package func differences(from disk: [String: Entry]) -> [String] {
        Set(items.keys).union(disk.keys).sorted().compactMap { path in
            let (reported, there) = (items[path], disk[path])
            if reported == there { return nil }
            return
                "\(path): reported \(reported.map { "\($0)" } ?? "nothing"), there is \(there.map { "\($0)" } ?? "nothing")"
        }
    }
}

extension JSONChange {
    /// A short text such as `moved f to g`.
    package var summary: String { from.map { "\(kind) \($0) to \(path)" } ?? "\(kind) \(path)" }
}
