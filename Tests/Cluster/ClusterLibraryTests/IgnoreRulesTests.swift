import Foundation
import TestSupport
import Testing

@testable import Cluster

/// The patterns of a `.groupignore`.
@Suite(.ownThreads, .timeLimit(.minutes(1)), .tags(.process))
struct `Patterns of what is not mirrored` {
    private static func ignores(_ text: String, _ path: String) -> Bool? {
        let isDirectory = path.hasSuffix("/")
        return IgnoreRules(bytes: Array(text.utf8)).ignores(
            path.split(separator: "/").map { Array($0.utf8) }, isDirectory: isDirectory)
    }

    /// Patterns, a path that ends with a '/' for a directory, and whether it is ignored.
    static let cases: [(patterns: String, path: String, expected: Bool?)] = [
        ("a", "a", true), ("a", "d/a", true), ("a", "d/a/", true), ("a", "ab", nil), ("*.o", "d/x.o", true),
        ("/a", "a", true), ("/a", "d/a", nil), ("d/a", "d/a", true), ("d/a", "e/d/a", nil), ("/*.o", "d/x.o", nil),
        ("a/", "a", nil), ("a/", "a/", true), ("a/", "d/a/", true), ("d/a/", "d/a", nil), ("d/a/", "e/d/a/", nil),
        ("**/d/a", "e/f/d/a", true), ("**/d/a", "d/a", true), ("d/**", "d/e/f", true), ("d/**", "d/", nil),
        ("d/**/a", "d/a", true), ("d/**/a", "d/e/f/a", true), ("**", "a", true), ("d*", "e/dx", true),
        ("d*/a", "dx/a", true), ("*", "d/a", true), ("/*", "d/a", nil), ("?", "é", nil), ("??", "é", true),
        ("[a-c]x", "bx", true), ("[!a-c]x", "bx", nil), ("[^a-c]x", "dx", true), ("[^a-c]x", "bx", nil),
        ("[[^]", "^", true), ("#a", "#a", nil), ("\\#a", "#a", true), ("!a", "a", false), (#"\!a"#, "!a", true),
        ("*.o\n!b.o", "b.o", false), ("*.o\n!b.o", "c.o", true), ("!b.o\n*.o", "b.o", true), ("", "a", nil),
        ("\n\n", "a", nil), ("/", "a", nil), ("!", "a", nil), ("a  ", "a", true), (#"a\ "#, "a ", true),
        (#"a\  "#, "a ", true), ("a\t", "a", nil), (" a", " a", true), ("a\r\nb", "a", true), ("\u{feff}a", "a", true),
    ]

    @Test(arguments: cases)
    func `patterns mean what they mean in a .gitignore`(patterns: String, path: String, expected: Bool?) {
        #expect(Self.ignores(patterns, path) == expected)
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/git"), "needs git"))
    func `git ignores the same paths`() throws {
        for (patterns, path, expected) in Self.cases {
            // git looks at the items.
            let directory = try TemporaryDirectory()
            #expect(try RunningProcess(["git", "init", "-q", directory.path], input: "").finish().status == 0)
            let place = URL(fileURLWithPath: "\(directory.path)/\(path)")
            let above = path.hasSuffix("/") ? place : place.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: above, withIntermediateDirectories: true)
            if !path.hasSuffix("/") { try Data().write(to: place) }
            try Data(patterns.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/.gitignore"))
            let name = path.hasSuffix("/") ? String(path.dropLast()) : path
            // Exact answers need --verbose: a match of '!' counts there.
            let git = try RunningProcess(
                ["git", "-C", directory.path, "check-ignore", "--no-index", "-v", "-n", "--", name], input: ""
            ).finish()
            let pattern = git.text.split(separator: "\t").first.map { $0.split(separator: ":", maxSplits: 2) } ?? []
            let answer: Bool? = pattern.count < 3 ? nil : !pattern[2].hasPrefix("!")
            // git also returns the match of a directory around the path.
            let around = path.split(separator: "/").indices.dropLast().compactMap { end in
                Self.ignores(patterns, path.split(separator: "/")[...end].joined(separator: "/") + "/")
            }
            #expect(answer == expected ?? around.last, "\(patterns) \(path): \(git.text)")
        }
    }

    @Test func `a line that is no pattern, and what is too much, are named and not used`() {
        let rules = IgnoreRules(bytes: Array("a\n[b\nc\\\nd".utf8))
        #expect(rules.fault?.hasPrefix("line 2: a '[' has no ']'") == true)
        for (path, expected) in [("a", true), ("[b", nil), ("c", nil), ("d", true)] as [(String, Bool?)] {
            #expect(rules.ignores([Array(path.utf8)], isDirectory: false) == expected)
        }
        for (line, fault) in [("/[[:alpha:]]x", "classes such as"), (#"[\a]"#, #"a '\' within"#)] {
            let rules = IgnoreRules(bytes: Array("a\n\(line)".utf8))
            #expect(rules.fault?.hasPrefix("line 2: \(fault)") == true, "\(String(describing: rules.fault))")
            #expect(rules.ignores([Array("ax".utf8)], isDirectory: false) == nil)
        }
        let many = IgnoreRules(bytes: (0...1_000).flatMap { Array("x\($0)\n".utf8) })
        #expect(many.fault?.contains("more than 1000 patterns") == true)
        #expect(many.ignores([Array("x999".utf8)], isDirectory: false) == true)
        #expect(many.ignores([Array("x1000".utf8)], isDirectory: false) == nil)
        let line = Array(repeating: UInt8(ascii: "#"), count: 65_535)
        let huge = IgnoreRules(bytes: line + [UInt8(ascii: "\n")] + Array("b".utf8))
        #expect(huge.fault?.contains("64 KiB") == true && huge.isEmpty)
        let cut = IgnoreRules(bytes: Array("a\n".utf8) + line)
        #expect(cut.ignores([Array("a".utf8)], isDirectory: false) == true)
        let endless = IgnoreRules(bytes: Array(repeating: UInt8(ascii: "*"), count: IgnoreRules.mostBytes + 1))
        #expect(endless.fault == "its first line is longer than 64 KiB; nothing of the file is used")
        #expect(endless.isEmpty && endless.ignores([Array("a".utf8)], isDirectory: false) == nil)
    }

    @Test func `20,000 drawn files of patterns are compared with drawn paths`() {
        var random = SeededGenerator(seed: 7)
        let bytes: [UInt8] = Array("a/*?[]!^-\\#\n\r \0".utf8) + [0xff, 0xc3]
        for _ in 0..<20_000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                bytes.randomElement(using: &random) ?? 0
            }
            let rules = IgnoreRules(bytes: text)
            for path in [["a"], ["a", "b"], ["a", "a", "\u{ff}"]] {
                _ = rules.ignores(path.map { Array($0.utf8) }, isDirectory: Bool.random(using: &random))
            }
        }
    }
}
