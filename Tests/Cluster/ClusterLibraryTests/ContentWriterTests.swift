import Foundation
import GroupContainer
import TestSupport
import Testing

@testable import Cluster

/// Which machine has written a content, as the journal shows it.
@Suite(.ownThreads, .timeLimit(.minutes(1)))
struct `The writer of a content` {
    private let temporary: TemporaryContainer
    private let container: Container

    init() throws {
        temporary = try TemporaryContainer()
        container = try temporary.open()
    }

    private func status(_ hosts: String...) -> ClusterStatus {
        var status = ClusterStatus(
            name: "c", host: "here", machine: "", endpoints: [], processIdentifier: 1, since: Date())
        status.machines = hosts.map {
            ClusterStatus.Machine(
                machine: ClusterRecords.newName(), host: $0, isRunning: true, index: 1, seenAt: nil, notedAt: nil)
        }
        return status
    }

    /// Writes an item, and returns the change that the journal has of that.
    private func change(by purpose: String?) throws -> Change {
        let name = purpose ?? "plain"
        if let purpose {
            try container.coordinator(purpose: purpose).blocking.write(bytes: Array(name.utf8), to: "f")
        } else {
            try Data(name.utf8).write(to: URL(fileURLWithPath: "\(temporary.path)/f"))
            _ = try container.coordinator(purpose: "test").blocking.generation(of: "f")
        }
        return try #require(temporary.changes(container).lastWrite(of: "f"))
    }

    @Test func `a purpose with another machine's name is that machine's`() throws {
        let known = status("there", "away")
        for (purpose, expected) in [
            (nil, .thisMachine), ("app", .thisMachine), ("app@here", .thisMachine), ("here", .thisMachine),
            ("conflict", .thisMachine), ("@there", .otherMachine("there")), ("app@there", .otherMachine("there")),
            ("a@b@away", .otherMachine("away")), ("app@new", .otherMachine("new")), ("cluster", .unknown),
            ("there", .otherMachine("there")),
        ] as [(String?, ContentWriter)] {
            #expect(known.writer(of: try change(by: purpose)) == expected, "\(purpose ?? "none")")
        }
    }

    @Test func `a purpose is not known if another machine has this one's name`() throws {
        #expect(status("here").writer(of: try change(by: "app@here")) == .unknown)
        var old = status()
        old.machines = nil
        #expect(old.writer(of: try change(by: "app")) == .thisMachine)
        #expect(old.writer(of: try change(by: nil)) == .thisMachine)
    }

    @Test func `the last write of an item is found through moves of it and of its directories`() throws {
        let coordinator = container.coordinator(purpose: "mover").blocking
        try container.coordinator(purpose: "one").blocking.write(bytes: [1], to: "d/a")
        try container.coordinator(purpose: "two").blocking.write(bytes: [2], to: "b")
        try coordinator.move("d", to: "e")
        try coordinator.move("e/a", to: "c")
        let changes = try temporary.changes(container)
        #expect(changes.lastWrite(of: "c")?.author?.purpose == "one")
        #expect(changes.lastWrite(of: "b")?.author?.purpose == "two")
        for path: ItemPath in ["d/a", "e/a", "none"] { #expect(changes.lastWrite(of: path) == nil) }
        try coordinator.remove("b")
        #expect(try temporary.changes(container).lastWrite(of: "b") == nil)
    }
}
