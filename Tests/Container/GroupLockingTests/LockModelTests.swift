import GroupBytes
import TestSupport
import Testing

@testable import GroupLocking

@Suite(.ownThreads)
struct `Lock model` {
    private static let paths = ["a", "a/b", "a/b/c", "a/b/d", "a/e", "f", "f/g", "f/g/h", "f/i", "j"]
    private static let key = SipHash(key: (1, 2))

    private static func plan(_ generator: inout SeededGenerator) throws -> LockPlan {
        let count = Int.random(in: 1...3, using: &generator)
        return LockPlan(
            (0..<count).map { _ in
                let path = paths.randomElement(using: &generator) ?? "a"
                let mode = [LockMode.shared, .exclusive, .tree].randomElement(using: &generator) ?? .shared
                return (LockRange(path: Array(path.utf8), key: key), mode)
            })
    }

    /// Runs one story: each step lets a random process begin a request, end a closure, or go on where the kernel let
    /// it. With `areThreadsPrompt`, a process that the kernel has granted something runs before any other does
    /// anything.
    private static func story(seed: UInt64, nesting: Int, areThreadsPrompt: Bool) throws -> LockWorld {
        var generator = SeededGenerator(seed: seed)
        var world = LockWorld(processes: Int.random(in: 2...5, using: &generator))
        for _ in 0..<60 {
            if areThreadsPrompt { while world.processes.indices.contains(where: { world.wake($0) }) {} }
            let process = Int.random(in: 0..<world.processes.count, using: &generator)
            let depth = world.processes[process].locks.count
            if world.processes[process].request != nil {
                _ = world.wake(process)
            } else if depth > 0 && (depth > nesting || Bool.random(using: &generator)) {
                world.end(process)
            } else {
                // A process that holds a range holds the item's lock: no two paths share a range here.
                world.begin(try plan(&generator), by: process) { _, _ in true }
            }
        }
        if !world.settle() { throw Stuck(seed: seed) }
        return world
    }

    struct Stuck: Error {
        var seed: UInt64
    }

    @Test func `random requests that name all their items at once are all granted, and none gives up`() throws {
        var grants = 0
        let stories = runsLongTests ? 10_000 : 1_000
        for seed in 0..<stories {
            let world = try Self.story(seed: UInt64(seed), nesting: 0, areThreadsPrompt: seed % 2 == 0)
            #expect(world.reports.isEmpty, "seed \(seed)")
            grants += world.grants
        }
        #expect(grants > stories * 5)
    }

    @Test(arguments: 1...2)
    func `random nested requests all end, and only requests that would wait for ever give up`(nesting: Int) throws {
        var reports = 0
        let stories = runsLongTests ? 6_000 : 1_000
        for seed in 0..<stories {
            let world = try Self.story(seed: UInt64(seed), nesting: nesting, areThreadsPrompt: true)
            #expect(!world.reports.contains { !$0.isTrue }, "seed \(seed)")
            reports += world.reports.count
        }
        #expect(reports > stories / 6)
    }
}
