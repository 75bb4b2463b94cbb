import GroupBytes
import GroupCluster
import GroupEtcd

/// Snapshots of the fold in etcd, and the removal of what they replace.
extension EtcdLink {
    func snapshot(_ pointer: EtcdKeyValue?, at revision: UInt64, _ client: EtcdClient) throws(EtcdFailure)
        -> [UInt8]?
    {
        guard let pointer else { return nil }
        let words = String(decoding: pointer.value, as: UTF8.self).split(separator: " ")
        guard words.count == 2, let index = UInt64(words[0]), let pieces = Int(words[1]) else {
            throw .malformed("the name of the snapshot")
        }
        var range = EtcdRange.prefix(keys.snapshotPieces(index))
        (range.limit, range.revision) = (4, revision)
        var bytes: [UInt8] = []
        var count = 0
        try client.forEach(in: range) { keyValue throws(EtcdFailure) in
            count += 1
            if count > pieces || keyValue.value.count > ClusterKeys.pieceSize {
                throw .malformed("a piece of the snapshot")
            }
            bytes += keyValue.value
        }
        if count != pieces { throw .malformed("the snapshot has \(count) pieces of \(pieces)") }
        return bytes
    }

    /// Writes a snapshot, and removes the entries, snapshots and contents that it replaces.
    func write(_ bytes: [UInt8], _ summary: ClusterFold.Summary, _ client: EtcdClient) {
        do throws(EtcdFailure) {
            let old = try client.range(.key(keys.snapshot)).keyValues.first
            let oldIndex =
                old.flatMap { UInt64(String(decoding: $0.value, as: UTF8.self).prefix { $0 != " " }) } ?? 0
            if oldIndex >= summary.index {
                post(.snapshotWritten(oldIndex))
                return
            }
            var pieces = 0
            for start in stride(from: 0, to: max(bytes.count, 1), by: ClusterKeys.pieceSize) {
                let piece = Array(bytes[start..<min(start + ClusterKeys.pieceSize, bytes.count)])
                _ = try client.transaction(then: [.put(keys.snapshotPiece(pieces, summary.index), piece)])
                pieces += 1
                renewIfDue(client)
            }
            let compare: EtcdCompare =
                old.map { .modRevision(keys.snapshot, equals: $0.modRevision) } ?? .absent(keys.snapshot)
            let name = Array("\(summary.index) \(pieces)".utf8)
            let result = try client.transaction(if: [compare], then: [.put(keys.snapshot, name)])
            // Another machine has written a snapshot meanwhile. The pieces of this one are harmless: they have the
            // names of other pieces only if both snapshots are of the same fold.
            if !result.succeeded { return post(.snapshotWritten(oldIndex)) }
            for (machine, number) in summary.numbers {
                _ = try client.transaction(then: [
                    .delete(keys.entry(0, of: machine), end: keys.entry(number + 1, of: machine))
                ])
                renewIfDue(client)
            }
            _ = try client.transaction(then: [
                .delete(keys.allSnapshotPieces, end: keys.snapshotPieces(summary.index))
            ])
            try collect(summary, name, client)
            post(.snapshotWritten(summary.index))
        } catch {
            post(.failed(Self.writingSnapshot, error))
        }
    }

    /// Removes the contents that no item, no entry and no upload needs. Contents have the mark of their upload from
    /// before their first piece on. The transaction that removes the mark adds their entry, and items replace the
    /// entry. So contents that have neither a mark nor an entry at one revision, and no item, are unused.
    private func collect(_ summary: ClusterFold.Summary, _ name: [UInt8], _ client: EtcdClient) throws(EtcdFailure) {
        // The contents are listed first, so that contents which are uploaded later are not considered.
        var range = EtcdRange.prefix(keys.contents)
        (range.keysOnly, range.limit) = (true, 1_000)
        var operations: Set<ClusterName> = []
        try client.forEach(in: range) { keyValue in
            if let operation = keys.operation(ofKey: keyValue.key) { operations.insert(operation) }
        }
        operations.subtract(summary.versions)
        if operations.isEmpty { return }
        let (reading, _, revision) = try reading(client)
        for entry in reading.entries where entry.index > summary.index {
            do {
                operations.remove(try ClusterEntry(bytes: entry.bytes).operation)
            } catch {
                // The entry may need any of the contents: only a newer version of this program can read it.
                if case .newerVersion = error { return }
            }
        }
        /// Removes the contents of some operations if all of them are unused. Returns whether they are.
        func remove(_ operations: some Collection<ClusterName>) throws(EtcdFailure) -> Bool {
            var compares: [EtcdCompare] = [.value(keys.snapshot, equals: name)]
            var deletions: [EtcdOperation] = []
            for operation in operations {
                let pieces = keys.contents(of: operation)
                // While this is the last snapshot, no entry after it was removed, so the reading had all of them up to
                // its revision. An entry that was committed later has put a key beside its contents, which is younger
                // than the reading.
                compares.append(.absent(keys.upload(operation)))
                compares.append(.allBefore(prefix: pieces, revision: revision + 1))
                deletions.append(.delete(pieces, end: EtcdRange.endOfPrefix(pieces)))
            }
            defer { renewIfDue(client) }
            return try client.transaction(if: compares, then: deletions).succeeded
        }
        var rest = Array(operations)[...]
        while !rest.isEmpty {
            let some = rest.prefix(Self.operationsAtOnce)
            rest = rest.dropFirst(some.count)
            if try remove(some) { continue }
            for operation in some { _ = try remove(CollectionOfOne(operation)) }
        }
    }

    /// The number of operations whose contents are removed at once. etcd accepts at most 128 conditions.
    private static let operationsAtOnce = 60
}

extension ClusterFold {
    /// The part of a fold that decides what may be removed from etcd once the fold's snapshot is there: the index, the
    /// number of each machine's last entry, and the operations whose contents items have.
    struct Summary: Sendable {
        var index: UInt64
        var numbers: [(machine: ClusterName, number: UInt64)]
        var versions: Set<ClusterName>
    }

    var summary: Summary {
        Summary(
            index: index, numbers: machines.map { ($0.key, $0.value.number) },
            versions: Set(tree.nodes.values.map(\.version)))
    }
}
