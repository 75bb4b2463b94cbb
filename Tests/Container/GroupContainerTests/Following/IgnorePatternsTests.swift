import Foundation
import TestSupport
import Testing

@testable import GroupContainer

@Suite(.ownThreads, .timeLimit(.minutes(2)), .tags(.process))
struct `Patterns that ignore items` {
    private static func isIgnored(_ path: String, by filter: ChangeFilter) -> Bool {
        let isDirectory = path.hasSuffix("/")
        return !filter.matches(
            ItemPath(isDirectory ? "\(path.dropLast())" : path), type: isDirectory ? .directory : .file)
    }

    private static func filter(linesOf text: String) throws -> ChangeFilter {
        var filter = ChangeFilter()
        try filter.ignore(linesOf: Array(text.utf8))
        return filter
    }

    /// Patterns, a path that ends with a '/' for a directory, and whether it is ignored.
    @Test(
        arguments: [
            ("*.tmp", "x.tmp", true), ("*.tmp", "d/e/x.tmp", true), ("*.tmp", "x.tmp/in", true), ("*.tmp", "x", false),
            ("/build/", "build/", true), ("/build/", "build", false), ("/build/", "build/a/b", true),
            ("/build/", "d/build/", false), ("build/", "d/build/", true), ("build/", "d/build", false),
            ("a/b", "a/b", true), ("a/b", "a/b/c", true), ("a/b", "d/a/b", false), ("a/b", "a/bc", false),
            ("**/x", "x", true), ("**/x", "a/b/x", true), ("x/**", "x/", false), ("x/**", "x/a", true),
            ("a/**/b", "a/b", true), ("a/**/b", "a/c/d/b", true), ("a/***/b", "a/c/d/b", true), ("?", "a", true),
            ("[a-z]", "d/q", true), ("[!a]", "a", false), ("[!a]", "b", true), ("[^a]", "a", false),
            ("\\*", "*", true), ("\\*", "a", false), ("#a", "#a", false), ("\\#a", "#a", true), ("\\!a", "!a", true),
            ("a  ", "a", true), ("a\\ ", "a ", true), ("\n\na\r\n", "a", true), ("*.o\n!keep.o", "keep.o", false),
            ("*.o\n!keep.o", "d/keep.o", false), ("*.o\n!keep.o", "x.o", true), ("!a\na", "a", true),
            ("d/\n!d/keep", "d/keep", true), ("d/*\n!d/keep", "d/keep", false), ("d/*\n!d/keep", "d/x", true),
            ("*\n!*/\n!*.c", "a/b/x.c", false), ("*\n!*/\n!*.c", "a/b/", false), ("*\n!*/\n!*.c", "a/b/x.o", true),
        ])
    func `patterns mean what they mean in a .gitignore at the container's root`(
        text: String, path: String, expected: Bool
    ) throws {
        #expect(Self.isIgnored(path, by: try Self.filter(linesOf: text)) == expected)
    }

    @Test func `of an item without a type, a pattern for directories matches only the directories above`() throws {
        let filter = try ChangeFilter(ignoring: ["build/"])
        #expect(filter.matches("build") && !filter.matches("build/a") && !filter.matches("build", type: .directory))
        #expect(filter.matches("build", type: .symbolicLink))
    }

    @Test func `an ignored item is out even if another pattern includes it`() throws {
        let filter = try ChangeFilter(including: ["src/**"], ignoring: ["*.o", "!keep.o"])
        #expect(filter.matches("src/a") && !filter.matches("src/a.o") && !filter.matches("keep.o"))
        #expect(filter.matches("src/keep.o"))
    }

    @Test(
        arguments: [
            ("", "the pattern is empty"), ("/", "no name"), ("!", "no name"), ("a//b", "empty component"),
            ("./a", "'.' or '..'"), ("a/..", "'.' or '..'"), ("[a", "has no ']'"), ("a\\", "behind the '\\'"),
            ("a\\/", "behind the '\\'"), ("[[:alpha:]]", "classes such as"), ("[a\\]]", "within '[…]'"),
            ("[!]a]", "at the beginning of '[!…]'"), (String(repeating: "a", count: 4_097), "longer than 4096 bytes"),
        ])
    func `a pattern that cannot be used is refused with its reason`(pattern: String, reason: String) {
        let error = #expect(throws: CoordinationError.self) { try ChangeFilter(ignoring: ["b", pattern]) }
        #expect(error?.code == .invalidArgument && error?.reason.contains(reason) == true, "\(error as Any)")
        #expect(error?.item == String(pattern.prefix(200)))
    }

    @Test func `a refused line is named, and so are too many patterns`() {
        let refused = #expect(throws: CoordinationError.self) { try Self.filter(linesOf: "a\n# [b\n\n[c \n") }
        #expect(refused?.item == "[c" && refused?.reason.hasPrefix("line 4: a '['") == true, "\(refused as Any)")
        let many = #expect(throws: CoordinationError.self) {
            try Self.filter(linesOf: String(repeating: "a\n", count: 1_001))
        }
        #expect(many?.reason == "line 1001: there are more than 1000 patterns", "\(many as Any)")
    }

    // MARK: Comparison with git

    private static let names = ["a", "b", "ab", "a.c", "#a", "!b", "a ", "[a]", "-", "é"]
    private static let components = [
        "a", "b", "ab", "a.c", "*", "?", "**", "***", "a*", "*b", "?b", "**b", "*.c", "[a-b]", "[!a]", "[^b]", "[]a]",
        "[a-]*", "\\a", "\\#a", "\\!b", "#a", "!b", "a\\ ", "a ", "\\[a]", "[[]a]", "é",
    ]

    /// Returns a line: components that mean something, or any characters.
    private static func line(_ random: inout SeededGenerator) -> String {
        if Bool.random(using: &random) {
            return (0...Int.random(in: 0...7, using: &random)).map { _ in
                String("ab/*?[]!^-\\# .".randomElement(using: &random) ?? "a")
            }.joined()
        }
        let path = (0...Int.random(in: 0...2, using: &random)).compactMap { _ in
            components.randomElement(using: &random)
        }
        return (Int.random(in: 0..<4, using: &random) == 0 ? "!" : "")
            + (Int.random(in: 0..<4, using: &random) == 0 ? "/" : "") + path.joined(separator: "/")
            + (Int.random(in: 0..<3, using: &random) == 0 ? "/" : "")
    }

    /// Makes a tree; returns its paths, with a '/' at the end of a directory.
    private static func makeTree(_ directory: String, _ random: inout SeededGenerator) throws -> [String] {
        var paths: [String] = []
        var directories = [""]
        for _ in 0..<60 {
            let parent = directories.randomElement(using: &random) ?? ""
            let path = parent + (names.randomElement(using: &random) ?? "a")
            if parent.utf8.filter({ $0 == UInt8(ascii: "/") }).count > 3 || paths.contains(path)
                || paths.contains(path + "/")
            {
                continue
            }
            if Bool.random(using: &random) {
                try FileManager.default.createDirectory(
                    atPath: "\(directory)/\(path)", withIntermediateDirectories: false)
                paths.append(path + "/")
                directories.append(path + "/")
            } else {
                try Data().write(to: URL(fileURLWithPath: "\(directory)/\(path)"))
                paths.append(path)
            }
        }
        return paths
    }

    private static func git(_ directory: String, _ words: [String], input: String = "") throws -> String {
        let environment = ["GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": directory]
        return try RunningProcess(["git", "-C", directory] + words, input: input, environment: environment).finish()
            .text
    }

    @Test(
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/git"), "needs git"),
        arguments: [1, 2, 3, 4] as [UInt64])
    func `git ignores the same items, by drawn patterns that are not refused`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let directory = try TemporaryDirectory()
        _ = try Self.git(directory.path, ["init", "-q"])
        let paths = try Self.makeTree(directory.path, &random)
        let input = paths.map { $0.hasSuffix("/") ? "\($0.dropLast())\0" : "\($0)\0" }.joined()
        var (compared, ignored) = (0, 0)
        for round in 0..<100 {
            let lines = (0...Int.random(in: 0...4, using: &random)).map { _ in Self.line(&random) }
                .filter { (try? Self.filter(linesOf: $0)) != nil }
            let text = lines.joined(separator: "\n")
            let filter = try Self.filter(linesOf: text)
            try Data(text.utf8).write(to: URL(fileURLWithPath: "\(directory.path)/.git/info/exclude"))
            // With -v, git names the pattern that decides, also one that begins with '!'.
            let fields = try Self.git(
                directory.path, ["check-ignore", "--no-index", "-v", "-n", "-z", "--stdin"], input: input
            ).split(separator: "\0", omittingEmptySubsequences: false)
            try #require(fields.count == paths.count * 4 + 1, "\(fields)")
            for (index, path) in paths.enumerated() {
                let pattern = fields[index * 4 + 2]
                let expected = !pattern.isEmpty && !pattern.hasPrefix("!")
                #expect(
                    Self.isIgnored(path, by: filter) == expected,
                    "seed \(seed), round \(round): '\(path)' by \(lines); git's pattern: '\(pattern)'")
                compared += 1
                if expected { ignored += 1 }
            }
        }
        print("seed \(seed): \(compared) comparisons, \(ignored) ignored")
        #expect(ignored * 10 > compared && ignored * 10 < compared * 9, "the draw shows nothing")
    }
}
