import GroupContainer
import RawRecords
import TestSupport

extension FaultedOperation {
    private static func suite(_ name: String, _ words: String...) -> Self {
        FaultedOperation(
            testDescription: name, words: words,
            prepare: { container in
                try container.make([:])
                try container.fillSuite()
            })
    }

    private static func channel(_ name: String, _ words: String...) -> Self {
        FaultedOperation(
            testDescription: name, words: words,
            prepare: { container in
                try container.make([:])
                let channel = try GroupChannel(container.open(), name: "news")
                let listener = try channel.listener(named: "one", since: .start)
                for text in ["first", "second"] { try channel.post(bytes: Array(text.utf8)) }
                try listener.acknowledge(upTo: 1)
            })
    }

    static let keysAndMessages: [FaultedOperation] = [
        suite("set a key", "groupctl", "defaults", "set", "@", "standard", "--durable", "first", "new"),
        suite("remove a key", "groupctl", "defaults", "delete", "@", "standard", "first"),
        suite("transaction of keys", "test-member", "defaults-transact", "@", "new"),
        {
            var compact = suite("begin a suite's file", "test-member", "defaults-compact", "@", "new", "durable")
            compact.stages = { before, after in
                let first = before.with { $0.keys["first"] = after.keys["first"] }
                return [first, first.with { $0.keys["filler"] = after.keys["filler"] }]
            }
            return compact
        }(),
        channel("post a message", "test-member", "channel-post-durably", "@", "news", "third"),
        {
            var take = channel("listen and acknowledge", "test-member", "channel-take", "@", "news", "two")
            take.stages = { before, _ in [before.with { $0.listeners["two"] = 1 }] }
            return take
        }(),
        {
            var fill = channel("begin a channel's file", "test-member", "channel-fill", "@", "news", "third")
            fill.stages = { before, after in
                (before.messages.count...after.messages.count).map { count in
                    before.with { $0.messages = Array(after.messages.prefix(count)) }
                }
            }
            return fill
        }(),
    ]
}

extension TemporaryContainer {
    /// Creates the container with these files in it.
    func make(_ files: [String: String], retention: JournalRetention = .standard) throws {
        let writer = try Container(path: path, creating: true, retention: retention).coordinator(purpose: "before")
        for (path, content) in files.sorted(by: { $0.key < $1.key }) {
            _ = try writer.blocking.write(bytes: Array(content.utf8), to: ItemPath(path), durability: .relaxed)
        }
    }

    func fillSuite() throws {
        let defaults = try GroupDefaults(open())
        for key in ["first", "last", "gone", "broken", "kept"] { try defaults.set("old \(key)", forKey: key) }
    }

    /// Creates a container whose journal has dropped its first segments, and has a checkpoint.
    func makeWithCheckpoint() throws {
        try make(["kept": "old\n", "item": "old\n"], retention: JournalRetention(size: 128 << 10))
        let long = ItemPath(String(repeating: "x", count: 4_000))
        for number in 0..<4 {
            let container = try open()
            for _ in 0..<20 { _ = try container.appendRawRecord(naming: long) }
            _ = try container.coordinator(purpose: "before").blocking
                .write(bytes: Array("\(number)".utf8), to: "warm", durability: .relaxed)
        }
    }
}
