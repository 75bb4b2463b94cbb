import Foundation
import GroupContainer
import TestSupport
import Testing

/// A device that fails with EIO, as a dying disk does: what the kernel then returns from `fsync` and keeps in its
/// memory is real.
@Suite(
    .tags(.process, .root),
    .ownThreads, .serialized, .enabled(if: BrokenDisk.whatIsMissing == nil, "\(BrokenDisk.whatIsMissing ?? "")"),
    .timeLimit(.minutes(5)))
struct `A disk that refuses to write` {
    private let disk: BrokenDisk

    private init() throws {
        disk = try BrokenDisk()
        #expect(try disk.run("groupctl", "create", "disk/c").status == 0)
        #expect(try disk.run("groupctl", "write", "disk/c", "item", input: "old\n").status == 0)
        #expect(try disk.run("groupctl", "defaults", "set", "disk/c", "s", "--durable", "key", "old").status == 0)
    }

    private func expect(_ status: Int32, _ code: String, of words: String..., input: String = "") throws {
        let found = try RunningProcess(disk.command("groupctl") + words + ["--json"], input: input).finish()
        #expect(found.status == status && found.text.contains(#""code":"\#(code)""#), "\(words): \(found)")
    }

    private func content(of item: String) throws -> String { try disk.run("cat", "disk/c/\(item)").text }

    private func expectHealth(except warning: String? = nil) throws {
        let found = try disk.run("groupctl", "doctor", "disk/c")
        if let warning {
            #expect(found.status == 1 && found.text.hasPrefix(warning) && !found.text.contains("error"), "\(found)")
        } else {
            #expect(found.status == 0 && found.text.hasSuffix("healthy\n"), "\(found)")
        }
        #expect(try disk.run("ls", "disk/c/.group/staging").text == "")
        let changes = try disk.run("groupctl", "changes", "disk/c", "--since", "start")
        #expect(changes.status == 0 && changes.text.hasPrefix("created\titem\n"), "\(changes)")
    }

    // fault: file-sync-fails
    @Test func `a write to a failing disk keeps the item's old content, each time it is tried`() throws {
        try disk.fail()
        // The second attempt fails, too, though the kernel has marked the pages clean by then.
        for _ in 0..<2 {
            try expect(74, "inputOutput", of: "write", "disk/c", "item", input: "new\n")
            #expect(try content(of: "item") == "old\n")
        }
        try expect(74, "inputOutput", of: "copy", "disk/c", "item", "copy")
        #expect(try disk.run("ls", "disk/c").text == "item\n")
        try disk.heal()
        try expectHealth()
        #expect(try disk.run("groupctl", "write", "disk/c", "item", input: "newer\n").status == 0)
        try disk.remount()
        #expect(try content(of: "item") == "newer\n")
        try expectHealth()
        try disk.end()
    }

    // fault: directory-sync-fails
    @Test func `a write whose disk fails behind the rename is visible, and reported as not durable`() throws {
        let writer = try Strace.start(
            disk.command("groupctl", "write", "disk/c", "item", "--json"), input: "new\n", fault: .stop,
            at: Strace.Call(name: "renameat", number: 1))
        let isStopped = try writer.waitUntilStopped()
        if !isStopped { Issue.record("\(try writer.finish())") }
        try #require(isStopped)
        try disk.fail()
        writer.resume()
        let (status, text) = try writer.finish()
        #expect(status == 74 && text.contains(#""code":"notDurable""#), "\(text)")
        #expect(try content(of: "item") == "new\n")
        // The journal's log was not kept, either: no write is durable as long as the log cannot be made anew.
        let again = try disk.run("groupctl", "write", "disk/c", "item", "--json", input: "again\n")
        #expect(again.status == 74, "\(again)")
        try disk.heal()
        #expect(try disk.run("groupctl", "write", "disk/c", "item", input: "newest\n").status == 0)
        try disk.remount()
        #expect(try content(of: "item") == "newest\n")
        // The disk refused the record, too; it was written again, and the journal went on in another file.
        try expectHealth(except: "warning  .group/journal/1.log: the disk refused to keep it (fdatasync failed)\n")
        try disk.end()
    }

    // fault: directory-sync-fails
    @Test func `a value on a failing disk is not durable until its log was made anew`() throws {
        let (logs, set) = ("disk/c/.group/defaults/s", ["set", "--durable", "key"])
        #expect(try disk.run("ls", logs).text == "1.log\n")
        try disk.fail()
        try expect(74, "notDurable", of: "defaults", set[0], "disk/c", "s", set[1], set[2], "new")
        #expect(try disk.run("groupctl", "defaults", "get", "disk/c", "s", "key").text.contains("new"))
        // The log's pages are clean by now: another sync of the same file would succeed. For another value, no segment
        // can be made.
        #expect(try disk.run("groupctl", "defaults", "set", "disk/c", "s", "--durable", "key", "again").status == 74)
        try disk.heal()
        // Syncing the same file is not enough: another one is made.
        #expect(try disk.run("groupctl", "defaults", "flush", "disk/c", "s").status == 0)
        #expect(try disk.run("ls", logs).text != "1.log\n")
        try disk.remount()
        #expect(try disk.run("groupctl", "defaults", "get", "disk/c", "s", "key").text.contains("new"))
        #expect(try disk.run("groupctl", "defaults", "set", "disk/c", "s", "--durable", "key", "last").status == 0)
        try expectHealth()
        try disk.end()
    }
}
