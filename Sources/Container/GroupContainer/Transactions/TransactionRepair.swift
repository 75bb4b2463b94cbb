import GroupBytes
import GroupLog
import GroupSystemCalls

/// Completes transactions whose members died, or could not complete them. A manifest with its final name means that the
/// transaction is committed: then every step that was not taken yet is taken. Without it, nothing happened, and the
/// files in staging are deleted.
extension OpenContainer {
    /// Completes a transaction. With `puttingAside`, what this process may not do is put aside: see `RefusedRepair`.
    func finishTransaction(_ operation: [UInt8], puttingAside: Bool = false) throws(CoordinationError) -> RepairEnding {
        switch try readManifest(of: operation, puttingAside: puttingAside) {
        case .manifest(let manifest):
            if let refusal = try rollForward(operation, manifest, puttingAside: puttingAside) {
                return .refused(refusal)
            }
            return .finished
        case .none: return .nothing
        case .putAside: return .finished
        case .refused(let refusal): return .refused(refusal)
        }
    }

    /// Completes the transactions of an earlier boot. Called only while no other member lives, before staging is
    /// cleared: the first member after a boot clears `inFlight`, but the manifest of a committed transaction is still
    /// in staging. A relaxed transaction may have reached the disk in part, and is left so: the comparison of the tree
    /// with the journal finds the items that it changed. What this process may not complete is put aside: its items are
    /// locked no longer, so to complete it later could undo what others have written since. Leaves out the files that
    /// begin with one of the names of `kept`.
    func finishTransactionsOfAnotherBoot(besides kept: [[UInt8]]) throws(CoordinationError) {
        let names = try translating("repair", item: ".group/staging") { () throws(Errno) in
            try directory.staging.entryNames()
        }
        for name in names where name.count == 32 + TransactionChanges.manifestSuffix.count {
            guard name.suffix(TransactionChanges.manifestSuffix.count).elementsEqual(TransactionChanges.manifestSuffix),
                !kept.contains(where: { name.starts(with: $0) }),
                let operation = Hexadecimal.decode(String(decoding: name.prefix(32), as: UTF8.self)),
                case .manifest(let manifest) = try readManifest(of: operation, puttingAside: true), manifest.isDurable
            else { continue }
            _ = try rollForward(operation, manifest, puttingAside: true)
        }
    }

    /// The result of reading a manifest.
    private enum FoundManifest {
        case manifest(TransactionManifest)
        /// The operation is not a committed transaction.
        case none
        case putAside
        case refused(RefusedRepair)
    }

    private func readManifest(of operation: [UInt8], puttingAside: Bool) throws(CoordinationError) -> FoundManifest {
        let name = TransactionChanges.manifestName(of: operation)
        do throws(Errno) {
            let content = try FileDescriptor.content(
                of: name, in: directory.staging, limit: TransactionManifest.largest)
            guard let manifest = TransactionManifest(decoding: content) else { return .none }
            return .manifest(manifest)
        } catch {
            if error == .noSuchEntry { return .none }
            let found = RefusedRepair(item: ".group/staging/\(printable(name))", reason: error)
            guard let refusal = try judge(found, of: operation, puttingAside: puttingAside) else { return .putAside }
            return .refused(refusal)
        }
    }

    /// Takes the steps that were not taken, and records the transaction. Returns the refusal if a process that may do
    /// more has to take the rest: then there is no record yet.
    private func rollForward(
        _ operation: [UInt8], _ manifest: TransactionManifest, puttingAside: Bool
    ) throws(CoordinationError) -> RefusedRepair? {
        let moves = zip(manifest.steps, manifest.record.parts).compactMap { TransactionStep(self, operation, $0, $1) }
        // The record is appended after the last step. If the journal has it, every step was taken, and the items may
        // have been changed since, so no step is taken again.
        if try !isRecorded(operation, manifest) {
            let refused = try take(moves)
            if let first = refused.first,
                let refusal = try judge(first.refusal, of: operation, puttingAside: puttingAside)
            {
                return refusal
            }
            let made = moves.indices.filter { index in !refused.contains { $0.move == index } }.map { moves[$0] }
            var record = manifest.record
            record.parts = made.map(\.result)
            if manifest.isDurable {
                try translating("repair", item: ".group/staging") { () throws(Errno) in
                    try synchronizeDirectories(of: made)
                }
            }
            if !record.parts.isEmpty, let position = try appendRepaired(record), manifest.isDurable {
                try translating(journal.log.synchronize(through: position))
            }
        }
        movePresenters(by: manifest.record)
        TransactionChanges.sweep(operation, moves.map(\.name), in: self)
        return nil
    }

    /// Takes each step that can be taken. Returns those that are refused to this process.
    private func take(
        _ moves: [TransactionStep]
    ) throws(CoordinationError) -> [(move: Int, refusal: RefusedRepair)] {
        var refused: [(move: Int, refusal: RefusedRepair)] = []
        for (index, move) in moves.enumerated() {
            do throws(Errno) {
                try move.take()
            } catch {
                let item = printable(move.location.bytes)
                if RefusedRepair.isPermission(error) {
                    refused.append((index, RefusedRepair(item: item, reason: error)))
                } else if !TransactionStep.isForeign(error), ![.nameTooLong, .invalid].contains(error) {
                    throw CoordinationError(error, operation: "repair", item: item)
                }
            }
        }
        return refused
    }

    private func isRecorded(_ operation: [UInt8], _ manifest: TransactionManifest) throws(CoordinationError) -> Bool {
        let start = LogPosition(
            segment: manifest.journalSegment, offset: Int(clamping: manifest.journalOffset), sequence: 0, checksum: 0)
        return try journal.contains(operation: operation, from: start)
    }
}
