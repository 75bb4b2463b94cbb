import GroupContainer

/// One process's part in what tools/bench asks of `GroupDefaults`.
struct DefaultsWork {
    let defaults: GroupDefaults
    private static let key = GroupDefaults.Key<Int>("n", default: 0)

    init(folder: String) throws { defaults = try GroupDefaults(Container(path: folder)) }

    /// Adds one for so long; prints how often, and the longest that one took, in nanoseconds.
    func increment(for nanoseconds: Int64, _ durability: Durability) throws {
        let end = MonotonicClock.now + nanoseconds
        var (count, longest, last) = (0, Int64(0), MonotonicClock.now)
        while last < end {
            try defaults.update(Self.key, durability) { $0 += 1 }
            let now = MonotonicClock.now
            (count, longest, last) = (count + 1, max(longest, now - last), now)
        }
        print("\(count) \(longest)")
    }

    /// Prints the sum.
    func sum() { print(defaults[Self.key]) }

    /// Nanoseconds of a read of an unchanged value, by name and by typed key, and of the question whether anything changed.
    func read(_ count: Int) throws {
        try defaults.set(1, for: Self.key)
        guard let mark = defaults.mark else { return }
        var sum = 0
        let begin = MonotonicClock.now
        for _ in 0..<count { sum &+= defaults.integer(forKey: "n") }
        let named = MonotonicClock.now
        for _ in 0..<count { sum &+= defaults[Self.key] }
        let typed = MonotonicClock.now
        for _ in 0..<count { sum &+= defaults.hasChanged(since: mark) ? 1 : 0 }
        let asked = MonotonicClock.now
        let times = [named - begin, typed - named, asked - typed].map { String(Double($0) / Double(count)) }
        print(times.joined(separator: " "), sum == 2 * count ? "right" : "wrong")
    }

    /// Nanoseconds of a set in a suite of so many keys.
    func set(keys: Int, _ count: Int) throws {
        for key in 0..<keys { try defaults.set(key, forKey: "key \(key)") }
        let begin = MonotonicClock.now
        for number in 0..<count { try defaults.set(number, forKey: "key \(number % keys)") }
        print(Double(MonotonicClock.now - begin) / Double(count))
    }
}
