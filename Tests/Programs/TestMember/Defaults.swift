import GroupContainer
import ScenarioKit
import GroupSystemCalls

func setDefaults(of path: String, _ key: String, count: Int) throws {
    let defaults = try GroupDefaults(Container(path: path))
    for number in stride(from: 1, through: count, by: 1) {
        try defaults.set(number, forKey: key)
        printLine("\(number)")
    }
}

func incrementDefaults(of path: String, count: Int, thinking: Int64) throws {
    let defaults = try GroupDefaults(Container(path: path))
    for _ in stride(from: 1, through: count, by: 1) {
        let value = try defaults.update(GroupDefaults.Key<Int>("n", default: 0)) {
            if thinking > 0 { pause(nanoseconds: thinking) }
            $0 += 1
        }
        printLine("\(value)")
    }
}

/// Prints a line when an operation begins and one when it ends: `>` or `<`, the time, then the operation or its result.
func makeHistory(of path: String, seed: UInt64, count: Int) throws {
    let defaults = try GroupDefaults(Container(path: path))
    var random = Lots(seed: seed)
    for number in stride(from: 1, through: count, by: 1) {
        let name = "k\(random.next(below: 4))"
        let key = GroupDefaults.Key<Int>(name, default: 0)
        switch random.next(below: 4) {
        case 0:
            printLine("> \(monotonicNanoseconds()) \(name) get")
            printEnd(try defaults.read(key))
        case 1:
            let value = Int(seed) * 1_000_000 + number
            printLine("> \(monotonicNanoseconds()) \(name) set \(value)")
            try defaults.set(value, for: key)
            printEnd(0)
        case 2:
            printLine("> \(monotonicNanoseconds()) \(name) add")
            printEnd(try defaults.update(key) { $0 += 1 })
        default:
            let (expected, value) = (defaults[key], Int(seed) * 1_000_000 + number)
            printLine("> \(monotonicNanoseconds()) \(name) cas \(expected) \(value)")
            let isSet = try defaults.compareAndSet(
                forKey: name, from: .integer(expected), to: .integer(value))
            printEnd(isSet ? 1 : 0)
        }
    }
}

/// Sets "first" and, once the suite's log has begun another segment, "last".
func compactDefaults(of path: String, _ text: String, durability: Durability) throws {
    let defaults = try GroupDefaults(Container(path: path))
    try defaults.set(text, forKey: "first", durability: durability)
    printLine("first")
    for _ in 0..<12 { try defaults.set(DefaultsValue.data([UInt8](repeating: 1, count: 48_000)), forKey: "filler") }
    try defaults.set(text, forKey: "last", durability: durability)
    printLine("last")
}

func transactDefaults(of path: String, _ text: String) throws {
    let defaults = try GroupDefaults(Container(path: path))
    try defaults.transaction(durability: .durable) { transaction in
        for key in ["first", "last"] { transaction.set(.string(text), forKey: key) }
        transaction.set(nil, forKey: "gone")
    }
    printLine("done")
}

/// Prints a result, with the time after the operation.
private func printEnd(_ answer: Int) { printLine("< \(monotonicNanoseconds()) \(answer)") }

/// SplitMix64 (Steele, Lea, Flood).
private struct Lots {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below limit: UInt64) -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return (mixed ^ mixed >> 31) % limit
    }
}
