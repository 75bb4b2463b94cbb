import Foundation
package import GroupContainer

/// What has to be true of a container after any fault, once a process has joined it and while none writes.
package enum Invariants {
    /// Returns what is not true of it, one line for each fault; none if it is as it should be. Looks from outside:
    /// joins by
    /// `groupctl status`, reads `groupctl changes`, and compares both with the disk.
    ///
    /// - The container's status can be read.
    /// - Staging is empty.
    /// - The changes are numbered 1…n without a gap, and no operation has two records.
    /// - Each was made under a lock, unless `uncoordinated` ones are expected, as of changes that lost their record.
    /// - The tree that they make is the one on the disk, with each file's size.
    /// - `isWhole` returns for each file's path and bytes whether they are one of its writers' contents.
    ///
    /// Blocks.
    package static func broken(
        in container: TemporaryContainer, uncoordinated: Bool = false,
        isWhole: (_ path: String, _ content: [UInt8]) -> Bool = { _, _ in true }
    ) throws -> [String] {
        var faults: [String] = []
        let status = try container.groupctl("status", "--json")
        if status.status != 0 || (try? JSONStatus(status.text)) == nil { faults.append("status: \(status)") }
        faults += container.staging.map { "\($0) is left in staging" }

        let reported = try container.groupctl("changes", "--since", "start", "--json")
        if reported.status != 0 { return faults + ["changes: \(reported)"] }
        var tree = StreamedTree()
        for line in reported.text.split(separator: "\n") {
            let change = try JSONChange(String(line))
            tree.apply(change)
            if !change.coordinated && !uncoordinated {
                faults.append("\(change.sequence) \(change.summary): not coordinated")
            }
        }
        faults += try repeatedOperations(in: container.changes())
        let disk = try StreamedTree.seen(in: container)
        faults += tree.faults + tree.differences(from: disk)
        for (path, entry) in disk.sorted(by: { $0.key < $1.key }) where entry.type == "file" {
            let content = FileManager.default.contents(atPath: "\(container.path)/\(path)") ?? Data()
            if !isWhole(path, Array(content)) { faults.append("\(path) is not whole: \(content.count) bytes") }
        }
        return faults
    }

    /// Returns the changes that have two records: a process makes two changes at two times, to the nanosecond.
    package static func repeatedOperations(in changes: [Change]) -> [String] {
        struct Operation: Hashable {
            var kind: Change.Kind
            var path: ItemPath
            var by: Change.Author?
            var time: Int64
        }
        var seen: [Operation: SequenceNumber] = [:]
        return changes.compactMap { change in
            let operation = Operation(
                kind: change.kind, path: change.path, by: change.author, time: change.timeNanoseconds)
            let before = seen.updateValue(change.sequence, forKey: operation)
            return before.map { "\(change.sequence) reports \(change.kind.name) \(change.path) again, as \($0) did" }
        }
    }
}
