import SystemCalls

/// `want`: a writer that waits says so, and readers that come later let it through.
extension Roster {
    /// Whether anybody alive wants something in this bucket: a dead member's want stays until its slot is repaired. At
    /// most 16 loads where there is none. System calls: fcntl(F_OFD_GETLK), where there is one.
    func isWanted(bucket: Int) -> Bool {
        let base = RosterLayout.want(bucket)
        return (0..<RosterLayout.bitmapBytes / 8).contains { word in
            var bits = map.load64(base + word * 8)
            while bits != 0 {
                let other = word * 64 + bits.trailingZeroBitCount
                if other == slot || isAlive(other) { return true }
                bits &= bits - 1
            }
            return false
        }
    }

    func raiseWant(bucket: Int) {
        wanting.withLock { wanting in
            wanting[bucket, default: 0] += 1
            if wanting[bucket] == 1 { map.setBits64(RosterLayout.want(bucket) + slot / 64 * 8, 1 << UInt64(slot % 64)) }
        }
    }

    func lowerWant(bucket: Int) {
        wanting.withLock { wanting in
            let left = (wanting[bucket] ?? 1) - 1
            wanting[bucket] = left == 0 ? nil : left
            if left == 0 { map.clearBits64(RosterLayout.want(bucket) + slot / 64 * 8, 1 << UInt64(slot % 64)) }
        }
    }

    func clearWants(of slot: Int) {
        for bucket in 0..<RosterLayout.bucketCount {
            map.clearBits64(RosterLayout.want(bucket) + slot / 64 * 8, 1 << UInt64(slot % 64))
        }
    }
}

/// Wake words: a flag that says somebody sleeps, and a counter to sleep on. They lie here and not in the logs, which
/// are replaced. The flag and the log are written by different sides in opposite order with a full fence between, so
/// either the sleeper sees the record or the appender sees the sleeper (Dekker's algorithm).
extension Roster {
    /// The journal's wake word.
    static let journalWord = 0
    private static let asleep: UInt32 = 1
    private static let waking: UInt32 = 2

    /// Sleeps until `wake`, unless `isReady` says after the flag was set that there is no need; at most `limit`
    /// nanoseconds or 100 ms, so that not even a waker that died in the middle is missed for long. System calls:
    /// futex(FUTEX_WAIT)
    func awaitWake(on word: Int, atMost limit: Int64?, unless isReady: () -> Bool) {
        let flag = RosterLayout.wakeWord(word)
        let counter = flag + 4
        let seen = map.load32(counter)
        map.store32(flag, Self.asleep)
        SharedMap.fence()
        if isReady() { return }
        map.wait(whileWord: counter, is: seen, nanoseconds: min(limit ?? .max, 100_000_000))
    }

    /// Wakes all who sleep; a load where nobody does. System calls: futex(FUTEX_WAKE)
    func wake(_ word: Int) {
        let flag = RosterLayout.wakeWord(word)
        SharedMap.fence()
        // Who finds `waking` also wakes: its setter may have died before its call.
        if map.load32(flag) == 0 { return }
        _ = map.add32(flag + 4, 1)
        map.store32(flag, Self.waking)
        map.wakeAll(at: flag + 4)
        // A sleeper that came meanwhile has set `asleep`, and it stays.
        _ = map.exchange32(flag, Self.waking, 0)
    }
}
