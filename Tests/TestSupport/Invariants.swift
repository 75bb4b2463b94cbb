import Foundation
package import GroupContainer

/// What has to be true of a container after any fault, once somebody joined it and while nobody writes.
package enum Invariants {
    /// What is not true of it, one line for each fault; none is as it should be. Looks from outside: joins by way of
    /// `groupctl status`, reads `groupctl changes`, and compares both with the disk.
    ///
    /// - its status can be read;
    /// - staging is empty;
    /// - the changes are numbered 1…n without a gap, and no operation is told twice;
    /// - each was made under a lock, unless `uncoordinated` ones are expected: what lost its record is told so;
    /// - the tree that they make is the one that is there, with each file's size;
    /// - `isWhole` says of each file's path and bytes that it is one of its writers' contents.
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

        let told = try container.groupctl("changes", "--since", "start", "--json")
        if told.status != 0 { return faults + ["changes: \(told)"] }
        var tree = StreamedTree()
        for line in told.text.split(separator: "\n") {
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

    /// Whose record is there twice: one process makes two changes at two times, to the nanosecond.
    package static func repeatedOperations(in changes: [Change]) -> [String] {
        struct Operation: Hashable {
            var kind: Change.Kind
            var path: ItemPath
            var by: Change.Author?
            var time: Int64
        }
        var seen: [Operation: UInt64] = [:]
        return changes.compactMap { change in
            let operation = Operation(kind: change.kind, path: change.path, by: change.by, time: change.time)
            let before = seen.updateValue(change.sequence, forKey: operation)
            return before.map { "\(change.sequence) tells \(change.kind.name) \(change.path) again, as \($0) did" }
        }
    }
}
