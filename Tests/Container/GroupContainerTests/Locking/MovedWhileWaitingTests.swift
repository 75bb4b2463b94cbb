import Foundation
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Items moved while their lock is awaited` {
    /// Waits for an item while its holder moves items, then returns what the access found.
    private func found(
        _ sample: SampleContainer, _ intent: AccessIntent, while holding: [AccessIntent],
        _ change: (Access) throws -> Void
    ) throws -> [UInt8] {
        let tester = sample.coordinator().blocking
        var side: Side<[UInt8]>?
        try tester.run(ItemCall(operation: "test", intents: holding), .relaxed, patience) { access in
            side = Side {
                try tester.coordinate(intent, timeout: patience) { access in
                    if intent.isStructural { return try access.absolutePath(of: intent.path).bytes }
                    return try access.readBytes(intent.path)
                }
            }
            #expect(try eventually { try sample.isWaited(for: intent.path.description) })
            try change(access)
        }
        return try #require(side).answer()
    }

    @Test func `an item that is moved while its lock is awaited is found, alone or with its directory`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [7], to: "a/b")
        let alone = try found(
            sample, .reading("a/b"), while: [.writing("a/b", .forMoving), .writing("c/d", .forReplacing)]
        ) { access in
            _ = try access.move("a/b", to: "c/d")
        }
        #expect(alone == [7])
        let withDirectory = try found(
            sample, .writing("c/d"), while: [.writing("c", .forMoving), .writing("e", .forReplacing)]
        ) { access in
            _ = try access.move("c", to: "e")
        }
        #expect(withDirectory == [7])
        let twice = try found(
            sample, .writing("e/d", .forMoving),
            while: [.writing("e", .forMoving), .writing("f", .forReplacing), .writing("g", .forReplacing)]
        ) { access in
            _ = try access.move("e", to: "f")
        }
        #expect(twice.suffix(3) == Array("f/d".utf8))
        #expect(try sample.isQuiet())
    }

    @Test func `an item that is moved while its lock is awaited is removed or moved on from its new place`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for (path, goal) in [("a", "b"), ("c", "d")] as [(ItemPath, ItemPath)] {
            _ = try tester.write(bytes: [7], to: path)
            var side: Side<Bool>?
            try tester.run(
                ItemCall(
                    operation: "test", intents: [.writing(path, .forMoving), .writing(goal, .forReplacing)]), .relaxed,
                patience
            ) { access in
                side = Side {
                    if path == "a" {
                        _ = try tester.coordinate(.writing("a", .forDeleting), timeout: patience) { try $0.remove("a") }
                    } else {
                        let ends: [AccessIntent] = [.writing("c", .forMoving), .writing("e", .forReplacing)]
                        try tester.run(ItemCall(operation: "test", intents: ends), .relaxed, patience) {
                            _ = try $0.move("c", to: "e")
                        }
                    }
                    return true
                }
                #expect(try eventually { try sample.isWaited(for: path.description) })
                _ = try access.move(path, to: goal)
            }
            #expect(try #require(side).answer())
            #expect(code { try tester.readBytes(goal) } == .notFound)
        }
        #expect(try tester.readBytes("e") == [7])
    }

    @Test func `removing an item that a directory replaced without coordination is a conflict`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [7], to: "a")
        let outcome = try tester.coordinate(.writing("a", .forDeleting), timeout: patience) { access in
            let place = sample.temporary.path + "/a"
            try FileManager.default.removeItem(atPath: place)
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
            return code { try access.remove("a") }
        }
        #expect(outcome == .conflict)
    }

    @Test func `an awaited item that was moved away and written again is the new one`() throws {
        let sample = try SampleContainer()
        _ = try sample.coordinator().blocking.write(bytes: [7], to: "a")
        let content = try found(
            sample, .reading("a"), while: [.writing("a", .forMoving), .writing("b", .forReplacing)]
        ) { access in
            _ = try access.move("a", to: "b")
            _ = try access.write(bytes: [8], to: "a")
        }
        #expect(content == [8])
    }

    @Test func `an item that is removed while its lock is awaited is missing`() throws {
        let sample = try SampleContainer()
        _ = try sample.coordinator().blocking.write(bytes: [7], to: "a")
        #expect(
            code {
                try found(sample, .reading("a"), while: [.writing("a", .forDeleting)]) { access in
                    _ = try access.remove("a")
                }
            } == .notFound)
    }

    @Test func `a move trail follows the records of an item's moves`() throws {
        func moved(_ from: String, _ to: String) -> ChangeRecord {
            ChangeRecord(
                .moved, path: Array(to.utf8), from: Array(from.utf8), state: nil, isCoordinated: true,
                processIdentifier: 1, purpose: [], time: 0)
        }
        var trail = MoveTrail(of: try ItemLocation(Array("a/b/c".utf8)))
        for record in [moved("a/bb", "x"), moved("a/b/c/d", "y"), moved("z", "a/b")] { trail.note(record) }
        #expect(!trail.hasMoved)
        for record in [moved("a", "n"), moved("n/b/c", "o"), moved("n", "p")] { trail.note(record) }
        #expect(trail.hasMoved && trail.location.bytes == Array("o".utf8))
    }
}
