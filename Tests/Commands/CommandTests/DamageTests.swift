import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A damaged container` {
    private static let calls: [[String]] = [
        ["create"], ["path"], ["list"], ["read", "a"], ["write", "a"], ["update", "a", "--", "echo", "x"], ["status"],
        ["changes", "--since", "start"],
    ]

    @Test(arguments: [
        "", "\0\0\0\0\0\0\0\0", "not JSON", "{}", "[1]", #"{"format": "one"}"#, #"{"format": 3}"#,
        #"{"format": 0, "container": "00", "lockInode": 1, "hashKey": "00"}"#, "{\"format\": 3, \"container\": \"",
    ])
    func `a damaged format file ends each command with 65 and is unchanged`(format: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let file = container.path + "/.group/format"
        try format.write(toFile: file, atomically: false, encoding: .utf8)
        for call in Self.calls {
            let words = [call[0], container.path] + call.dropFirst()
            let outcome = try await container.start("groupctl", words, input: "other").finish()
            #expect(outcome.status == 65, "\(call) \(outcome)")
            #expect(
                outcome.errors.hasPrefix("groupctl: cannot open '.group/format' in '\(container.path)': "),
                "\(call) \(outcome)")
        }
        #expect(try await container.watch().finish().status == 65)
        let error = try JSONError(try await container.run("read", "a", "--json"))
        #expect(error.code == "damaged" && error.item == ".group/format" && error.operation == "open", "\(error)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == format)
        #expect(try container.content("a") == "content")
    }

    @Test func `an older format is distinguished from damage, and doctor leaves it unchanged`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let file = container.path + "/.group/format"
        try #"{"format": 2}"#.write(toFile: file, atomically: false, encoding: .utf8)
        let error = try JSONError(try await container.run("read", "a", "--json"))
        #expect(error.code == "olderFormat" && error.advice?.contains("copy the items") == true, "\(error)")
        #expect(try await container.run("read", "a").status == 65)
        let doctor = try await container.run("doctor", "--repair", "--json")
        #expect(doctor.status == 1 && doctor.text.contains(#""code":"formatOlder""#), "\(doctor)")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == #"{"format": 2}"#)
        #expect(try container.content("a") == "content")
    }

    @Test(arguments: [#"{"format": 4}"#, #"{"format": 99, "container": {"new": "shape"}, "more": [1]}"#])
    func `a newer format is distinguished from damage`(format: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let file = container.path + "/.group/format"
        try format.write(toFile: file, atomically: false, encoding: .utf8)
        for call in Self.calls {
            let words = [call[0], container.path] + call.dropFirst()
            let outcome = try await container.start("groupctl", words, input: "other").finish()
            #expect(outcome.status == 65, "\(call) \(outcome)")
            #expect(outcome.errors.contains("nothing was changed; use a newer version of this program"), "\(outcome)")
        }
        #expect(try JSONError(try await container.run("read", "a", "--json")).code == "newerFormat")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == format)
        #expect(try container.content("a") == "content")
    }

    @Test func `a flipped bit in the journal is reported, and the intact part readable`() async throws {
        let container = try TemporaryContainer()
        for name in ["first", "second", "third"] { try await container.done("write", name, input: "x") }
        let file = container.path + "/.group/journal/1.log"
        let handle = try #require(FileHandle(forUpdatingAtPath: file))
        let content = try #require(try handle.readToEnd())
        let place = try #require(content.range(of: Data("second".utf8)))
        try handle.seek(toOffset: UInt64(place.lowerBound))
        try handle.write(contentsOf: Data("S".utf8))
        try handle.close()

        let outcome = try await container.run("changes", "--since", "start")
        #expect(outcome.status == 65, "\(outcome)")
        #expect(outcome.lines == ["created\tfirst"])
        #expect(outcome.errors.contains(".group/journal"), "\(outcome)")
        #expect(try await container.done("read", "second").text == "x", "the items are not the journal")
    }

    @Test(arguments: ["members", "lock", "journal/1.log"])
    func `an emptied file of the container crashes no command`(part: String) async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a", input: "content")
        try Data().write(to: URL(fileURLWithPath: container.path + "/.group/" + part))
        for call in [["read", "a"], ["changes", "--since", "start"], ["status"]] {
            let words = [call[0], container.path] + call.dropFirst()
            let outcome = try await container.start("groupctl", words).finish()
            // A part that can be created anew is created; other damage is reported.
            #expect([0, 65].contains(outcome.status), "\(part) \(call) \(outcome)")
            #expect(outcome.status == 0 || outcome.errors.contains(".group/"), "\(part) \(call) \(outcome)")
        }
        #expect(try container.content("a") == "content")
    }
}
