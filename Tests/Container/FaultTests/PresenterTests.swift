import Foundation
import Glibc
import GroupContainer
import GroupLocking
import GroupSystemCalls
import TestSupport
import Testing

/// Presenters and requests in processes of their own, which are killed and stopped.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Presenters of other processes` {
    private func presenter(of item: String, in container: TemporaryContainer) throws -> RunningProcess {
        let process = try container.member("present", item)
        try process.waitForText("presenting\n")
        return process
    }

    /// A request that goes on while the test plays the presenter.
    private func request(_ words: String..., input: String = "", in container: TemporaryContainer) throws
        -> RunningProcess
    {
        try RunningProcess(["groupctl", words[0], container.path] + words.dropFirst(), input: input)
    }

    @Test func `a read waits until the presenter has saved, and gets what it saved`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        let read = try request("read", "a", in: container)
        try presenter.waitForText("asked reader+save by \(read.identifier)\n")
        #expect(read.text.isEmpty)
        try presenter.send("save a new")
        let (status, text) = try read.finish()
        #expect(status == 0 && text == "new", "\(text)")
        try presenter.waitForText("reacquired after nothing\n")
        // The presenter is not informed of its own change.
        #expect(!presenter.text.contains("modified"), "\(presenter.text)")
    }

    @Test func `each kind of request asks what it has to, and the presenter reacquires with the change`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        let requests: [(words: [String], question: String, change: String)] = [
            (["write", "a"], "writer", "modified a"), (["update", "a", "--", "cat"], "writer+save", "nothing"),
            (["remove", "a"], "writer+deletion", "removed a"), (["write", "a"], "writer", "created a"),
            (["move", "a", "b"], "writer", "nothing"), (["write", "b"], "writer", "modified b"),
        ]
        for (number, request) in requests.enumerated() {
            let process = try RunningProcess(
                ["groupctl", request.words[0], container.path] + request.words.dropFirst(), input: "text \(number)")
            try presenter.waitForText("asked \(request.question) by \(process.identifier)\n")
            try presenter.send("ok")
            #expect(try process.finish().status == 0)
            try presenter.waitForText {
                $0.components(separatedBy: "reacquired").count == number + 2 && $0.hasSuffix("\n")
            }
            #expect(presenter.text.hasSuffix("reacquired after \(request.change)\n"), "\(presenter.text)")
        }
        #expect(presenter.text.contains("moved to b\n"))
        // What is not read or written asks nothing.
        #expect(try container.groupctl("list", "--json").status == 0)
        #expect(!presenter.text.hasSuffix("asked"))
    }

    @Test func `a presenter of a directory is asked for what is in it, and those in a directory for all of it`() throws
    {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "d/a", input: "old")
        let (outer, inner) = (try presenter(of: "d", in: container), try presenter(of: "d/a", in: container))
        let read = try request("read", "d/a", in: container)
        for presenter in [outer, inner] {
            try presenter.waitForText("asked reader+save")
            try presenter.send("ok")
        }
        #expect(try read.finish().status == 0)
        let other = try request("write", "d/b", input: "x", in: container)
        try outer.waitForText("asked writer by \(other.identifier)")
        try outer.send("ok")
        #expect(try other.finish().status == 0)
        #expect(!inner.text.contains("writer"))
        let removal = try request("remove", "d", "-r", in: container)
        for presenter in [outer, inner] {
            try presenter.waitForText("asked writer+deletion by \(removal.identifier)")
            try presenter.send("ok")
        }
        #expect(try removal.finish().status == 0)
        for presenter in [outer, inner] { try presenter.waitForText("reacquired after removed d\n") }
    }

    @Test func `a dead presenter is skipped at once, and one that is killed while it answers`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        // A process that opens the container alone would forget dead presenters, too.
        let other = try container.open()
        let first = try presenter(of: "a", in: container)
        first.kill()
        #expect(other.opened.lockManager.memberTable.hasPresenters)
        #expect(try container.groupctl("read", "a", "--timeout", "2s").text == "old")
        #expect(!other.opened.lockManager.memberTable.hasPresenters)
        let second = try presenter(of: "a", in: container)
        let read = try request("read", "a", in: container)
        try second.waitForText("asked reader+save")
        second.kill()
        let (status, text) = try read.finish()
        #expect(status == 0 && text == "old", "\(text)")
        withExtendedLifetime(other) {}
    }

    @Test func `the child of a presenter that forked without exec ends nothing, and keeps nothing`() throws {
        let container = try TemporaryContainer()
        let presenter = try container.member("present-fork", "a")
        try presenter.waitForText("child forked\n")
        #expect(try container.groupctl("write", "a", "--timeout", "60s", input: "new").status == 0)
        try presenter.waitForText("asked writer\n")
        presenter.kill()
        // The child lives, but the presentation was its parent's.
        #expect(try !container.open().opened.lockManager.memberTable.hasPresenters)
        presenter.closeInput()
        _ = try? presenter.finish()
    }

    @Test func `a process that opens the container alone forgets the presenters of dead ones`() throws {
        let container = try TemporaryContainer()
        try presenter(of: "a", in: container).kill()
        #expect(try !container.open().opened.lockManager.memberTable.hasPresenters)
    }

    @Test func `a stopped presenter is passed over, and its late save is refused`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try #require(presenter.stop())
        let tester = try container.open().coordinator(purpose: "tester")
        var impatient = tester
        impatient.presenterGrace = .milliseconds(300)
        let holders = try impatient.blocking.coordinate(.writing("a", .forMerging)) { access in
            _ = try access.write(bytes: Array("new".utf8), to: "a")
            return access.unresponsivePresenters
        }
        #expect(holders.map(\.processIdentifier) == [presenter.identifier] && holders.allSatisfy(\.isPresenting))
        // The question is over: the presenter has not begun to answer it.
        presenter.resume()
        try presenter.waitForText("modified a\n")
        #expect(!presenter.text.contains("asked"))
        // This presenter hangs in its answer.
        let side = Side { [impatient] in
            try impatient.blocking.coordinate(.writing("a", .forMerging)) { access in
                _ = try access.write(bytes: Array("newer".utf8), to: "a")
            }
        }
        try presenter.waitForText("asked writer+save")
        try side.answer()
        try presenter.send("save a late")
        try presenter.waitForText("not saved: conflict\n")
        try presenter.waitForText("reacquired after modified a\n")
        #expect(try container.content("a") == "newer")
    }

    @Test func `a read without a presenter's answer says so, or fails with --need-answers`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try #require(presenter.stop())
        var tester = try container.open().coordinator(purpose: "tester")
        tester.presenterGrace = .milliseconds(300)
        // From here on the presenter is passed over at once.
        _ = try tester.blocking.readBytes("a")
        let plain = try container.groupctl("read", "a")
        let reason = "presents it and did not answer in time; what it has not saved is not in the item\n"
        #expect(
            plain.status == 0 && plain.text.hasPrefix("oldgroupctl: a: process \(presenter.identifier) "), "\(plain)")
        #expect(plain.text.hasSuffix(reason) && plain.text.split(separator: "\n").count == 1, "\(plain)")
        #expect(try container.groupctl("read", "a", "--json").text.hasPrefix(#"old{"code":"presenterUnresponsive","#))
        #expect(try container.groupctl("read", "a", "--quiet").text == "old")
        let strict = try container.groupctl("read", "a", "--need-answers")
        #expect(strict.status == 1 && strict.text.hasPrefix("groupctl: cannot read 'a'"), "\(strict)")
        #expect(strict.text.split(separator: "\n").count == 1, "\(strict)")
    }

    @Test func `a client of serve and an app get to know of a presenter that did not answer`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "Library/todo.json", input: "[]")
        let presenter = try presenter(of: "Library/todo.json", in: container)
        try #require(presenter.stop())
        var tester = try container.open().coordinator(purpose: "tester")
        tester.presenterGrace = .milliseconds(300)
        _ = try tester.blocking.readBytes("Library/todo.json")
        let request = #"{"id":1,"do":"read","path":"Library/todo.json"}"#
        let answer = try RunningProcess(["groupctl", "serve", container.path], input: request + "\n").finish().text
        #expect(answer.contains(#""text":"[]""#), "\(answer)")
        #expect(answer.contains(#""unanswered":[{"pid":\#(presenter.identifier),"#), "\(answer)")
        let list = try RunningProcess(["todo", "--group", container.path, "list"]).finish()
        #expect(
            list.status == 0 && list.text.contains("todo: Library/todo.json: process \(presenter.identifier) "),
            "\(list)")
    }

    @Test func `a presenter that was passed over is not asked again until it has run`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try #require(presenter.stop())
        var tester = try container.open().coordinator(purpose: "tester")
        func write(_ text: String) throws -> [CoordinationError.Holder] {
            try tester.blocking.coordinate(.writing("a", .forMerging), timeout: nil) { access in
                _ = try access.write(bytes: Array(text.utf8), to: "a")
                return access.unresponsivePresenters
            }
        }
        tester.presenterGrace = .milliseconds(300)
        #expect(try write("1").map(\.processIdentifier) == [presenter.identifier])
        // Nothing but the mark of the first request ends these.
        tester.presenterGrace = .seconds(3_600)
        #expect(try write("2").map(\.processIdentifier) == [presenter.identifier])
        let other = try request("write", "a", "--timeout", "1h", input: "3", in: container)
        #expect(try other.finish().status == 0)
        let read = try container.groupctl("read", "a", "-v", "--timeout", "1h")
        #expect(read.text.hasPrefix("3"), "\(read)")
        tester.needsAnswers = true
        #expect(throws: CoordinationError.self) { try write("4") }
        presenter.resume()
        try presenter.waitForText("modified a\n")
        let asking = try request("write", "a", input: "5", in: container)
        try presenter.waitForText("asked writer by \(asking.identifier)")
        try presenter.send("ok")
        #expect(try asking.finish().status == 0)
    }

    @Test func `a presenter that hangs in an answer is not asked again until that has ended`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        var tester = try container.open().coordinator(purpose: "tester")
        tester.presenterGrace = .milliseconds(300)
        let side = Side { [tester] in try tester.blocking.write(bytes: [1], to: "a") }
        try presenter.waitForText("asked writer by")
        _ = try side.answer()
        tester.presenterGrace = .seconds(3_600)
        try tester.blocking.write(bytes: [2], to: "a")
        try tester.blocking.write(bytes: [3], to: "a")
        try presenter.send("ok")
        try presenter.waitForText("reacquired after modified a\n")
        let asking = try request("write", "a", input: "5", in: container)
        try presenter.waitForText("asked writer by \(asking.identifier)")
        try presenter.send("ok")
        #expect(try asking.finish().status == 0)
    }

    @Test func `a verbose command says that it has passed a presenter over`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        try #require(presenter.stop())
        var tester = try container.open().coordinator(purpose: "tester")
        tester.presenterGrace = .milliseconds(100)
        try tester.blocking.write(bytes: [1], to: "a")
        for words in [["read", "a"], ["write", "a"], ["move", "a", "b"]] {
            let process = try RunningProcess(["groupctl", words[0], container.path] + words[1...] + ["-v"], input: "x")
            let (status, text) = try process.finish()
            #expect(status == 0 && text.contains("presenterUnresponsive"), "\(words): \(text)")
        }
        presenter.kill()
    }

    @Test func `present answers for its item where that is now`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "d/x", input: "old")
        let script = "printf saved | groupctl write \"$GROUP_CONTAINER\" \"$GROUP_ITEM\"; echo \"$GROUP_ITEM\""
        let presenter = try RunningProcess([
            "groupctl", "present", container.path, "d/x", "--verbose", "--", "sh", "-c", script,
        ])
        try presenter.waitForText("presenting")
        _ = try container.groupctl("move", "d", "e")
        #expect(try container.groupctl("read", "e/x").text == "saved")
        #expect(presenter.text.contains("e/x\n"), "\(presenter.text)")
        #expect(!FileManager.default.fileExists(atPath: container.path + "/d"))
        presenter.kill()
    }

    @Test func `an unresponsive presenter fails a request that wants each answer`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        var strict = try container.open().coordinator(purpose: "tester")
        (strict.presenterGrace, strict.needsAnswers) = (.milliseconds(200), true)
        let error = #expect(throws: CoordinationError.self) { try strict.blocking.readBytes("a") }
        #expect(
            error?.code == .presenterUnresponsive && error?.holders.first?.processIdentifier == presenter.identifier)
        try presenter.send("ok")
        try presenter.waitForText("reacquired after nothing\n")
    }

    @Test func `a presenter that fails lets the request fail, and reacquires`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        let write = try request("update", "a", "--", "cat", in: container)
        try presenter.waitForText("asked writer+save")
        try presenter.send("fail")
        let (status, text) = try write.finish()
        #expect(
            status == 1 && text.contains("the test refuses") && text.contains("process \(presenter.identifier)"),
            "\(text)")
        try presenter.waitForText("reacquired after nothing\n")
        #expect(try container.content("a") == "old")
    }

    @Test(arguments: [false, true])
    func `a presenter reacquires when the process that asked it is killed`(isAnswered: Bool) throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        let write = try request("write", "a", input: "new", in: container)
        try presenter.waitForText("asked writer by \(write.identifier)")
        try #require(write.stop())
        if isAnswered {
            try presenter.send("ok")
            try presenter.waitForText("answered\n")
        }
        write.kill()
        if !isAnswered { try presenter.send("ok") }
        try presenter.waitForText("reacquired after nothing\n")
        #expect(try container.content("a") == "old")
        // The question goes once the presenter has reacquired.
        #expect(
            try eventually {
                try container.open().status().members.flatMap(\.presentedItems).flatMap(\.questions).isEmpty
            })
    }

    @Test func `a presenter withdraws when the request was stopped past its deadline`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let presenter = try presenter(of: "a", in: container)
        let write = try request("write", "a", "--timeout", "2s", input: "new", in: container)
        try presenter.waitForText("asked writer by \(write.identifier)")
        try #require(write.stop())
        try presenter.send("ok")
        try presenter.waitForText("reacquired after nothing\n")
        write.resume()
        let (status, text) = try write.finish()
        #expect(status == 75 && text.contains("process \(presenter.identifier)"), "\(text)")
        #expect(try container.content("a") == "old")
    }

    @Test func `a request that began before the presenter asks it, too`() throws {
        let container = try TemporaryContainer()
        let holder = try container.holder(of: "a")
        let write = try request("write", "a", input: "new", in: container)
        #expect(try eventually { try container.open().status().members.flatMap(\.locks).contains(where: \.isWaiting) })
        let presenter = try presenter(of: "a", in: container)
        holder.closeInput()
        try presenter.waitForText("asked writer by \(write.identifier)")
        #expect(!FileManager.default.fileExists(atPath: "\(container.path)/a"))
        try presenter.send("ok")
        #expect(try write.finish().status == 0)
        try presenter.waitForText("created a\nreacquired after created a\n")
    }

    @Test func `two editors that both save ask one another nothing`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let (one, two) = (try presenter(of: "a", in: container), try presenter(of: "a", in: container))
        let read = try request("read", "a", in: container)
        for presenter in [one, two] { try presenter.waitForText("asked reader+save") }
        try one.send("save a one")
        try one.waitForText("saved\n")
        try two.send("save a two")
        #expect(try read.finish().text == "two")
        for presenter in [one, two] {
            try presenter.waitForText("reacquired after nothing\n")
            #expect(presenter.text.components(separatedBy: "asked").count == 2, "\(presenter.text)")
        }
    }

    @Test func `a presenter is informed of external changes, and before it reacquires`() throws {
        let container = try TemporaryContainer()
        let presenter = try presenter(of: "d", in: container)
        _ = try container.groupctl("status")
        try FileManager.default.createDirectory(atPath: "\(container.path)/d", withIntermediateDirectories: false)
        try Data("x".utf8).write(to: URL(fileURLWithPath: "\(container.path)/d/external"))
        try presenter.waitForText("created d/external\n")
        let write = try request("write", "d/a", input: "1", in: container)
        try presenter.waitForText("asked writer")
        try presenter.send("ok")
        #expect(try write.finish().status == 0)
        try presenter.waitForText("created d/a\nreacquired after created d/a\n")
    }

    @Test(.enabled(if: Strace.isThere, Strace.isMissing))
    func `a request makes the same system calls where no presenter is in its way`() throws {
        let container = try TemporaryContainer()
        for number in ["1", "2"] { _ = try container.groupctl("write", "b", input: number) }
        let command = ["groupctl", "write", container.path, "b"]
        // Both times one other member follows.
        let follower = try RunningProcess(["watch-group", "--verbose", container.path])
        try follower.waitForText("watching")
        let before = try Strace.calls(of: command, input: "3", in: container)
        follower.signal(SIGTERM)
        follower.reap()
        let presenter = try presenter(of: "a", in: container)
        let after = try Strace.calls(of: command, input: "4", in: container)
        #expect(!after.contains { $0.arguments.contains("presenters") })
        // Opening the container and tending the journal depend on what other members do at that time; the request
        // begins after the input was examined, and its locks are all there is of fcntl.
        let request = [before, after].map { calls in
            calls.suffix { $0.name != "ioctl" }.map(\.name).filter { ["fcntl", "renameat", "pwrite64"].contains($0) }
        }
        #expect(request[0] == request[1] && request[0].contains("fcntl"))
        #expect(!presenter.text.contains("asked"))
    }

    @Test func `a command presents: it saves with the question, and fails a request by its status`() throws {
        let container = try TemporaryContainer()
        _ = try container.groupctl("write", "a", input: "old")
        let save = "[ -e \(container.directory)/refuse ] && exit 3; echo saved | groupctl write \"$GROUP_CONTAINER\" a"
        let path = "\(BuildDirectory.path):\(ProcessInfo.processInfo.environment["PATH"] ?? "")"
        let presenter = try RunningProcess(
            ["groupctl", "present", container.path, "a", "--verbose", "--", "sh", "-c", save],
            environment: ["PATH": path])
        try presenter.waitForText("presenting 'a'\n")
        #expect(try container.groupctl("read", "a").text == "saved\n")
        let status = try container.groupctl("status")
        #expect(status.text.contains("presents  a"), "\(status.text)")
        _ = FileManager.default.createFile(atPath: "\(container.directory)/refuse", contents: nil)
        let refused = try container.groupctl("read", "a")
        #expect(refused.status == 1 && refused.text.contains("'sh' ended with status 3"), "\(refused.text)")
        presenter.signal(SIGTERM)
        #expect(try presenter.finish().status == 128 + SIGTERM)
        #expect(try container.groupctl("read", "a").text == "saved\n")
    }
}

extension Array where Element == Strace.Call {
    /// Returns the calls behind the last one for which the condition does not hold.
    fileprivate func suffix(while holds: (Element) -> Bool) -> ArraySlice<Element> {
        self[((lastIndex { !holds($0) } ?? -1) + 1)...]
    }
}
