import Foundation
import TestSupport
import Testing

@Suite
struct `A file that a command keeps for its user` {
    @Test func `replaces a regular file, keeps its mode, and touches nothing beside it`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let (file, beside) = ("\(container.folder)/seen", "\(container.folder)/seen.new")
        try "precious".write(toFile: beside, atomically: false, encoding: .utf8)
        try "old".write(toFile: file, atomically: false, encoding: .utf8)
        #expect(unsafe chmod(file, 0o600) == 0)
        #expect(try await container.run("read", "a", "--generation-file", file).status == 0)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "1\n")
        #expect(try String(contentsOfFile: beside, encoding: .utf8) == "precious")
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: container.folder)
        #expect(!names.contains { $0.hasPrefix(".seen") })
    }

    @Test func `is refused where something else stands, which stays`() async throws {
        let container = try await TemporaryContainer()
        try await container.done("write", "a", input: "content")
        let script = "cd \"$2\" && mkfifo fifo && mkdir dir && echo x >target && ln -s target link"
        #expect(try await container.shell(script, container.folder).status == 0)
        for name in ["fifo", "dir", "link"] {
            let outcome = try await container.run("read", "a", "--generation-file", "\(container.folder)/\(name)")
            #expect(outcome.status != 0 && outcome.errors.contains(name), "\(outcome)")
        }
        #expect(try await container.run("read", "a", "--generation-file", "").status != 0)
        let still =
            "cd \"$2\" && test -p fifo && test -d dir && test -L link && cat target && ls -A . | grep -c '^\\.' || true"
        #expect(try await container.shell(still, container.folder).text == "x\n0\n")
    }
}
