import Glibc
import GroupContainer

/// One process's part in what tools/bench measures of `GroupDefaults`; tools/lib/bench/stores does the same with
/// others.
struct DefaultsWork {
    let defaults: GroupDefaults
    private static let key = GroupDefaults.Key<Int>("n", default: 0)
    private static let batch = 1_000

    init(directory: String) throws { defaults = try GroupDefaults(Container(path: directory)) }

    /// Adds one from a moment on for some time; prints how often, and the longest time that one took, in nanoseconds.
    func increment(from begin: Int64, for nanoseconds: Int64, durability: Durability) throws {
        MonotonicClock.wait(until: begin)
        let end = begin + nanoseconds
        var (count, longest, last) = (0, Int64(0), MonotonicClock.now)
        while last < end {
            try defaults.update(Self.key, durability: durability) { $0 += 1 }
            let now = MonotonicClock.now
            (count, longest, last) = (count + 1, max(longest, now - last), now)
        }
        print("\(count) \(longest)")
    }

    /// Prints the sum.
    func sum() { print(defaults[Self.key]) }

    /// Prints nanoseconds of a read of an unchanged value by typed key, of the check whether anything changed, and of a
    /// read by name: a line a batch.
    func read(_ batches: Int) throws {
        try defaults.set(1, for: Self.key)
        guard let mark = defaults.mark else { return }
        var sum = 0
        for _ in 0..<batches {
            let begin = MonotonicClock.now
            for _ in 0..<Self.batch { sum &+= defaults[Self.key] }
            let typed = MonotonicClock.now
            for _ in 0..<Self.batch { sum &+= defaults.hasChanged(since: mark) ? 1 : 0 }
            let checked = MonotonicClock.now
            for _ in 0..<Self.batch { sum &+= defaults.integer(forKey: "n") }
            let named = MonotonicClock.now
            let times = [typed - begin, checked - typed, named - checked].map {
                String(Double($0) / Double(Self.batch))
            }
            print(times.joined(separator: " "))
        }
        if sum != 2 * batches * Self.batch { exit(1) }
    }

    /// Prints nanoseconds of each set in a suite of this many keys.
    func set(keys: Int, _ count: Int) throws {
        let names = (0..<keys).map { "key \($0)" }
        _ = try defaults.transaction { transaction in
            for (number, name) in names.enumerated() { transaction.set(.integer(number), forKey: name) }
        }
        var times: [Int64] = []
        times.reserveCapacity(count)
        var last = MonotonicClock.now
        for number in 0..<count {
            // The keys are not set in the order in which they were made.
            try defaults.set(number, forKey: names[number * 7_919 % keys])
            let now = MonotonicClock.now
            times.append(now - last)
            last = now
        }
        printLines(times)
    }

    /// Sets a key to the present time, with pauses; at the end to -1.
    func send(_ count: Int, pause: Int64) throws {
        for number in 0..<Int64(count) {
            // Between 3/4 and 5/4 of the pause, so that nothing falls into step with it.
            MonotonicClock.wait(until: MonotonicClock.now + pause * 3 / 4 + number * 7_919 % 1_000 * pause / 2_000)
            try defaults.set(Int(MonotonicClock.now), for: Self.key)
        }
        MonotonicClock.wait(until: MonotonicClock.now + pause)
        try defaults.set(-1, for: Self.key)
    }

    /// Prints how long after each of these times the change arrived, in nanoseconds.
    func follow() throws {
        var (follower, delays) = (try defaults.follow(of: [Self.key.name]), [Int64]())
        delays.reserveCapacity(1 << 16)
        print("ready")
        fflush(nil)
        while let change = try follower.next(), let began = change.newValue?.integerValue, began >= 0 {
            delays.append(MonotonicClock.now - Int64(began))
        }
        printLines(delays)
    }
}
