/// What a container holds after some steps, if nothing ever goes wrong: the disk is compared with it.
struct CrashModel: Equatable {
    /// The content of each item, by its name.
    private(set) var items: [String: String] = [
        "a": "a 0", "n": "number 0", "dir/b": "b 0", "here": "here 0", "tree/one": "one 0", "tree/two": "two 0",
        "t1": "t1 0",
        "t2": "t2 0", "t3": "t3 0",
    ]
    private(set) var keys: [String: Int] = [:]
    /// The messages that were posted, the oldest first.
    private(set) var messages: [Int] = []
    /// How many of these the listener has acknowledged.
    private(set) var acknowledged = 0
    /// How often each item's path was changed under a lock.
    private(set) var changes: [String: Int] = [:]

    /// An item that may or may not be on the disk.
    static let relaxedItem = "r"
    static let filler = "filler"
    /// Many pages of a log's segment, each of which may be lost.
    static let filling = [UInt8](repeating: UInt8(ascii: "x"), count: 48_000)

    mutating func apply(_ step: CrashStep, number: Int) {
        switch step {
        case .write, .rotate: put("a", "a \(number)")
        case .writeLarge: put("new/directory/large", "large \(number)")
        case .update:
            let count = items["n"].flatMap { Int($0.dropFirst("number ".count)) } ?? 0
            put("n", "number \(count + 1)")
        case .remove:
            if items.removeValue(forKey: "dir/b") == nil { put("dir/b", "b \(number)") } else { count("dir/b") }
        case .move: if items["here"] == nil { move("there", "here") } else { move("here", "there") }
        case .moveDirectory:
            let (from, to) = items["tree/one"] == nil ? ("far/tree", "tree") : ("tree", "far/tree")
            for name in ["one", "two"] { items["\(to)/\(name)"] = items.removeValue(forKey: "\(from)/\(name)") }
            count(to)
        case .copy: if items["copy"] != items["a"], let content = items["a"] { put("copy", content) }
        case .transaction:
            put("t1", "t1 \(number)")
            put("t2", "t2 \(number)")
            if items["t3"] == nil { move("t4", "t3") } else { move("t3", "t4") }
        case .relaxed, .refresh: break
        case .set, .setDurable, .compact, .compactDurable: keys["k"] = number
        case .setTwo: (keys["k1"], keys["k2"]) = (number, number)
        case .post, .postDurable: messages.append(number)
        case .acknowledge: acknowledged = messages.count
        case .compactChannel:
            acknowledged = messages.count
            messages.append(number)
        }
    }

    private mutating func put(_ path: String, _ content: String) {
        items[path] = content
        count(path)
    }

    private mutating func move(_ from: String, _ to: String) {
        items[to] = items.removeValue(forKey: from)
        count(to)
    }

    private mutating func count(_ path: String) { changes[path, default: 0] += 1 }

    /// Returns bytes that cannot be mistaken for another content's, nor half of a content for the whole.
    static func bytes(of content: String) -> [UInt8] {
        var bytes = Array(content.utf8)
        // The format of a Codable number.
        if content.hasPrefix("number ") { return Array(content.utf8.dropFirst("number ".count)) + [UInt8(ascii: "\n")] }
        let size = content.hasPrefix("large") ? 200_000 : 600
        while bytes.count < size { bytes += [UInt8(ascii: ":")] + Array(content.utf8) }
        return bytes
    }
}

/// What a plan may have come to, if power was cut after its first steps were acknowledged.
struct CrashOutcomes {
    /// The least and the most changes of each item that may be in the journal.
    let least: CrashModel
    let most: CrashModel
    /// The possible states on the disk: of items, of keys, of messages.
    private let trees: [[String: String]]
    private let suites: [[String: Int]]
    private let channels: [[Int]]
    /// How many messages the listener may have acknowledged.
    private let acknowledged: ClosedRange<Int>

    init(_ plan: [CrashStep], acknowledged count: Int) {
        var states = [CrashModel()]
        for (index, step) in plan.enumerated() {
            var next = states[index]
            next.apply(step, number: index + 1)
            states.append(next)
        }
        let last = min(count + 1, plan.count)
        /// Returns the states that are possible for the writers of one log, or of the tree.
        func possible(since steps: Set<CrashStep>) -> ArraySlice<CrashModel> {
            let first = plan[..<min(count, plan.count)].lastIndex { $0.isDurable && steps.contains($0) }
            return states[(first.map { $0 + 1 } ?? 0)...last]
        }
        let ofSuite: Set<CrashStep> = [.set, .setDurable, .setTwo, .compact, .compactDurable]
        let ofChannel: Set<CrashStep> = [.post, .postDurable, .acknowledge, .compactChannel]
        least = states[min(count, plan.count)]
        most = states[last]
        // Every change of the tree is durable.
        trees = states[min(count, plan.count)...last].map(\.items)
        suites = possible(since: ofSuite).map(\.keys)
        let channels = possible(since: ofChannel)
        self.channels = channels.map(\.messages)
        let done = channels.map(\.acknowledged)
        acknowledged = (done.min() ?? 0)...(done.max() ?? 0)
    }

    /// Returns what is wrong with what was found; empty if a power cut explains it. `messages` are those that the
    /// listener still gets.
    func faults(items: [String: String], keys: [String: Int], messages: [Int]) -> [String] {
        var faults: [String] = []
        if !trees.contains(items) {
            faults.append("items \(Self.text(items)), expected \(either(trees.map(Self.text)))")
        }
        if !suites.contains(keys) {
            faults.append("keys \(Self.text(keys)), expected \(either(suites.map(Self.text)))")
        }
        let possible = channels.flatMap { all in
            acknowledged.filter { $0 <= all.count }.map { Array(all[$0...]) }
        }
        if !possible.contains(messages) {
            faults.append("messages \(messages), expected \(either(possible.map { "\($0)" }))")
        }
        return faults
    }

    private func either(_ texts: [String]) -> String {
        var seen: Set<String> = []
        return texts.filter { seen.insert($0).inserted }.joined(separator: " or ")
    }

    static func text(_ values: [String: some Any]) -> String {
        "{" + values.map { "\($0.key): \($0.value)" }.sorted().joined(separator: ", ") + "}"
    }
}
