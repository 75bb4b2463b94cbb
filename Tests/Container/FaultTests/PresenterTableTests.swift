import Foundation
import GroupContainer
import GroupLocking
import TestSupport
import Testing

/// Damage of `.group/presenters`, before and while items are presented.
@Suite(.ownThreads, .timeLimit(.minutes(3)), .tags(.process))
struct `A table of presenters` {
    /// A damage of the file, and the reason that an error has for it.
    struct Damage: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var script: String
        var reason: String
        /// The code of the doctor's finding.
        var finding = "partDamaged"

        func make(in container: TemporaryContainer) throws {
            let directory = "\(container.path)/.group"
            let (status, text) = try RunningProcess(
                ["sh", "-c", "set -e; cd \"$1\"; \(script)", "sh", directory], input: ""
            ).finish()
            if status != 0 { throw TemporaryContainer.Failed(description: text) }
        }
    }

    private static let damages = [
        Damage(
            testDescription: "another file",
            script: "printf 12345678 | dd of=presenters conv=notrunc status=none",
            reason: "the file is not a table of presenters"),
        Damage(
            testDescription: "no version",
            script: "printf '\\000' | dd of=presenters bs=1 seek=8 conv=notrunc status=none",
            reason: "the file is not a table of presenters"),
        Damage(
            testDescription: "a newer version",
            script: "printf '\\002' | dd of=presenters bs=1 seek=8 conv=notrunc status=none",
            reason: "the table of presenters has format 2, and this version knows 1", finding: "formatNewer"),
        Damage(
            testDescription: "cut short", script: "truncate -s 5000 presenters",
            reason: "the file was cut short: 5000 of 4206592 bytes are left"),
        Damage(
            testDescription: "empty", script: ": >presenters",
            reason: "the file was cut short: 0 of 4206592 bytes are left"),
        Damage(
            testDescription: "a FIFO", script: "rm presenters; mkfifo presenters",
            reason: "the file is not a regular file"),
        Damage(
            testDescription: "a symbolic link", script: "mv presenters real; ln -s real presenters",
            reason: "the file is a symbolic link"),
        Damage(
            testDescription: "a directory", script: "rm presenters; mkdir presenters", reason: "Is a directory",
            finding: "partDamaged"),
    ]

    private func presenter(of item: String, in container: TemporaryContainer) throws -> RunningProcess {
        let process = try container.member("present", item)
        try process.waitForText("presenting\n")
        return process
    }

    private func findings(_ container: TemporaryContainer, _ options: String...) throws -> [JSONFinding] {
        let outcome = try RunningProcess(["groupctl", "doctor", "--json", container.path] + options, input: "").finish()
        return try outcome.text.split(separator: "\n").map { try JSONFinding(String($0)) }
            .filter { !["leaderMissing", "fileSystemTemporary"].contains($0.code) }
    }

    private func expectError(_ outcome: (status: Int32, text: String), _ damage: Damage, _ path: String) {
        let start = "groupctl: cannot open '.group/presenters' in '\(path)': \(damage.reason); nothing was changed; "
        #expect(outcome.status == 65 && outcome.text.hasPrefix(start), "\(outcome)")
    }

    @Test(arguments: damages)
    func `a damaged table ends a presentation with an error, no other request, and is repaired`(damage: Damage) throws {
        let container = try TemporaryContainer()
        // An item was presented before, and no presenter is left in the member table.
        try presenter(of: "a", in: container).kill()
        _ = try container.groupctl("write", "a", input: "text")
        try damage.make(in: container)
        expectError(try container.groupctl("present", "a", "--", "true"), damage, container.path)
        #expect(try container.groupctl("read", "a").text == "text")
        let status = try container.groupctl("status")
        #expect(status.status == 0, "\(status)")
        let found = try findings(container)
        let isNewer = damage.finding == "formatNewer"
        #expect(found.map(\.code) == [damage.finding] && found.first?.item == ".group/presenters", "\(found)")
        #expect(found.first?.severity == "error" && found.first?.repairable == !isNewer)
        #expect(try findings(container, "--repair").map(\.repaired) == [!isNewer])
        if isNewer {
            expectError(try container.groupctl("present", "a", "--", "true"), damage, container.path)
        } else {
            #expect(try findings(container).isEmpty)
            withExtendedLifetime(try presenter(of: "a", in: container)) {}
        }
    }

    @Test(arguments: damages)
    func `a request does not pass a presenter whose table is damaged`(damage: Damage) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try damage.make(in: container)
        expectError(try container.groupctl("read", "a"), damage, container.path)
        expectError(try container.groupctl("write", "a", input: "new"), damage, container.path)
        #expect(try container.content("a") == "old" && !presenter.text.contains("asked"))
        let found = try findings(container, "--repair")
        #expect(found.map(\.code) == [damage.finding] && found.first?.repaired == false, "\(found)")
        if damage.finding != "formatNewer" {
            #expect(found.first?.remedy.contains("end its members") == true, "\(found)")
        }
        presenter.kill()
        // What dead presenters left in the member table is in no request's way.
        #expect(try container.groupctl("write", "a", input: "new").status == 0)
    }

    @Test func `a request does not pass a presenter whose table was removed`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try FileManager.default.removeItem(atPath: "\(container.path)/.group/presenters")
        let removed = Damage(
            testDescription: "removed", script: "", reason: "the file was removed while items were presented")
        expectError(try container.groupctl("read", "a"), removed, container.path)
        // No second table is made beside the one that the presenter uses.
        expectError(try container.groupctl("present", "b", "--", "true"), removed, container.path)
        let found = try findings(container)
        #expect(found.map(\.code) == ["partDamaged"] && found.first?.repairable == false, "\(found)")
        presenter.kill()
        #expect(try findings(container).isEmpty)
        #expect(try container.groupctl("read", "a").text == "old")
    }

    @Test func `a request does not pass a presenter whose table is cut short while it is mapped`() throws {
        let container = try TemporaryContainer()
        let tester = try container.open().coordinator(purpose: "tester").blocking
        let presenter = try presenter(of: "a", in: container)
        let side = Side { try tester.write(bytes: [1], to: "a") }
        try presenter.waitForText("asked")
        try presenter.send("ok")
        _ = try side.answer()
        let file = try #require(FileHandle(forWritingAtPath: "\(container.path)/.group/presenters"))
        try file.truncate(atOffset: 4_096)
        let error = #expect(throws: CoordinationError.self) { try tester.write(bytes: [2], to: "a") }
        #expect(error?.code == .damaged && error?.item == ".group/presenters", "\(error.debugDescription)")
        #expect(error?.reason.contains("the file was truncated") == true)
        #expect(try container.content("a") == "\u{1}")
    }

    @Test func `the doctor removes a dead presenter that another member's table still shows`() throws {
        let container = try TemporaryContainer()
        let other = try container.open()
        let presenters = try [presenter(of: "a", in: container), presenter(of: "b", in: container)]
        #expect(try findings(container).isEmpty)
        presenters[0].kill()
        let found = try findings(container)
        #expect(found.map(\.code) == ["presenterLeftovers"] && found.first?.severity == "note", "\(found)")
        #expect(try findings(container, "--repair").map(\.repaired) == [true])
        #expect(try findings(container).isEmpty)
        let memberTable = other.opened.lockManager.memberTable
        #expect(memberTable.presenterEntries() == [1])
        presenters[1].kill()
        #expect(try findings(container, "--repair").map(\.repaired) == [true])
        #expect(!memberTable.hasPresenters)
    }
}
