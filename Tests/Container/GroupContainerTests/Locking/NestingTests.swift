import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Nested requests` {
    // fault: requested-again
    @Test func `a nested request to read what the outer access holds is granted`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "file")
        try tester.coordinate(.writing("file")) { (outer) throws in
            _ = try outer.write(bytes: [2], to: "file")
            #expect(try tester.readBytes("file", timeout: .zero) == [2])
            try tester.coordinate(.reading("file"), timeout: .zero) { (inner) throws in
                #expect(try inner.readBytes("file") == [2])
                #expect(code { try inner.write(bytes: [3], to: "file") } == .invalidArgument)
            }
            // The inner access gave back what was lent to it, and not the outer lock.
            #expect(try sample.holding().map(\.path) == ["file"])
        }
        #expect(try sample.isQuiet())
    }

    // fault: requested-again
    @Test func `a nested request that would wait for its own access is refused at once`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "directory/file")
        let refused: [(AccessIntent, AccessIntent)] = [
            (.writing("directory/file"), .writing("directory/file")),
            (.reading("directory/file"), .writing("directory/file")),
            (.reading("directory/file"), .writing("directory", .forDeleting)),
            (.writing("directory", .forDeleting), .writing("directory/file")),
        ]
        for (outer, inner) in refused {
            try tester.coordinate(outer) { _ in
                let error = #expect(throws: CoordinationError.self) {
                    try tester.coordinate(inner, timeout: nil) { _ in }
                }
                #expect(error?.code == .deadlock && error?.item == inner.path.description)
            }
        }
        #expect(try sample.isQuiet())
    }

    @Test func `a nested request for another item is granted as any other`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.coordinate(.writing("a")) { (outer) throws in
            _ = try tester.write(bytes: [1], to: "b", timeout: .zero)
            try tester.coordinate(.reading("a"), .writing("c"), timeout: .zero) { (inner) throws in
                _ = try inner.write(bytes: inner.readBytesIfPresent("a") ?? [9], to: "c")
            }
            _ = try outer.write(bytes: [2], to: "a")
        }
        #expect(try tester.readBytes("c") == [9])
        #expect(try sample.isQuiet())
    }

    @Test func `a nested request is not held up by waiters for what the outer access holds`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        try tester.blocking.coordinate(.writing("a")) { _ in
            let both = Side {
                try tester.blocking.coordinate(.writing("a"), .writing("b"), timeout: patience) { _ in }
            }
            #expect(try eventually { try sample.isWaited(for: "b") })
            _ = try tester.blocking.write(bytes: [1], to: "b", timeout: .zero)
            _ = both
        }
    }

    // fault: opposite-order
    @Test func `a nested request that closes a cycle ends in an error, and the other is granted`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        for _ in 0..<50 {
            let (first, second) = (Event(), Event())
            func nested(_ own: Event, _ other: Event, _ outer: ItemPath, _ inner: ItemPath) -> Side<Bool> {
                Side {
                    try tester.blocking.coordinate(.writing(outer), timeout: patience) { _ in
                        own.happen()
                        _ = other.await()
                        do {
                            try tester.blocking.coordinate(.writing(inner), timeout: patience) { _ in }
                            return true
                        } catch let error as CoordinationError {
                            #expect(error.code == .deadlock)
                            return false
                        }
                    }
                }
            }
            let sides = [nested(first, second, "a", "b"), nested(second, first, "b", "a")]
            #expect(try sides.map { try $0.answer() }.filter { $0 }.count == 1)
        }
        #expect(try sample.isQuiet())
    }

    @Test func `a request of a thread that a closure started is not nested`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.coordinate(.writing("a")) { _ in
            let elsewhere = Side { try tester.readBytes("a", timeout: .zero) }
            #expect(code { try elsewhere.answer() } == .lockTimedOut)
        }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct `Locks on whole directories` {
    @Test(arguments: Obstacle.allCases)
    func `a lock on a whole directory waits for holders of items in it`(_ obstacle: Obstacle) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        for path in ["a/b/c/d/e", "a/b/x", "a/y"] as [ItemPath] {
            _ = try tester.blocking.write(bytes: [1], to: path)
        }
        for inner in ["a/b/c/d/e", "a/b/x", "a/y", "a"] as [ItemPath] {
            let letGo = try obstacle.hold(sample, .reading(inner))
            #expect(
                code { try tester.blocking.coordinate(.writing("a", .forDeleting), timeout: .zero) { _ in } }
                    == .lockTimedOut)
            // A lock on an item in the directory does not prevent writing to the directory itself.
            if inner != "a" { try tester.blocking.coordinate(.writing("a"), timeout: .zero) { _ in } }
            let remover = Side {
                try tester.blocking.coordinate(.writing("a", .forDeleting), timeout: patience) { _ in }
            }
            #expect(try eventually { try sample.isWaited(for: "a") })
            try letGo()
            try remover.answer()
        }
        #expect(try sample.isQuiet())
    }

    @Test(arguments: Obstacle.allCases)
    func `a lock on a whole directory excludes every access in it`(_ obstacle: Obstacle) throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        _ = try tester.blocking.write(bytes: [1], to: "a/b/c/d")
        let letGo = try obstacle.hold(sample, .writing("a", .forMoving))
        for inner in ["a/b/c/d", "a/b", "a/new", "a"] as [ItemPath] {
            for intent in [AccessIntent.reading(inner), .writing(inner)] {
                #expect(
                    code { try tester.blocking.coordinate(intent, timeout: .zero) { _ in } } == .lockTimedOut)
            }
        }
        try tester.blocking.coordinate(.writing("b"), timeout: .zero) { _ in }
        try letGo()
        #expect(try sample.isQuiet())
    }

    @Test func `a lock on a whole directory is granted while readers come and go in it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        for number in 0..<8 { _ = try tester.blocking.write(bytes: [1], to: "a/\(number)") }
        let isOver = Guarded(false)
        let crowd = (0..<8).map { number in
            Side {
                while !isOver.withLock({ $0 }) {
                    _ = try tester.blocking.readBytes("a/\(number)", timeout: patience)
                }
            }
        }
        for _ in 0..<20 {
            try tester.blocking.coordinate(.writing("a", .forMoving), timeout: patience) { _ in }
        }
        isOver.withLock { $0 = true }
        for side in crowd { try side.answer() }
        #expect(try sample.isQuiet())
    }
}
