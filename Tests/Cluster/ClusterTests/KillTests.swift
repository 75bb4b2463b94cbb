#if Curl && SQLite
import EtcdSupport
import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// The program of a machine is killed at each system call that changes something: a rename, a removal, a write to its
/// database, a request to etcd, a sync. strace(1) is put around the running program, so that the calls are counted from
/// the change on. The short run leaves some of them out.
@Suite(
    .tags(.process, .root, .etcd),
    .ownThreads, .timeLimit(.minutes(30)),
    .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .enabled(if: Strace.isThere && isRoot, "needs strace, and root to put it around a running program"))
struct `A program that is killed at each step` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private let b: MachineUnderTest

    private static let calls = [
        "renameat2", "unlinkat", "mkdirat", "pwrite64", "sendto", "fdatasync", "fsync", "ftruncate",
    ]

    init() throws { (etcd, a, b) = try startTwoMachines() }

    /// Calls `act` once for each call of each name, with the program of `a` being killed at it, and starts the program
    /// again. `act` gets a name for its items, and whether the program is dead; it returns what is true of both trees
    /// in the end.
    private func forEachStep(
        including expected: Set<String> = ["sendto", "renameat2", "pwrite64"], prepare: (String) throws -> Void,
        act: (String, _ isDead: () -> Bool) throws -> ([String: String]) throws -> Bool
    ) throws {
        var random = SeededGenerator(seed: faultSeed)
        var killedAt: Set<String> = []
        for call in Self.calls {
            var number = 1
            while true {
                let name = "\(call)-\(number)-"
                try prepare(name)
                let isReady = try eventually { try agree(a, b) && a.isSettled(with: b) }
                #expect(isReady, "before \(call) \(number)")
                let tracer = try a.traced(["-e", "trace=\(call)", "-e", "inject=\(call):signal=SIGKILL:when=\(number)"])
                let isRight = try act(name) { tracer.hasEnded }
                // What is stored after that may be a step, too.
                let isKilled =
                    try eventually {
                        if tracer.hasEnded { return true }
                        let (here, there) = (a.tree, b.tree)
                        return try here == there && isRight(here) && a.isSettled(with: b)
                    } && tracer.hasEnded
                if isKilled { killedAt.insert(call) }
                // Where it was not killed, it is now. strace(1) that is told to end at the moment in which it kills
                // waits for the process, whose end waits for that of a thread, for which strace does not wait.
                a.kill()
                _ = try tracer.finish()
                try a.start()
                var last: [String: String] = [:]
                let isSame = try eventually {
                    last = a.tree
                    return try last == b.tree && isRight(last) && a.isSettled(with: b)
                }
                #expect(
                    isSame,
                    "killed at \(call) \(number): \(last.filter { $0.key.hasPrefix(name) }), \(b.tree.filter { $0.key.hasPrefix(name) })"
                )
                if !isKilled || !isSame { break }
                number += runsLongTests ? 1 : Int.random(in: 4...16, using: &random)
            }
        }
        // How often it was killed depends on the draws; where, does not.
        #expect(killedAt.isSuperset(of: expected), "\(killedAt)")
        for machine in [a, b] {
            let lines = try machine.groupctl("doctor", machine.path, "--json").text.split(separator: "\n")
            let findings = try lines.map { try JSONFinding(String($0)) }
            #expect(findings.allSatisfy { $0.severity == "note" }, "\(findings)")
        }
    }

    @Test func `a strict write is made on both machines or on none, as its caller is told`() throws {
        try forEachStep { name in
            try a.write("old", to: name + "item")
        } act: { name, _ in
            let write = try RunningProcess(
                ["group-cluster", "write", a.path, name + "item", "--timeout", "20"], input: "new")
            var status: Int32?
            return { tree in
                guard let content = tree[name + "item"]?.split(separator: " ").last else { return false }
                if status == nil {
                    // The caller waits for the fate of what may have been sent.
                    guard write.hasEnded else { return false }
                    status = try write.finish().status
                }
                return switch status {
                case 0: content == "new"
                case 4, 69: content == "old"
                default: true
                }
            }
        }
    }

    @Test func `what was changed here is on both machines`() throws {
        try forEachStep(including: ["sendto", "pwrite64"]) { name in
            for item in ["write", "move", "remove"] { try a.write("old \(item)", to: name + item) }
        } act: { name, _ in
            try change(a, name)
            return { $0.filter { $0.key.hasPrefix(name) } == Self.changed(name) }
        }
    }

    @Test func `what was changed elsewhere is on both machines`() throws {
        try forEachStep { name in
            for item in ["write", "move", "remove"] { try a.write("old \(item)", to: name + item) }
        } act: { name, _ in
            try change(b, name)
            return { $0.filter { $0.key.hasPrefix(name) } == Self.changed(name) }
        }
    }

    @Test func `what was changed elsewhere once more while the program was killed has no copy`() throws {
        try forEachStep { name in
            try a.write("old", to: name + "item")
        } act: { name, isDead in
            try b.write("second", to: name + "item")
            _ = eventually { isDead() || a.tree[name + "item"] == "420 second" }
            try b.write("third", to: name + "item")
            return { $0.filter { $0.key.hasPrefix(name) } == [name + "item": "420 third"] }
        }
    }

    @Test func `what a strict write has made, and another machine has written since, has no copy`() throws {
        try forEachStep { _ in
        } act: { name, isDead in
            let item = name + "item"
            let write = try RunningProcess(
                ["group-cluster", "write", a.path, item, "--timeout", "20"], input: "first")
            _ = eventually { isDead() || a.tree[item] == "420 first" }
            #expect(try b.cluster("write", b.path, item, input: "second").status == 0)
            return { tree in
                let items = tree.filter { $0.key.hasPrefix(name) }
                // Where the program was killed before it had sent the first write, that one is the last.
                return write.hasEnded && (items == [item: "420 second"] || items == [item: "420 first"])
            }
        }
    }

    private func change(_ machine: MachineUnderTest, _ name: String) throws {
        let manager = FileManager.default
        try machine.write("new write", to: name + "write")
        try manager.moveItem(atPath: "\(machine.path)/\(name)move", toPath: "\(machine.path)/\(name)moved")
        try manager.removeItem(atPath: "\(machine.path)/\(name)remove")
        try machine.write("deep", to: name + "d/e")
    }

    private static func changed(_ name: String) -> [String: String] {
        [
            name + "write": "420 new write", name + "moved": "420 old move", name + "d": "directory",
            name + "d/e": "420 deep",
        ]
    }

    @Test func `what a process writes into a file that is exchanged has a name of its own on both machines`() throws {
        try forEachStep { name in
            try a.write("old", to: name + "item")
        } act: { name, isDead in
            let file = "\(a.path)/\(name)item"
            let handle = try #require(FileHandle(forWritingAtPath: file))
            #expect(try b.cluster("write", b.path, name + "item", input: "new").status == 0)
            _ = eventually { isDead() || FileManager.default.contents(atPath: file) == Data("new".utf8) }
            try handle.seekToEnd()
            try handle.write(contentsOf: Data(" and late".utf8))
            try handle.close()
            return { tree in
                let items = tree.filter { $0.key.hasPrefix(name) }
                let copies = items.filter { $0.key.contains("(conflict ") }
                return items.count == 2 && items[name + "item"] == "420 new"
                    && copies.values.allSatisfy { $0 == "420 old and late" }
            }
        }
    }
}
#endif
