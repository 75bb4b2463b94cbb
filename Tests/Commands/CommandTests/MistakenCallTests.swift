import Foundation
import TestSupport
import Testing

@Suite(.serialized)
struct `A mistaken call` {
    @Test(arguments: [
        ("write g/ ./x", "leave out './'"), ("write g/ d/", "leave out the '/' at the end"),
        ("write x g/", "GROUP comes first: groupctl write g/ x"),
        ("move g/ b d", "cannot move 'd' in 'g/': a directory is there already; TO is the new path itself"),
        ("copy g/ b d", "pass 'd/b'"), ("copy -n g/ b c", "without -n the item is replaced"),
        ("create g/ --unix-group nosuchgrp", "cannot create 'g/': there is no Unix group of that name: 'nosuchgrp'"),
        ("create h/ --journal-size 1", "at least 4K"),
        ("channels follow g/ c -l l -- nosuchcmd", "cannot run 'nosuchcmd'"),
        ("create g/ --journal-size 1G", "the limits of its journal were set when it was created"),
    ])
    func `a mistaken call is refused with the corrected call`(line: String, advice: String) async throws {
        let container = try await TemporaryContainer()
        for item in ["b", "c", "d/e"] { try await container.done("write", item, input: "1") }
        let outcome = try await container.shell("cd \"$1/..\" && ln -s container g && exec groupctl \(line)")
        #expect(outcome.errors.contains(advice), "\(outcome)")
        #expect(outcome.status == (line.hasSuffix("1G") ? 0 : line.hasSuffix("nosuchcmd") ? 127 : outcome.status))
        #expect(try await container.done("channels list").output.isEmpty)
    }

    @Test func `a call with a missing COMMAND ends at once`() async throws {
        let container = try await TemporaryContainer()
        for words in [[], ["--defaults", "s"]] {
            let outcome = try await container.start("watch-group", words + [container.path, "--", "nosuchcmd"]).finish()
            #expect(outcome.status == 127 && outcome.errors.contains("cannot run 'nosuchcmd'"), "\(outcome)")
        }
    }

    @Test func `a directory with a '/' at its end is accepted`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("mkdir", "d/")
        try await container.done("write", "d/a", input: "1")
        #expect(try await container.done("list", "d/").lines == ["d/a"])
    }
}
