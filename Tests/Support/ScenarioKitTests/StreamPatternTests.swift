import ScenarioKit
import Testing

@Suite struct `Stream patterns` {
    private func matches(_ expected: String, _ reported: [String]) throws -> Bool {
        let lines = expected.split(separator: "\n").enumerated().map { (number: $0.offset, text: String($0.element)) }
        let reported = try reported.map { text in
            let words = try Words.split(text.drop { $0 == "@" })
            return ReportedLine(
                String(decoding: words[0], as: UTF8.self), words[words.count - 1],
                from: words.count > 2 ? words[1] : nil,
                isCoordinated: text.hasPrefix("@"))
        }
        return StreamPattern.matches(try StreamPattern.parse(lines), reported)
    }

    @Test(arguments: [
        ("nothing", []), ("created a\nremoved a", ["created a", "removed a"]), ("moved a b", ["moved a b"]),
        ("modified+ a", ["modified a", "modified a"]), ("modified* a", []), ("modified? a", []),
        ("modified* a\nmodified a", ["modified a", "modified a"]), ("exchanged a b", ["exchanged b a"]),
        ("any+ d/**", ["created d/a", "removed d/a/b"]), ("@created a", ["@created a"]),
        ("in any order:\n  created a\n  created b", ["created b", "created a"]),
        ("in any order:\n  created a\n  any* a/**\n  created a/x", ["created a", "created a/y", "created a/x"]),
        ("in any order:\n  modified* a\n  created b\nmodified a", ["created b", "modified a", "modified a"]),
        ("either:\n  nothing\nor:\n  created a\n  removed a", []),
        ("either:\n  nothing\nor:\n  created a\n  removed a", ["created a", "removed a"]),
        ("either:\n  created a\nor:\n  created a\n  removed a\ncreated b", ["created a", "removed a", "created b"]),
    ])
    func `a stream that fits its pattern matches`(expected: String, reported: [String]) throws {
        #expect(try matches(expected, reported))
    }

    @Test(arguments: [
        ("nothing", ["created a"]), ("created a", []), ("created a\nremoved a", ["removed a", "created a"]),
        ("created a", ["created a", "created a"]), ("moved a b", ["moved b a"]),
        ("moved a b", ["removed a", "created b"]),
        ("created a", ["@created a"]), ("@created a", ["created a"]), ("modified+ a", []),
        ("modified? a", ["modified a", "modified a"]), ("exchanged a b", ["exchanged a c"]),
        ("any+ d/**", ["created d"]), ("any+ d/**", ["created da"]), ("any a", ["created b"]),
        ("in any order:\n  created a\n  created b", ["created a"]),
        ("in any order:\n  created a\n  created b", ["created a", "created b", "created a"]),
        ("either:\n  nothing\nor:\n  created a\n  removed a", ["created a"]),
    ])
    func `a stream that does not fit its pattern does not match`(expected: String, reported: [String]) throws {
        #expect(try !matches(expected, reported))
    }

    @Test func `a stream of thousands of lines is matched quickly`() throws {
        let reported = (1...3_000).map { "created d/\($0)" }
        #expect(try matches("in any order:\n  repeat 3000: created d/%", reported.reversed()))
        #expect(try !matches("in any order:\n  repeat 3000: created d/%", reported.dropLast() + ["created d/1"]))
    }
}
