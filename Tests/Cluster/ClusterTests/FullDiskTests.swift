#if Curl && SQLite
import EtcdSupport
import Foundation
import GroupContainer
import TestSupport
import Testing

/// One of two machines is on a small file system, which is filled.
@Suite(
    .tags(.process, .root, .etcd),
    .ownThreads, .timeLimit(.minutes(10)),
    .enabled(if: EtcdServer.isInstalled, "\(EtcdServer.needed)"),
    .enabled(if: SmallFileSystem.isPossible, "needs root and the permission to mount"))
struct `A machine whose disk is full` {
    private let etcd: EtcdServer
    private let disk: SmallFileSystem
    private let a: MachineUnderTest
    private let b: MachineUnderTest
    private let files = (0..<10).map { "f\($0)" }

    init() async throws {
        etcd = try EtcdServer()
        disk = try await SmallFileSystem(megabytes: 16)
        a = try MachineUnderTest("alpha", etcd: etcd.endpoints, on: disk)
        b = try MachineUnderTest("beta", etcd: etcd.endpoints)
        for machine in [a, b] { try machine.start() }
    }

    /// Leaves this many KiB of the small disk free.
    private func fill(leaving free: Int = 0) async throws {
        let outcome = try await disk.shell("fill; truncate -s -\(free)K disk/filler && sync")
        #expect(outcome.status == 0, "\(outcome)")
    }

    private func makeRoom() async throws { #expect(try await disk.shell("make_room").status == 0) }

    /// Writes files of this size on `b`.
    private func write(_ names: [String], _ letter: String, _ size: Int = 150_000) throws {
        for name in names { try b.write(String(repeating: letter, count: size - name.utf8.count) + name, to: name) }
    }

    private func isSame(_ names: [String]) -> Bool {
        names.allSatisfy { name in
            let content = FileManager.default.contents(atPath: "\(b.path)/\(name)")
            return content != nil && a.content(of: name) == content
        }
    }

    /// The files of the directory of contents of `a`.
    private var contents: [String] { a.names(in: ".group/cluster-contents") }

    private var isShownFull: Bool {
        get throws { (try a.status()["failure"] as? String)?.hasPrefix("no space on the disk since ") == true }
    }

    private func goesOn() throws -> Bool {
        try eventually {
            let status = try a.status()
            return status["failure"] is NSNull && status["connected"] as? Bool == true && status["toApply"] as? Int == 0
                && status["toSend"] as? Int == 0
        }
    }

    @Test func `a content without room waits, the others go on, and the status says so`() async throws {
        try await fill(leaving: 700)
        try write(["large"], "a", 1_500_000)
        #expect(try await eventually { try isShownFull })
        try b.write("x", to: "small")
        #expect(await eventually { isSame(["small"]) })
        #expect(try a.status()["connected"] as? Bool == true)
        #expect(a.content(of: "large") == nil)
        #expect(contents.allSatisfy { !$0.hasPrefix("new.") })
        try await makeRoom()
        #expect(await eventually { isSame(["large"]) })
        #expect(try goesOn())
    }

    @Test func `a file whose content cannot be kept is sent when there is room`() async throws {
        a.stop()
        let made = try await disk.shell("head -c 1500000 /dev/zero >disk/c/mine && echo y >disk/c/small")
        #expect(made.status == 0)
        try await fill(leaving: 700)
        a.resume()
        #expect(try await eventually { try isShownFull })
        #expect(await eventually { isSame(["small"]) })
        #expect(try await eventually { try a.status()["toSend"] as? Int == 1 })
        try await makeRoom()
        #expect(await eventually { isSame(["mine"]) })
        #expect(try goesOn())
    }

    @Test func `files that came out are removed on a full disk, and the machine goes on with their room`() async throws
    {
        try write(files, "a")
        #expect(await eventually { isSame(files) })
        try write(files, "b")
        #expect(await eventually { isSame(files) })
        try await fill()
        let small = (0..<20).map { "g\($0)" }
        try write(small, "c", 3_000)
        // Nothing makes room but the program.
        #expect(await eventually { isSame(small) })
        #expect(await eventually { contents.allSatisfy { !$0.hasPrefix("out.") } })
        try await makeRoom()
        #expect(try goesOn())
        #expect(isSame(files + small))
    }

    @Test func `a program that is started on a full disk removes what a killed one has taken out`() async throws {
        try write(files, "a")
        #expect(await eventually { isSame(files) })
        try write(files, "b")
        #expect(await eventually { isSame(files) })
        a.kill()
        try await fill()
        try a.begin()
        #expect(await eventually { contents.allSatisfy { !$0.hasPrefix("out.") } })
        try await makeRoom()
        #expect(try goesOn())
        #expect(isSame(files))
    }

    @Test func `a disk on which nothing can be stored is a failure of a program that runs, and nothing is lost`()
        async throws
    {
        try write(files, "a")
        #expect(await eventually { isSame(files) })
        #expect(await eventually { contents.isEmpty })
        try await fill()
        try write(files, "b")
        #expect(try await eventually { try isShownFull })
        let status = try a.status()
        #expect(status["process"] is Int && status["connected"] as? Bool == false, "\(status)")
        let findings = try a.findings()
        #expect(!findings.contains("clusterNotRunning"), "\(findings)")
        #expect(!a.hasEnded)
        try b.write("late", to: "late")
        try FileManager.default.removeItem(atPath: "\(b.path)/f9")
        try await makeRoom()
        #expect(await eventually { isSame(Array(files.dropLast()) + ["late"]) && a.content(of: "f9") == nil })
        #expect(try goesOn())
        // Ended while it waits for room. What came out of the exchanges is removed later, which would make room.
        #expect(await eventually { contents.isEmpty })
        try await fill()
        try write(files, "c")
        #expect(try await eventually { try isShownFull })
        try a.end()
        try await makeRoom()
        try a.start()
        #expect(await eventually { isSame(files) })
    }
}
#endif
