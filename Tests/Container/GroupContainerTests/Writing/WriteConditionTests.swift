import TestSupport
import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Write conditions` {
    private func conflict<Answer>(
        _ location: SourceLocation = #_sourceLocation, of body: () throws -> Answer
    ) -> CoordinationError? {
        let error = #expect(throws: CoordinationError.self, sourceLocation: location) { _ = try body() }
        #expect(error?.code == .conflict, sourceLocation: location)
        return error
    }

    @Test(
        arguments: [
            (WriteCondition.always, nil, true), (.always, 7, true), (.absent, nil, true), (.absent, 7, false),
            (.generation(7), nil, false), (.generation(7), 7, true), (.generation(7), 8, false),
            (.generation(7), 6, false),
        ] as [(WriteCondition, Generation?, Bool)])
    func `a write condition holds for the generations that it allows`(
        condition: WriteCondition, present: Generation?, holds: Bool
    ) {
        #expect(condition.holds(at: present) == holds)
    }

    @Test func `a conditional write needs the last generation, and its error contains it`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        #expect(try tester.write(bytes: [2], to: "a", if: .generation(1)) == .written(2))
        let error = conflict { try tester.write(bytes: [3], to: "a", if: .generation(1)) }
        #expect(error?.generation == 2)
        #expect(
            error?.description
                == "cannot write 'a' in '\(sample.container.path)': the item is at generation 2, not 1; read it again")
        #expect(try tester.readBytes("a") == [2])
        #expect(try sample.history() == ["created a", "modified a"])
        #expect(try sample.holding().isEmpty)
    }

    @Test func `a condition of absence or of a generation is about the item as it is now`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "d/a", if: .absent) == .written(2))
        let there = conflict { try tester.write(bytes: [2], to: "d/a", if: .absent) }
        #expect(there?.generation == 2)
        #expect(there?.reason == "the item is at generation 2, and was to be absent")
        #expect(conflict { try tester.write(bytes: [2], to: "d", if: .absent) }?.generation == 1)
        let gone = conflict { try tester.write(bytes: [2], to: "e/b", if: .generation(2)) }
        #expect(gone?.generation == nil && gone?.reason == "there is no item, rather than one at generation 2")
        #expect(try tester.remove("d/a").generation == 3)
        #expect(conflict { try tester.write(bytes: [1], to: "d/a", if: .generation(2)) }?.generation == nil)
        #expect(try tester.write(bytes: [1], to: "d/a", if: .absent) == .written(4))
        #expect(conflict { try tester.write(bytes: [1], to: "d/a", if: .generation(2)) }?.generation == 4)
        #expect(
            !sample.temporary.path.isEmpty && (try? sample.temporary.status(of: "e")) == nil, "no directory on the way")
    }

    @Test func `a condition that fails is a conflict though the bytes are the same`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        #expect(try tester.write(bytes: [1], to: "a", if: .generation(1)) == .unchanged)
        #expect(conflict { try tester.write(bytes: [1], to: "a", if: .generation(9)) }?.generation == 1)
        #expect(conflict { try tester.write(bytes: [1], to: "a", if: .absent) }?.generation == 1)
    }

    @Test func `a condition of a removal or a move is about the item that goes`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "d/a") == .written(2))
        #expect(conflict { try tester.remove("d/a", if: .generation(1)) }?.generation == 2)
        #expect(conflict { try tester.move("d/a", to: "b", if: .generation(1)) }?.generation == 2)
        #expect(conflict { try tester.remove("d/a", if: .absent) }?.generation == 2)
        #expect(try tester.move("d/a", to: "b", if: .generation(2)).generation == 3)
        #expect(conflict { try tester.move("b", to: "c", if: .generation(2)) }?.generation == 3)
        #expect(code { try tester.remove("d/a", if: .generation(2)) } == .notFound)
        #expect(try tester.remove("d", recursively: true, if: .generation(1)).generation == 4)
        #expect(try tester.remove("b", if: .generation(3)).generation == 5)
    }

    @Test func `a condition may be met several times within one access`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.coordinate(.writing("a"), .writing("b")) { (access) throws in
            #expect(try access.write(bytes: [1], to: "a", if: .absent) == .written(1))
            #expect(try access.write(bytes: [1], to: "b", if: .absent) == .written(2))
            #expect(try access.write(bytes: [2], to: "a", if: .generation(1)) == .written(3))
            #expect(conflict { try access.write(bytes: [2], to: "b", if: .generation(1)) }?.generation == 2)
            #expect(try access.readVersion("a") == Versioned(value: [2], generation: 3))
        }
    }

    @Test func `a condition in a transaction is about the items before the transaction`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        #expect(try tester.write(bytes: [1], to: "b") == .written(2))
        let failed = conflict {
            try tester.transaction(.writing("a"), .writing("b")) { access in
                try access.write(bytes: [2], to: "a", if: .generation(1))
                try access.write(bytes: [2], to: "b", if: .generation(1))
            }
        }
        #expect(failed?.generation == 2 && failed?.item == "b")
        #expect(try tester.readVersion("a") == Versioned(value: [1], generation: 1), "all or nothing")
        let made = try tester.transaction(.writing("a"), .writing("b"), .writing("c/d")) { access in
            try access.write(bytes: [2], to: "a", if: .generation(1))
            try access.write(bytes: [3], to: "a", if: .generation(1))
            try access.write(bytes: [1], to: "c/d", if: .absent)
            try access.remove("b", if: .generation(2))
        }
        #expect(made.generation == 3)
        #expect(try tester.readVersion("a") == Versioned(value: [3], generation: 3))
        #expect(try tester.generation(of: "c/d") == 3 && tester.generation(of: "c") == 3)
        #expect(try tester.generation(of: "b") == nil)
    }

    @Test func `a condition in a transaction takes account of external changes`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        try sample.temporary.put("x", at: "a")
        let failed = conflict {
            try tester.transaction(.writing("a")) { try $0.write(bytes: [2], to: "a", if: .generation(1)) }
        }
        #expect(failed?.generation == 2)
        #expect(try sample.history() == ["created a", "modified a"])
        try tester.transaction(.writing("a")) { try $0.write(bytes: [2], to: "a", if: .generation(2)) }
        #expect(try sample.history() == ["created a", "modified a", "modified a"])
    }

    @Test func `conditional writes of many threads lose no update`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        try tester.write(json: 0, to: "counter", durability: .relaxed)
        let sides = (0..<4).map { _ in
            Side {
                var count = 0
                while count < 25 {
                    let read = try tester.readVersion("counter", as: Int.self)
                    do {
                        try tester.write(
                            json: read.value + 1, to: "counter", durability: .relaxed,
                            if: .generation(read.generation))
                        count += 1
                    } catch let error as CoordinationError where error.code == .conflict {
                        #expect(error.generation ?? 0 > read.generation)
                    }
                }
            }
        }
        for side in sides { try side.answer() }
        #expect(try tester.read("counter", as: Int.self) == 100)
    }
}
