import SystemCalls

/// A suite's log grows with every set; when a file of it is full, the next one begins with what all before it came to.
/// Whoever meets the full file does that, while others read and write on; none has to wait for one that is stopped.
enum SuiteCompaction {
    /// Of a suite's first file, in bytes.
    static let smallest = 262_144
    /// Files grow up to this, so that a busy suite is not compacted all the time; a large suite's are larger.
    static let largestForBusyness = 1 << 25
    /// What a file can be, in bytes.
    private static let largest = 1 << 32 - 4_096
    /// A file that was full sooner than this is followed by a larger one; one that lasted much longer, by a smaller.
    private static let busy: Int64 = 1_000_000_000
    private static let quiet: Int64 = 3_600_000_000_000

    /// What the next file begins with, by what is in the file. Linear in it.
    static func carriage(
        of file: LogFile, before end: Int, needed: Int, _ diagnostics: DiagnosticDesk
    ) throws(CoordinationError) -> LogCarriage {
        var state = SuiteState()
        let broken = try file.forEachCommitted(before: end) { body, sequence, _ in
            state.take(body, at: sequence)
        }
        if broken > 0 {
            diagnostics.tell(
                .defaultsDamaged, item: file.name, count: broken,
                "records that do not fit their checksums were left out; the keys that they set have their values before"
            )
        }
        return carriage(of: state, needed: needed, after: file)
    }

    /// The same by what was read of it. Linear in the state.
    static func carriage(of state: SuiteState, needed: Int, after file: LogFile) -> LogCarriage {
        let bodies = state.carried()
        let size = LogCarriage.size(of: bodies)
        return LogCarriage(bodies: bodies, capacity: capacity(holding: size, needed: needed, after: file))
    }

    /// At least four times what it holds, so that a set costs the same however large the suite is: the work of compacting
    /// is spread over as many bytes as it copies, three times.
    static func capacity(holding size: Int, needed: Int, after file: LogFile) -> Int {
        let lasted = wallNanoseconds() - file.header.created
        var wanted = min(file.capacity, largestForBusyness)
        if lasted < busy { wanted = min(wanted * 2, largestForBusyness) }
        if lasted > quiet { wanted = max(wanted / 2, smallest) }
        let least = LogFileHeader.size + size * 4 + LogFile.byteCount(bodyCount: needed) * 2
        while wanted < least { wanted *= 2 }
        return min(wanted, largest)
    }
}
