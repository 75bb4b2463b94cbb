#if Curl && SQLite
import Cluster
import EtcdSupport
import Foundation
import TestSupport
import Testing

/// Another user of a shared container may have written what the program reads of its state.
@Suite(
    .ownThreads, .timeLimit(.minutes(5)), .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .tags(.process, .root, .etcd))
struct `A state that others have written` {
    private let etcd: EtcdServer
    private let a: MachineUnderTest
    private var directory: String { "\(a.path)/.group/cluster" }

    init() throws {
        etcd = try EtcdServer()
        a = try MachineUnderTest("alpha", etcd: etcd.endpoints)
        try a.start()
        try a.write("1", to: "d/f")
        let isSent = try eventually { try a.recorded()?.index ?? 0 >= 1 && a.recorded()?.toSend == 0 }
        #expect(isSent)
        try a.end()
    }

    private func join(_ options: String...) throws -> (status: Int32, text: String) {
        try RunningProcess(["group-cluster", "join", a.path + "/"] + options, input: "").finish()
    }

    private var mode: Int? {
        (try? FileManager.default.attributesOfItem(atPath: directory))?[.posixPermissions] as? Int
    }

    /// Rows as SQL: a number of eight bytes, and a place in a directory with a name.
    private static func number(_ number: UInt64) -> String {
        let digits = String(number.byteSwapped, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func local(_ item: UInt64, in parent: UInt64, _ name: String) -> String {
        let mark = String(repeating: number(1), count: 4)
        let name = String(format: "%02x00", name.utf8.count) + name.utf8.map { String(format: "%02x", $0) }.joined()
        return "INSERT INTO state VALUES (7, x'\(number(item))', x'\(mark)\(number(parent))\(name)01ed010000');"
    }

    private static func taken(_ file: String, _ path: String) -> String {
        let path = String(format: "%02x00", path.utf8.count) + path.utf8.map { String(format: "%02x", $0) }.joined()
        return "INSERT INTO state VALUES (8, CAST('\(file)' AS BLOB), x'\(path)\(path)');"
    }

    private static func place(_ index: Int, _ value: UInt64) -> String {
        """
        UPDATE state SET value = CAST(substr(value, 1, \(index * 8)) || x'\(number(value))'
        || substr(value, \(index * 8 + 9)) AS BLOB) WHERE key = CAST('place' AS BLOB);
        """
    }

    private static let forged: [(what: String, script: String)] = [
        ("a circle", local(1_001, in: 1_002, "x") + local(1_002, in: 1_001, "y")),
        ("an item in itself", local(1_001, in: 1_001, "x")), ("no directory", local(1_001, in: 5_000, "x")),
        ("two items at one place", local(1_001, in: 0, "x") + local(1_002, in: 0, "x")),
        ("the last number", local(.max, in: 0, "x")), ("a name that leads outside", local(1_001, in: 0, "..")),
        ("the last index", place(0, .max)), ("the last number of an entry", place(3, .max)),
        ("the last number of an item", place(4, .max)), ("a file elsewhere", taken("../../victim", "f")),
        ("a path that leads outside", taken("out.01", "../victim")),
        ("a path of the library", taken("out.01", ".group/journal/9.log")),
        (
            "a cluster elsewhere",
            "UPDATE state SET value = replace(value, '\"shared\"', '\"../x\"') WHERE key = CAST('identity' AS BLOB);"
        ),
        ("a row of another type", "INSERT INTO state VALUES (7, 5, x'00');"),
        ("another table", "DROP TABLE state; CREATE TABLE state (a);"),
    ]

    @Test func `rows that the program does not write are an error, and leaving and joining again loses nothing`() throws
    {
        let manager = FileManager.default
        let victim = "\(a.temporary.directory)/victim"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: victim))
        let good = "\(a.temporary.directory)/good"
        try manager.copyItem(atPath: "\(directory)/state", toPath: good)
        let tree = a.tree
        for (what, script) in Self.forged {
            for name in try manager.contentsOfDirectory(atPath: directory) {
                try manager.removeItem(atPath: "\(directory)/\(name)")
            }
            try manager.copyItem(atPath: good, toPath: "\(directory)/state")
            #expect(
                try RunningProcess(["sqlite3", "\(directory)/state"], input: script).finish().status == 0, "\(what)")
            let (status, text) = try join()
            #expect(status == 65 && text.contains("damaged") && text.contains("leave"), "\(what): \(status) \(text)")
            #expect(a.tree == tree, "\(what)")
        }
        #expect(manager.contents(atPath: victim) == Data("mine".utf8))
        let leave = try RunningProcess(["group-cluster", "leave", a.path + "/"], input: "").finish()
        #expect(leave.status == 0, "\(leave)")
        try a.start()
        #expect(try eventually { try a.recorded()?.toApply == 0 && a.recorded()?.toSend == 0 })
        #expect(a.tree == tree)
    }

    @Test func `a state that others could write is used when its options were stated again`() throws {
        #expect(mode.map { $0 & 0o1777 } == 0o700)
        // As earlier versions made it in a container of a Unix group.
        try FileManager.default.setAttributes([.posixPermissions: 0o2770], ofItemAtPath: directory)
        for _ in 0..<2 {
            let (status, text) = try join()
            #expect(status == 77 && text.contains("--etcd"), "\(status) \(text)")
            #expect(mode.map { $0 & 0o1777 } == 0o1700)
        }
        let (status, text) = try join("--etcd", etcd.endpoints.joined(separator: ","))
        #expect(status == 77, "\(status) \(text)")
        try a.start()
        #expect(mode.map { $0 & 0o1777 } == 0o700)
        try a.write("2", to: "g")
        #expect(try eventually { try a.recorded()?.index ?? 0 >= 2 && a.recorded()?.toSend == 0 })
        try a.end()
        // From then on they are kept.
        let program = try RunningProcess.bound(["group-cluster", "join", a.path + "/"])
        try program.waitForText { $0.contains("connected at index") }
        program.signal(SIGTERM)
        #expect(try program.finish().status == 0)
    }

    @Test(.enabled(if: isRoot, "needs root, to give a directory away"))
    func `a state of another user is refused`() throws {
        try FileManager.default.setAttributes([.ownerAccountID: 12_345], ofItemAtPath: directory)
        for command in ["join", "accept", "leave"] {
            let (status, text) = try RunningProcess(["group-cluster", command, a.path + "/"], input: "").finish()
            #expect(status == 77 && text.contains("belongs to user 12345"), "\(command): \(status) \(text)")
        }
        try FileManager.default.setAttributes([.ownerAccountID: 0], ofItemAtPath: directory)
        try a.start()
    }
}
#endif
