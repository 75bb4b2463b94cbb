import GroupSystemCalls

/// A log that may only be read: its member has no slot, its maps cannot be written, and it waits for no writer. A
/// reservation that its owner left behind, and the torn end of a log that is not recovered yet, are its end for now.
extension MappedLog {
    var isOnlyForReading: Bool { surroundings.slot == nil }

    /// A writer has a slot.
    func writerSlot(_ operation: String) throws(CoordinationError) -> Int {
        if let slot = surroundings.slot { return slot }
        throw CoordinationError(
            .notPermitted, item: name, operation: operation, cause: "the container was opened only for reading")
    }

    /// Has every file opened anew. On overlayfs a file's map shows the file as it was before somebody first opened it
    /// for writing; and where a log was recovered meanwhile, its file ends elsewhere.
    func lookAnew() throws(CoordinationError) {
        guard let last = try fileNumbers().last else { throw .damaged(name, operation: "open", "it has no file") }
        forgetAll(last: last)
    }

    /// What is broken here never happened: the member that recovers the log cuts it here. Below the durable mark the
    /// same is damage.
    func isTorn(_ file: LogFile, at offset: Int) -> Bool {
        file.header.number == unrecovered && file.end == nil
            && UInt64(offset) >= file.map.load64(LogFileHeader.durableMark)
    }

    /// The end of the good prefix. Linear in the file's length, with every record's checksum.
    func endOfUnrecovered(_ file: LogFile) throws(CoordinationError) -> LogPosition {
        var place = LogPosition.start(of: file.header)
        while case .entry(let entry) = try knownStep(behind: place) { place = entry.position }
        return place
    }
}
