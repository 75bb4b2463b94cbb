import ScenarioKit
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.tags(.process)) struct `Simulated trees` {
    /// The simulation, and the kernel with one inotify queue: both have to do the same.
    private final class Both {
        let temporary: TemporaryDirectory
        var disk: DiskTree
        var simulated = SimulatedTree()
        let queue: InotifyQueue
        /// The numbers of the simulation's watches, by the kernel's.
        private var watches: [Int32: Int32] = [-1: -1]
        private var cookies: [UInt32: Int] = [:]

        init() throws {
            temporary = try TemporaryDirectory()
            try temporary.directory.createDirectory(Array("container".utf8), mode: 0o755)
            try temporary.directory.createDirectory(Array("container/.group".utf8), mode: 0o700)
            disk = DiskTree(temporary.path + "/container")
            queue = try InotifyQueue()
        }

        /// Performs a step in both, and expects both to succeed or both to fail.
        func perform(_ step: TreeStep, _ story: String) throws {
            var (real, model): (Errno?, Errno?) = (nil, nil)
            do throws(Errno) { try disk.perform(step) } catch { real = error }
            do throws(Errno) { try simulated.perform(step) } catch { model = error }
            try #require((real == nil) == (model == nil), "\(story): the kernel: \(real as Any), we: \(model as Any)")
        }

        /// Watches every directory that is not watched yet.
        func watchAll(_ directory: [UInt8] = []) throws {
            let descriptor = try FileDescriptor.open(
                path: Array((temporary.path + "/container/").utf8) + directory, [.pathOnly, .directory])
            watches[try queue.watch(descriptor)] = try simulated.watch(directory)
            for name in try disk.entries(directory).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                let path = directory.isEmpty ? name : directory + [UInt8(ascii: "/")] + name
                if try disk.isDirectory(path) { try watchAll(path) }
            }
        }

        func compareEvents(_ story: String) throws {
            let real = try queue.drain().map { say($0, watches[$0.watch] ?? 0) }
            cookies = [:]
            let model = simulated.drain().map { say($0, $0.watch) }
            cookies = [:]
            try #require(real == model, "the kernel: \(real)\nwe: \(model)\n\(story)")
        }

        /// Describes an event: watches by the simulation's numbers, cookies by the order in which they came up.
        private func say(_ event: InotifyEvent, _ watch: Int32) -> String {
            let cookie = event.cookie == 0 ? 0 : cookies[event.cookie, default: cookies.count + 1]
            if event.cookie != 0 { cookies[event.cookie] = cookie }
            let kinds = String(event.kinds.rawValue, radix: 16)
            return "\(watch) \(kinds) \(cookie) \(String(decoding: event.name, as: UTF8.self))"
        }

        func compareTrees(_ directory: [UInt8], _ story: String) throws {
            let names = Set(try disk.entries(directory))
            try #require(try names == Set(simulated.entries(directory)), "\(story)")
            for name in names {
                let path = directory.isEmpty ? name : directory + [UInt8(ascii: "/")] + name
                let descriptor = try FileDescriptor.open(
                    path: Array((temporary.path + "/container/").utf8) + directory, [.pathOnly, .directory])
                let real = try descriptor.status(of: name)
                let node = try #require(try simulated.status(path)?.node)
                try #require(
                    real.isDirectory == (node.kind == .directory) && real.isLink == (node.kind == .link), "\(story)")
                if real.isDirectory {
                    try compareTrees(path, story)
                } else {
                    try #require(real.size == UInt64(node.content.count) && Int(real.links) == node.links, "\(story)")
                }
            }
        }
    }

    /// Runs in a process of its own, as there is one queue in each.
    @Test func `a simulated tree makes the same events as the kernel, whatever is done`() async {
        await #expect(processExitsWith: .success) {
            limitLifetime()
            for seed in UInt64(1)...(runsLongTests ? 200 : 20) {
                var random = SeededGenerator(seed: seed)
                let both = try Both()
                try both.watchAll()
                var story = "seed \(seed)"
                for _ in 0..<60 {
                    let step = RandomSteps.next(&random)
                    story += "\n" + Words.joined(step.words)
                    try both.perform(step, story)
                    if Bool.random(using: &random) {
                        try both.compareEvents(story)
                        try both.watchAll()
                    }
                }
                try both.compareEvents(story)
                try both.compareTrees([], story)
            }
        }
    }

    @Test func `a simulated tree gives a freed inode number again if it is to reuse them`() throws {
        var tree = SimulatedTree()
        tree.reusesInodes = true
        let path = Array("f".utf8)
        try tree.perform(.create(path))
        let first = try tree.status(path)?.inode
        try tree.perform(.rm(path))
        try tree.perform(.create(path))
        #expect(try tree.status(path)?.inode == first)
        tree.reusesInodes = false
        try tree.perform(.rm(path))
        try tree.perform(.create(path))
        #expect(try tree.status(path)?.inode != first)
    }

    @Test func `a simulated tree reports an overflow of its queue once`() throws {
        var tree = SimulatedTree()
        tree.queueLimit = 2
        _ = try tree.watch([])
        for name in ["a", "b", "c"] { try tree.perform(.mkdir(Array(name.utf8))) }
        let events = tree.drain()
        #expect(events.map(\.kinds) == [[.created, .isDirectory], [.created, .isDirectory], .overflow])
        #expect(events.last?.watch == -1 && tree.drain().isEmpty)
        try tree.perform(.mkdir(Array("d".utf8)))
        #expect(tree.drain().count == 1)
    }
}
