import GroupSystemCalls

/// A log grows with every append; when a file of it is full, the next one begins with what all before it came to.
/// The member that meets the full file does that, while the others read and write on; no member has to wait for a
/// member that is stopped.
extension FoldedLog {
    /// What the next file begins with, by what is in the file. Linear in it.
    static func preamble(
        of file: LogFile, before end: Int, needed: Int, _ diagnostics: DiagnosticDesk
    ) throws(CoordinationError) -> LogPreamble {
        var state = State(last: file.header.base)
        let broken = try file.forEachCommitted(before: end) { body, sequence, isControl in
            state.apply(body, at: sequence, isControl: isControl)
        }
        if broken > 0 {
            diagnostics.tell(
                State.damage.code, item: file.name, count: broken,
                "records that do not fit their checksums were left out; \(State.damage.meaning)")
        }
        return try preamble(of: state, in: file, before: end, needed: needed)
    }

    /// The same by what was read of it. Linear in the state, and in the file as far as records of it are carried.
    static func preamble(
        of state: State, in file: LogFile, before end: Int, needed: Int
    ) throws(CoordinationError) -> LogPreamble {
        var bodies = state.carriedBodies()
        if state.carriesRecords {
            _ = try file.forEachCommitted(before: end) { body, sequence, isControl in
                if let body = state.carried(body, at: sequence, isControl: isControl) { bodies.append(body) }
            }
        }
        let capacity = LogPreamble.capacity(holding: LogPreamble.size(of: bodies), needed: needed, after: file)
        return LogPreamble(bodies: bodies, capacity: capacity)
    }
}

/// How large files are.
extension LogPreamble {
    /// Of a log's first file, in bytes.
    static let smallest = 262_144
    /// Files grow up to this, so that a busy log is not compacted all the time; a large one's are larger.
    static let largestForBusyness = 1 << 25
    /// What a file can be, in bytes.
    private static let largest = 1 << 32 - 4_096
    /// A file that was full sooner than this is followed by a larger one; one that lasted much longer, by a smaller.
    private static let busy: Int64 = 1_000_000_000
    private static let quiet: Int64 = 3_600_000_000_000

    /// Of one that follows nothing in particular.
    static func capacity(holding size: Int) -> Int {
        var wanted = smallest
        while wanted < LogFileHeader.size + size * 4 { wanted *= 2 }
        return min(wanted, largest)
    }

    /// At least four times what it holds, so that an append costs the same however large the state is: the work of
    /// compacting is spread over as many bytes as it copies, three times.
    static func capacity(holding size: Int, needed: Int, after file: LogFile) -> Int {
        let lasted = wallNanoseconds() - max(0, file.header.created)
        var wanted = min(file.capacity, largestForBusyness)
        if lasted < busy { wanted = min(wanted * 2, largestForBusyness) }
        if lasted > quiet { wanted = max(wanted / 2, smallest) }
        let least = LogFileHeader.size + size * 4 + LogFile.byteCount(bodyCount: needed) * 2
        while wanted < least { wanted *= 2 }
        return min(wanted, largest)
    }
}
