import Testing

@testable import GroupContainer

@Suite(.timeLimit(.minutes(1)))
struct `Path patterns` {
    private static func matches(_ pattern: String, _ path: String) -> Bool {
        Glob(Array(pattern.utf8)).matches(Array(path.utf8))
    }

    @Test(
        arguments: [
            ("a", "a", true), ("a", "b", false), ("a", "ab", false), ("a/b", "a/b", true), ("a", "a/b", false),
            ("*", "a", true), ("*", "a/b", false), ("*", ".hidden", true), ("*.json", "x.json", true),
            ("*.json", ".json", true), ("*.json", "x.jsonl", false), ("a*c", "abbbc", true), ("a*c", "ac", true),
            ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false), ("*/b", "a/b", true), ("*/b", "b", false),
            ("?", "a", true), ("?", "", false), ("?", "ab", false), ("a?c", "a/c", false), ("??", "é", true),
        ])
    func `stars and question marks of a pattern match within one component`(
        pattern: String, path: String, expected: Bool
    ) {
        #expect(Self.matches(pattern, path) == expected)
    }

    @Test(
        arguments: [
            ("**", "a", true), ("**", "a/b/c", true), ("**", "", false), ("**/c", "c", true), ("**/c", "a/b/c", true),
            ("**/c", "a/c/b", false), ("a/**", "a/b", true), ("a/**", "a/b/c", true), ("a/**", "a", false),
            ("a/**", "ab/c", false), ("a/**/d", "a/d", true), ("a/**/d", "a/b/c/d", true), ("a/**/d", "a/b", false),
            ("**/b/**", "a/b/c", true), ("**/b/**", "a/b", false), ("**/**", "a", true), ("a/**/**", "a", false),
            ("**/*.json", "x.json", true), ("**/*.json", "a/b/x.json", true), ("a/**/b/*/c", "a/b/b/x/c", true),
            ("a/**/b/**/c", "a/c/b/b/c", true), ("a/**/b/**/c", "a/c/b", false), ("a**", "abc", true),
            ("a**", "a/b", false), ("**/a/*/b/**/c", "a/a/x/b/c", true),
        ])
    func `two stars of a pattern match across directories`(pattern: String, path: String, expected: Bool) {
        #expect(Self.matches(pattern, path) == expected)
    }

    @Test(
        arguments: [
            ("[abc]", "b", true), ("[abc]", "d", false), ("[a-c]", "b", true), ("[a-c]", "-", false),
            ("[a-]", "-", true), ("[-a]", "-", true), ("[!a-c]", "d", true), ("[!a-c]", "b", false), ("[!]", "!", true),
            ("[]a]", "]", true), ("[]a]", "a", true), ("[*]", "*", true), ("[*]", "x", false),
            ("[a-cx-z]y", "zy", true),
            ("x[0-9]*", "x1y", true), ("x[0-9]*", "xy", false), ("[c-a]", "b", false), ("[!a]", "", false),
        ])
    func `a class in a pattern matches one byte of it`(pattern: String, path: String, expected: Bool) {
        #expect(Self.matches(pattern, path) == expected)
    }

    @Test(
        arguments: [
            (#"\*"#, "*", true), (#"\*"#, "a", false), (#"\["#, "[", true), (#"\\"#, #"\"#, true),
            (#"a\?"#, "a?", true),
            (#"a\?"#, "ab", false), (#"\a"#, "a", true), (#"a\"#, "a", false), (#"a\"#, #"a\"#, false),
            (#"*\*"#, "ab*", true), (#"\*\*"#, "**", true), (#"\*\*"#, "a", false),
        ])
    func `an escape in a pattern matches the byte itself`(pattern: String, path: String, expected: Bool) {
        #expect(Self.matches(pattern, path) == expected)
    }

    @Test(
        arguments: [
            ("[", "[", true), ("[abc", "[abc", true), ("[abc", "a", false), ("a[", "a[", true),
            ("[a/b]", "[a/b]", true),
            ("[a/b]", "/", false), ("[]", "[]", true), ("", "", true), ("", "a", false), ("/a", "a", true),
            ("a/", "a", true), ("a//b", "a/b", true),
        ])
    func `a pattern that is not well formed matches its own text`(pattern: String, path: String, expected: Bool) {
        #expect(Self.matches(pattern, path) == expected)
    }

    @Test func `a pattern matches bytes that are not UTF-8`() {
        #expect(Glob([0x3f]).matches([0xff]))
        #expect(Glob([0xff, 0x2a]).matches([0xff, 0xfe]))
        #expect(!Glob([0xff]).matches([0xfe]))
    }

    @Test(
        arguments: [
            (String(repeating: "*a", count: 60) + "b", String(repeating: "a", count: 250)),
            (String(repeating: "**/", count: 12) + "b", String(repeating: "a/", count: 2_000) + "a"),
            (String(repeating: "**/a/", count: 12) + "b", String(repeating: "a/", count: 2_000) + "a"),
            (String(repeating: "**/*/", count: 12) + "b", String(repeating: "a/", count: 2_000) + "a"),
        ])
    func `matching comes to an end, however many stars a pattern has`(pattern: String, path: String) {
        #expect(!Self.matches(pattern, path))
    }

    @Test(
        arguments: [
            ("a/b", "a", true), ("a/b", "a/b", false), ("a/b", "b", false), ("a/b/c", "a", true), ("a", "a", false),
            ("a", "b", false), ("*/b", "x", true), ("*", "a", false), ("*.d/*", "x.d", true), ("*.d/*", "x", false),
            ("**", "a/b/c", true), ("a/**", "a", true), ("a/**", "a/b/c", true), ("a/**", "b", false),
            ("**/x", "a/b", true), ("a/**/x", "a", true), ("a/**/x", "a/x", true), ("a/**/x", "b", false),
            ("a/**/b/c", "a/b", true), ("a/*/c", "a/b/c", false), ("", "a", false),
        ])
    func `a pattern knows whether it could match below a directory`(pattern: String, directory: String, expected: Bool)
    {
        #expect(Glob(Array(pattern.utf8)).couldMatchBelow(Array(directory.utf8)) == expected)
    }
}
