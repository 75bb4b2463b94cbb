import Foundation
import TestSupport
import Testing

@Suite(.tags(.process))
struct `A mistaken call` {
    @Test(arguments: [
        ("write g/ ./x", "leave out './'"), ("write g/ d/", "leave out the '/' at the end"),
        ("write x g/", "GROUP comes first: groupctl write g/ x"),
        ("move g/ b d", "cannot move 'd' in 'g/': a directory is there already; TO is the new path itself"),
        ("copy g/ b d", "pass 'd/b'"), ("copy -n g/ b c", "without -n the item is replaced"),
        ("create g/ --unix-group nosuchgrp", "cannot create 'g/': there is no Unix group of that name: 'nosuchgrp'"),
        ("create h/ --journal-size 1", "at least 4K"),
        ("channels follow g/ c -l l -- nosuchcmd", "cannot run 'nosuchcmd'"),
        ("write g/ b hello", "the content comes from standard input: echo TEXT | groupctl write GROUP PATH"),
        ("read g/b", "'g/b' is an item of a container: groupctl read g/ b"),
        ("read g/d/e", "groupctl read g/ d/e"), ("read g/ $PWD/container/d/e", "name the item 'd/e'"),
        ("read g/ $PWD/container//d/./e", "name the item 'd/e'"),
        ("copy g/ /etc/hostname h", "to copy a file from outside: groupctl write g/ h </etc/hostname"),
        ("write g/ -dash", "put '--' before a name that begins with '-'"),
        ("update g/ b -- false", "'false' ended with 1; nothing was changed"),
        ("create g/ --journal-size 1G", "the limits of its journal were set when it was created"),
    ])
    func `a mistaken call is refused with the corrected call`(line: String, advice: String) async throws {
        let container = try TemporaryContainer()
        for item in ["b", "c", "d/e"] { try await container.done("write", item, input: "1") }
        let outcome = try await container.shell("cd \"$1/..\" && ln -s container g && exec groupctl \(line)")
        #expect(outcome.errors.contains(advice), "\(outcome)")
        #expect(outcome.status == (line.hasSuffix("1G") ? 0 : line.hasSuffix("nosuchcmd") ? 127 : outcome.status))
        #expect(try await container.done("channels list").output.isEmpty)
    }

    @Test func `COMMAND before GROUP is a call with the two in their order`() async throws {
        let container = try TemporaryContainer()
        let outcome = try await container.shell("cd \"$1/..\" && exec watch-group make all ./container/")
        #expect(outcome.status == 64, "\(outcome)")
        #expect(outcome.errors.contains("watch-group ./container/ -- make all"), "\(outcome)")
    }

    @Test func `defaults list without a suite lists the suites`() async throws {
        let container = try TemporaryContainer()
        #expect(try await container.done("defaults list").lines == [])
        for suite in ["s", "r"] { try await container.done("defaults set", suite, "key", "1") }
        #expect(try await container.done("defaults list").lines == ["r", "s"])
        #expect(try await container.done("defaults list", "--json").text == "[\"r\",\"s\"]\n")
        #expect(try await container.done("defaults list", "s").lines == ["key\t1"])
    }

    @Test func `a long name is cut in a message`() async throws {
        let container = try TemporaryContainer()
        for words in [["read", "GROUP"], ["no-such-command", "GROUP"], ["write", "GROUP", "a"]] {
            let name = String(repeating: "x", count: 5_000)
            let outcome = try await container.start(
                "groupctl", words.map { $0 == "GROUP" ? container.path : $0 } + [name]
            ).finish()
            #expect(outcome.status == 64 && outcome.errors.count < 1_500, "\(outcome)")
        }
    }

    @Test func `a second listener of a name is told the first one's process`() async throws {
        let container = try TemporaryContainer()
        let first = try container.start("channels follow", "c", "--listener", "one", "--verbose")
        #expect(try await first.readLine(from: .errors)?.hasPrefix("listening") == true)
        let second = try await container.run("channels follow", "c", "--listener", "one")
        #expect(second.errors.contains("process \(first.identifier) ("), "\(second)")
        first.signal(15)
        _ = try await first.finish()
    }

    @Test func `a call with a missing COMMAND ends at once`() async throws {
        let container = try TemporaryContainer()
        for words in [[], ["--defaults", "s"]] {
            let outcome = try await container.start("watch-group", words + [container.path, "--", "nosuchcmd"]).finish()
            #expect(outcome.status == 127 && outcome.errors.contains("cannot run 'nosuchcmd'"), "\(outcome)")
        }
    }

    @Test func `a directory with a '/' at its end is accepted`() async throws {
        let container = try TemporaryContainer()
        try await container.done("mkdir", "d/")
        try await container.done("write", "d/a", input: "1")
        #expect(try await container.done("list", "d/").lines == ["d/a"])
    }
}
