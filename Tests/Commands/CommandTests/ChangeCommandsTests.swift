import Foundation
import TestSupport
import Testing

@Suite(.tags(.process, .root))
struct `groupctl mkdir, remove, move and copy` {
    private func history(_ container: TemporaryContainer) async throws -> [String] {
        try await container.done("changes", "--since", "start").lines
    }

    @Test func `mkdir, remove, move and copy are one change each`() async throws {
        let container = try TemporaryContainer()
        try await container.done("mkdir", "a/b")
        try await container.done("write", "a/b/file", input: "content")
        try await container.done("copy", "a/b/file", "copy", "--relaxed")
        try await container.done("move", "a", "c/d")
        try await container.done("move", "copy", "c/d/b/file")
        try await container.done("remove", "-r", "c", "--relaxed")
        #expect(
            try await history(container) == [
                "created\ta", "created\ta/b", "created\ta/b/file", "created\tcopy", "created\tc", "moved\tc/d\ta",
                "moved\tc/d/b/file\tcopy", "removed\tc",
            ])
        #expect(try await container.done("list").output.isEmpty)
        #expect(try await container.shell("ls \"$1/.group/staging\"").output.isEmpty)
    }

    @Test func `copy copies a directory as one transaction, with -r only`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a/b/file", input: "content")
        #expect(try await container.run("copy", "a", "c").status == 1)
        try await container.done("copy", "-r", "a", "c", "--relaxed")
        #expect(
            try await history(container) == [
                "created\ta", "created\ta/b", "created\ta/b/file", "created\tc", "created\tc/b", "created\tc/b/file",
            ])
        #expect(try container.content("c/b/file") == "content")
        #expect(try await container.run("copy", "-r", "-n", "a", "c").status == 4)
        #expect(try await container.run("copy", "-r", "a", "c").status == 1)
        #expect(try await container.run("copy", "-r", "a", "a/b/c").status == 64)
        _ = try await container.shell("mkfifo \"$1/a/fifo\"")
        let refused = try await container.run("copy", "-r", "a", "d")
        #expect(refused.status == 1 && refused.errors.contains("a/fifo"), "\(refused)")
    }

    @Test func `mkdir, remove, move and copy print their outcome with --json and --verbose`() async throws {
        let container = try TemporaryContainer()
        let json = { (words: [String]) in try await container.start("groupctl", words + ["--json"]).finish().text }
        let path = container.path
        #expect(try await json(["mkdir", path, "a"]) == #"{"path":"a","outcome":"created","generation":1}"# + "\n")
        #expect(
            try await json(["mkdir", path, "a"]) == #"{"path":"a","outcome":"unchanged","generation":null}"# + "\n")
        try await container.done("write", "f", input: "1")
        #expect(
            try await json(["copy", path, "f", "g"]) == #"{"path":"g","from":"f","outcome":"copied","generation":3}"#
                + "\n")
        #expect(
            try await json(["move", path, "g", "h"]) == #"{"path":"h","from":"g","outcome":"moved","generation":4}"#
                + "\n")
        #expect(try await json(["remove", path, "h"]) == #"{"path":"h","outcome":"removed","generation":5}"# + "\n")
        let verbose = try await container.done("move", "f", "g", "--verbose")
        #expect(verbose.output.isEmpty && verbose.errors == "'g' was moved from 'f', at generation 6\n")
        #expect(try await container.run("mkdir", "a", "--exit-code").status == 3)
        try await container.done("copy", "g", "f")
        #expect(try await container.run("copy", "g", "f", "--exit-code").status == 3)
        #expect(try await container.run("copy", "g", "f").status == 0)
    }

    @Test func `each refusal of mkdir, remove, move and copy has its own status`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a/file", input: "1")
        try await container.done("write", "b", input: "2")
        let before = try await history(container)
        for (words, status, message) in [
            (["remove", "a"], 1, "cannot remove 'a': Directory not empty"),
            (["remove", "missing"], 66, "cannot remove 'missing': No such file"),
            (["move", "missing", "x"], 66, "cannot move 'missing': No such file"),
            (["move", "-n", "b", "a/file"], 4, "cannot move 'a/file': File exists"),
            (["move", "b", "a"], 1, "cannot move"),
            (["move", "a", "a/x"], 64, "cannot move 'a': a directory cannot be moved into itself"),
            (["copy", "-n", "b", "a/file"], 4, "cannot copy 'a/file': File exists"),
            (["copy", "a", "x"], 1, "cannot copy 'a': the item is a directory"),
            (["copy", "b", "b"], 64, "cannot copy 'b': the item cannot be copied onto itself"),
            (["mkdir", "b"], 1, "cannot create directory 'b': the item is not a directory"),
            (["remove", ".group"], 77, "cannot remove '.group'"), (["remove", ".."], 77, "cannot remove '..'"),
            (["move", "b", "../b"], 77, "cannot move '../b'"), (["copy", "b", "/b"], 77, "cannot copy '/b'"),
            (["move", "b"], 64, "missing TO"),
        ] as [([String], Int32, String)] {
            let outcome = try await container.start("groupctl", [words[0], container.path] + words.dropFirst()).finish()
            #expect(outcome.status == status && outcome.output.isEmpty, "\(words) \(outcome)")
            let message = message.replacing("': ", with: "' in '\(container.path)': ")
            #expect(outcome.errors.hasPrefix("groupctl: \(message)"), "\(words) \(outcome)")
        }
        let error = try JSONError(try await container.run("remove", "a", "--json"))
        #expect(error.code == "notEmpty" && error.item == "a" && error.operation == "remove")
        #expect(try await history(container) == before)
    }

    @Test func `move and copy wait for the holder of either item, and name it`() async throws {
        let container = try TemporaryContainer()
        try await container.done("write", "a/file", input: "1")
        try await container.done("write", "b", input: "1")
        let holder = try await LockHolder(of: "b", in: container, purpose: "somebody")
        for words in [
            ["remove", "b"], ["move", "b", "c"], ["move", "a", "b"], ["copy", "a/file", "b"], ["copy", "b", "c"],
        ] {
            let outcome = try await container.start(
                "groupctl", [words[0], container.path, "--timeout", "0"] + words.dropFirst()
            ).finish()
            #expect(outcome.status == 75 && outcome.errors.contains("somebody"), "\(words) \(outcome)")
        }
        #expect(try await holder.release().status == 0)
    }

    @Test(.enabled(if: canPlayNobody, "needs root and setpriv(1)"))
    func `remove removes a tree with directories that its owner may not enter`() async throws {
        let container = try TemporaryContainer(creating: false)
        #expect(try await container.shell("chmod 711 \"${1%/*}\" && install -d -o nobody -g games \"$1\"").status == 0)
        let groupctl = BuildDirectory.resolve("groupctl")
        let script = """
            "$2" create "$1" && cd "$1" && mkdir -p a/b/c d && : >a/b/file && : >a/b/c/file && chmod 0 a/b/c && chmod 500 a/b a
            "$2" remove "$1" -r a && ls .group/staging && chmod 0 d && "$2" remove -r "$1" d && ls
            """
        let outcome = try await container.start(
            "setpriv", nobody(groups: "60") + ["sh", "-c", script, "sh", container.path, groupctl]
        ).finish()
        #expect(outcome.status == 0 && outcome.output.isEmpty, "\(outcome)")
    }

    @Test(arguments: [
        (["refresh", "GROUP", "w", "--interest", "conf/**"], "real"),
        (["refresh", "GROUP", "w", "--interest", "metadata:d/conf/x"], "d/real/x"),
        (["changes", "GROUP", "--since", "start", "--include", "conf/**"], "real"),
        (["changes", "GROUP", "--since", "start", "--include", "conf/*.txt"], "real"),
    ])
    func `a pattern that leads through a symbolic link is refused, with the real path`(
        call: [String], real: String
    ) async throws {
        let container = try TemporaryContainer()
        let script = "cd \"$1\"; mkdir -p real d/real; ln -s real conf; ln -s real d/conf"
        #expect(try await container.shell(script).status == 0)
        let words = call.map { $0 == "GROUP" ? container.path : $0 }
        let outcome = try await container.start("groupctl", words).finish()
        #expect(outcome.status == 64 && outcome.errors.contains("name the item '\(real)'"), "\(outcome)")
        if call[0] == "changes" {
            let watch = try await container.watch("--include", call[5]).finish()
            #expect(watch.status == 64 && watch.errors.contains("name the item '\(real)'"), "\(watch)")
            try await container.done("changes", "--since", "start", "--include", "conf")
        }
    }

    @Test func `a pattern through a link that is swapped names the links, too`() async throws {
        let container = try TemporaryContainer()
        let script = #"cd "$1"; mkdir ..2026_a; echo 1 > ..2026_a/x; ln -s ..2026_a ..data; ln -s ..data/x x"#
        #expect(try await container.shell(script).status == 0)
        let outcome = try await container.run("refresh", "w", "--interest", "x")
        #expect(
            outcome.errors.contains("name the item '..2026_a/x', and 'x', '..data', as a link may lead elsewhere"),
            "\(outcome)")
        // The advice can be followed, and then there is nothing to doubt; a swap is new data.
        let interests = ["--interest", "..2026_a/x", "--interest", "x", "--interest", "..data"]
        let first = try await container.start("groupctl", ["refresh", container.path, "w"] + interests).finish()
        #expect(first.status == 0 && first.errors.isEmpty, "\(first)")
        let swap = #"cd "$1"; mkdir ..2026_b; echo 2 > ..2026_b/x; ln -s ..2026_b n; mv -T n ..data"#
        #expect(try await container.shell(swap).status == 0)
        let second = try await container.start("groupctl", ["refresh", container.path, "w"] + interests).finish()
        #expect(second.status == 0 && second.text.contains("newData"), "\(second)")
    }

    @Test func `an interest that can match nothing is pointed out`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.shell(#"cd "$1"; mkdir real; ln -s real conf"#).status == 0)
        _ = try await container.defaults("s", "set", "k", "1")
        let suite = "there is no suite 'other' yet; there is 's'"
        let link =
            "'conf' is a symbolic link, and the changes of what it leads to are reported at their real path; name the item 'real', and 'conf', as a link may lead elsewhere later"
        for (call, text) in [
            (["refresh", container.path, "w", "--interest", "defaults:other"], suite),
            (["changes", container.path, "--since", "start", "--include", "conf"], link),
            (["refresh", container.path, "w", "--interest", "conf"], link),
        ] {
            let outcome = try await container.start("groupctl", call).finish()
            #expect(outcome.errors.contains(text), "\(call) \(outcome)")
        }
        for (call, text) in [(["--defaults", "other"], suite), (["--include", "conf"], link)] {
            let outcome = try await container.start(
                "watch-group", [container.path, "--timeout", "0"] + call
            ).finish()
            #expect(outcome.errors.contains(text), "\(call) \(outcome)")
        }
        // The first of these has made the suite.
        for _ in 1...2 {
            let errors = try await container.watch("--defaults", "other", "--timeout", "0").finish().errors
            #expect(errors.contains("the suite 'other' has no keys; there is 's'"), "\(errors)")
        }
        #expect(try await container.watch("--defaults", "s", "--timeout", "0").finish().errors.isEmpty)
    }

    @Test func `a pattern that names nothing, but almost an item, is pointed out`() async throws {
        let container = try TemporaryContainer()
        let (composed, decomposed) = ("caf\u{e9}", "cafe\u{301}")
        try await container.done("write", "notes/A.txt", input: "x")
        try await container.done("write", "\(composed)/x", input: "x")
        for (pattern, text) in [
            ("Notes/**", "there is 'notes', which differs in upper and lower case"),
            ("Notes/a.TXT", "there is 'notes/A.txt', which differs in upper and lower case"),
            ("notes/a.txt", "there is 'notes/A.txt', which differs in upper and lower case"),
            ("\(decomposed)/y/*", "there is '\(composed)', whose letters are encoded in another way"),
            ("notes/**", ""), ("notes/b.txt", ""), ("*/a.txt", ""), ("other/**", ""), (".GROUP/*", ""),
        ] {
            let expected = text.isEmpty ? "" : "watch-group: no item matches '\(pattern)' yet; \(text)\n"
            let watch = try await container.watch("--include", pattern, "--timeout", "0.01").finish()
            #expect(watch.errors == expected, "\(watch)")
            let quiet = try await container.watch("--include", pattern, "--timeout", "0.01", "--quiet").finish()
            #expect(quiet.errors.isEmpty, "\(quiet)")
            let changes = ["changes", container.path, "--since", "start", "--include", pattern]
            let recorded = try await container.start("groupctl", changes).finish()
            #expect(recorded.errors == expected.replacing("watch-group:", with: "groupctl:"), "\(recorded)")
        }
        let log = try await container.start("groupctl", ["log", container.path, "NOTES/a.txt"]).finish()
        #expect(log.status == 66 && log.errors.contains("; there is 'notes/A.txt', which differs"), "\(log)")
        // The name of a channel is no path.
        let remove = try await container.start("groupctl", ["channels", "remove", container.path, "NOTES", "x"])
            .finish()
        #expect(remove.status == 66 && remove.errors.contains("; groupctl channels status shows"), "\(remove)")
        let outcome = try await container.start("groupctl", ["read", container.path, "NOTES/a.txt"]).finish()
        #expect(
            outcome.status == 66 && outcome.errors.contains("; there is 'notes/A.txt', which differs"), "\(outcome)")
    }
}
