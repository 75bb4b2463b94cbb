import GroupBytes
import GroupLog
import GroupSystemCalls

/// Completes transactions whose members died, or could not complete them. A manifest with its final name means that the
/// transaction is committed: then every step that was not taken yet is taken. Without it, nothing happened, and the
/// files in staging are deleted.
extension OpenContainer {
    /// Completes a transaction; returns false where the operation is not a committed transaction.
    func finishTransaction(_ operation: [UInt8]) throws(CoordinationError) -> Bool {
        guard let manifest = try readManifest(of: operation) else { return false }
        try rollForward(operation, manifest)
        return true
    }

    /// Completes the transactions of an earlier boot. Called only while no other member lives, before staging is
    /// cleared: the first member after a boot clears `inFlight`, but the manifest of a committed transaction is still
    /// in staging. A relaxed transaction may have reached the disk in part, and is left so: the comparison of the tree
    /// with the journal finds the items that it changed.
    func finishTransactionsOfAnotherBoot() throws(CoordinationError) {
        let names = try translating("repair", item: ".group/staging") { () throws(Errno) in
            try directory.staging.entryNames()
        }
        for name in names where name.count == 32 + TransactionChanges.manifestSuffix.count {
            guard name.suffix(TransactionChanges.manifestSuffix.count).elementsEqual(TransactionChanges.manifestSuffix),
                let operation = Hexadecimal.decode(String(decoding: name.prefix(32), as: UTF8.self)),
                let manifest = try readManifest(of: operation), manifest.isDurable
            else { continue }
            try rollForward(operation, manifest)
        }
    }

    private func readManifest(of operation: [UInt8]) throws(CoordinationError) -> TransactionManifest? {
        let name = TransactionChanges.manifestName(of: operation)
        let content = try translating("repair", item: ".group/staging") { () throws(Errno) -> [UInt8]? in
            do throws(Errno) {
                return try FileDescriptor.content(
                    of: name, in: directory.staging, limit: TransactionManifest.largest)
            } catch {
                if error == .noSuchEntry { return nil }
                throw error
            }
        }
        return content.flatMap { TransactionManifest(decoding: $0) }
    }

    private func rollForward(_ operation: [UInt8], _ manifest: TransactionManifest) throws(CoordinationError) {
        let moves = zip(manifest.steps, manifest.record.parts).compactMap { TransactionStep(self, operation, $0, $1) }
        // The record is appended after the last step. If the journal has it, every step was taken, and the items may
        // have been changed since, so no step is taken again.
        if try !isRecorded(operation, manifest) {
            for move in moves {
                do throws(Errno) {
                    try move.take()
                } catch {
                    if !TransactionStep.isForeign(error) {
                        throw CoordinationError(error, operation: "repair", item: printable(move.location.bytes))
                    }
                }
            }
            var record = manifest.record
            record.parts = moves.map(\.result)
            if manifest.isDurable {
                try translating("repair", item: ".group/staging") { () throws(Errno) in
                    try synchronizeDirectories(of: moves)
                }
            }
            if !record.parts.isEmpty {
                let position = try journal.append(record)
                if manifest.isDurable { try translating(journal.log.synchronize(through: position)) }
            }
        }
        movePresenters(by: manifest.record)
        TransactionChanges.sweep(operation, moves.map(\.name), in: self)
    }

    private func isRecorded(_ operation: [UInt8], _ manifest: TransactionManifest) throws(CoordinationError) -> Bool {
        let start = LogPosition(
            segment: manifest.journalSegment, offset: Int(clamping: manifest.journalOffset), sequence: 0, checksum: 0)
        return try journal.contains(operation: operation, from: start)
    }
}
