import GroupSystemCalls
import TestSupport
import Testing

@testable import GroupContainer
@testable import GroupLog

@Suite(.timeLimit(.minutes(1)))
struct `Generations of items` {
    @Test func `an item's generation is the sequence number of its last change`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.generation(of: "a") == nil)
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        #expect(try tester.write(bytes: [1], to: "b") == .written(2))
        #expect(try tester.generation(of: "a") == 1)
        #expect(try tester.write(bytes: [1], to: "a") == .unchanged)
        #expect(try tester.generation(of: "a") == 1)
        #expect(try tester.setMode(0o600, of: "a") == .written(3))
        #expect(try tester.readVersion("a") == Versioned(value: [1], generation: 3))
        #expect(try tester.createDirectory("f") == .written(4))
        #expect(try tester.generation(of: "f") == 4)
        #expect(try sample.container.status().sequence == 4, "asking writes nothing")
    }

    @Test func `moving an item changes its generation, and moving the directory around it does not`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "d/a") == .written(2))
        #expect(try tester.move("d", to: "e").generation == 3)
        #expect(try tester.generation(of: "d/a") == nil)
        #expect(try tester.generation(of: "e/a") == 2)
        #expect(try tester.generation(of: "e") == 3)
        #expect(try tester.move("e/a", to: "a").generation == 4)
        #expect(try tester.generation(of: "a") == 4)
        #expect(try tester.remove("a").generation == 5)
        #expect(try tester.generation(of: "a") == nil)
        #expect(try tester.write(bytes: [1], to: "a") == .written(6))
        #expect(try tester.generation(of: "a") == 6)
    }

    @Test func `the generation of a symbolic link is that of its target`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [1], to: "a") == .written(1))
        try sample.temporary.run("ln", "-s", "a", "link")
        #expect(try tester.generation(of: "link") == 1)
        #expect(try tester.write(bytes: [2], to: "link", if: .generation(1)) == .written(2))
        #expect(try sample.history() == ["created a", "modified a"])
    }

    @Test func `reading a generation inside an access needs the item's lock`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        _ = try tester.write(bytes: [1], to: "a")
        try tester.coordinate(.reading("b"), .reading("a", .immediatelyAvailableMetadataOnly)) { access in
            #expect(code { try access.generation(of: "a") } == .invalidArgument)
            #expect(code { try access.readVersion("a") } == .invalidArgument)
            let none = try access.generation(of: "b")
            #expect(none == nil)
        }
        try tester.coordinate(.reading("a", .forUploading)) { access in
            #expect(code { try access.readVersion("a") } == .invalidArgument)
        }
        #expect(code { try tester.readVersion("b") } == .notFound)
        #expect(code { try tester.generation(of: "../b") } == .outsideContainer)
    }

    @Test func `generations and versioned values work in async calls as in blocking ones`() async throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator()
        #expect(try await tester.write(json: [1, 2], to: "numbers", if: .absent) == .written(1))
        let read = try await tester.readVersion("numbers", as: [Int].self)
        #expect(read == Versioned(value: [1, 2], generation: 1))
        #expect(try await tester.write(json: read.value + [3], to: "numbers", if: .generation(1)) == .written(2))
        #expect(try await tester.generation(of: "numbers") == 2)
        #expect(try tester.blocking.readVersion("numbers", as: [Int].self).value == [1, 2, 3])
        #expect(code { try tester.blocking.write(json: [4], to: "numbers", if: .generation(1)) } == .conflict)
        let content = try await tester.readBytes("numbers")
        #expect(try await tester.readVersion("numbers") == Versioned(value: content, generation: 2))
    }

    // fault: torn-read
    @Test func `generations that a reader sees never go back, and belong to the content read with them`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        #expect(try tester.write(bytes: [0], to: "file") == .written(1))
        let writers = (1...2).map { writer in
            Side {
                var written: [Generation: [UInt8]] = [:]
                for number in 0..<100 {
                    let content = [UInt8(writer), UInt8(number)]
                    let result = try tester.write(bytes: content, to: "file", durability: .relaxed)
                    if let generation = result.generation { written[generation] = content }
                }
                return written
            }
        }
        var seen: [Generation: [UInt8]] = [:]
        var last: Generation = 0
        while last < 201 {
            let version = try tester.readVersion("file")
            #expect(version.generation >= last)
            last = version.generation
            seen[last] = version.value
        }
        let written = try writers.map { try $0.answer() }.reduce(into: [1: [0]]) { $0.merge($1) { one, _ in one } }
        #expect(written.count == 201)
        for (generation, content) in seen { #expect(written[generation] == content, "generation \(generation)") }
    }

    // fault: flipped-bit
    @Test func `generations and conditional writes fail on a damaged journal, and nothing is written`() throws {
        let sample = try SampleContainer()
        let tester = sample.coordinator().blocking
        for name in ["a", "b", "c"] { _ = try tester.write(bytes: Array(name.utf8), to: ItemPath(name)) }
        let log = try sample.temporary.open(".group/journal/1.log", .readingAndWriting)
        let content = try log.readAll()
        let place = try #require(content.firstRange(of: Array("tester".utf8)))
        try sample.temporary.run(
            "sh", "-c", "printf X | dd of=.group/journal/1.log bs=1 seek=\(place.lowerBound) conv=notrunc status=none")
        #expect(code { try tester.generation(of: "c") } == .damaged)
        #expect(code { try tester.readVersion("c") } == .damaged)
        #expect(code { try tester.write(bytes: [9], to: "c", if: .generation(3)) } == .damaged)
        #expect(code { try tester.write(bytes: [9], to: "d", if: .absent) } == .damaged)
        #expect(code { try tester.remove("c", if: .generation(3)) } == .damaged)
        #expect(try sample.temporary.content(of: "c") == "c")
        #expect(try tester.write(bytes: [9], to: "c") == .written(4), "a write without a condition goes on")
    }
}
