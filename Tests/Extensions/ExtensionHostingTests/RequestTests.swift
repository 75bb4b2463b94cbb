import Extensions
import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@testable import ExtensionHosting

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A request` {
    @Test(arguments: [
        ("nothing", "completed "), ("twice", "completed first"), ("open", "completed "),
        ("cancel", "cancelled com.example.test 7 the user gave it up"),
        ("throw", "cancelled test_extension.Wanted 0 the test wants it"), ("unread", "completed unread"),
        ("stubborn", "completed "), ("fork", "completed forked"),
        ("signal", "failed signalled(9)"), ("exit", "failed exited(status: 7)"), ("silent", "failed exited(status: 3)"),
        ("orphan", "failed exited(status: 4)"), ("close", "failed outputClosed"),
        ("garbage", #"failed wrongOutput(line: "this is no message", fault: "it is not JSON")"#),
        ("partial", #"failed wrongOutput(line: "{\"say\":", fault: "its end, a newline, is missing")"#),
        ("endless", #"failed tooMuchOutput("a line of more than 4194304 bytes")"#),
        ("chatter", #"failed tooMuchOutput("more than 16777216 bytes of messages")"#),
        ("complain", #"failed tooMuchOutput("more than 16777216 bytes of standard error")"#),
        ("mumble", #"failed tooMuchOutput("more than 16777216 bytes of standard error")"#),
    ])
    func `an extension ends in one result, and leaves no process`(word: String, result: String) {
        #expect(TestExtension.run(word).result == result)
    }

    @Test(arguments: ["hang", "stop"])
    func `an extension without a result is ended at the deadline`(word: String) {
        let deadline = Duration.milliseconds(300)
        #expect(TestExtension.run(word, deadline: deadline).result == "failed deadline(\(deadline))")
    }

    @Test func `an extension that a person starts says that a host runs it`() throws {
        let terminal = try TerminalProcess(["title-case", "--help"], columns: 100, rows: 10, environment: [:])
        try terminal.wait { $0.contains("a host runs this program") }
        #expect(terminal.reap() != 0)
    }

    @Test func `an extension that returns a descriptor has sent wrong output`() {
        let found = TestExtension.run("descriptor").result
        #expect(found.contains("wrongOutput") && found.contains("an open file cannot be returned"), "\(found)")
    }

    @Test func `a program that cannot be started is named with the reason`() throws {
        var manifest = TestExtension.manifest("echo")
        manifest.executable = "/nonexistent/program"
        let host = ExtensionHost(directory: "/nonexistent")
        guard case .failed(let failure) = host.blocking.run(manifest, []) else {
            Issue.record("it was started")
            return
        }
        #expect(failure.reason == .notStarted(file: "/nonexistent/program", cause: "No such file or directory"))
        manifest.executable = "no-such-program"
        guard case .failed(let failure) = host.blocking.run(manifest, []) else {
            Issue.record("it was started")
            return
        }
        #expect("\(failure)".contains("'no-such-program': no directory of PATH has a program of that name"))
        let missing = TestExtension.run("echo", group: "/nonexistent/container").result
        #expect(missing.contains(#"notStarted(file: "/nonexistent/container""#), "\(missing)")
        #expect(missing.contains("start its app once, which creates it"), "\(missing)")
    }

    @Test func `the log has standard error, messages and URLs, and a failure the last lines`() {
        #expect(TestExtension.run("open").log == ["opening", "open todo://7"])
        #expect(TestExtension.run("nothing").log == ["what is printed does not disturb the protocol"])
        let result = ExtensionHost(directory: "/nonexistent").blocking.run(TestExtension.manifest("exit"), [])
        guard case .failed(let failure) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(failure.lastLines == ["one", "two", "three"])
        #expect("\(failure)" == "the extension exited with status 7, without a result\n  one\n  two\n  three")
    }

    @Test func `the log of a flood is bounded`() {
        let bytes = TestExtension.run("complain").log.reduce(0) { $0 + $1.utf8.count }
        #expect((1 << 19..<1 << 21).contains(bytes), "\(bytes)")
    }

    @Test func `every kind of attachment arrives, and comes back`() throws {
        let directory = try TemporaryDirectory()
        try directory.put("a picture", at: "a.png")
        let png = try #require(ContentType("image/png"))
        let date = Date(timeIntervalSince1970: 1_764_000_000)
        let list = DefaultsValue.dictionary([
            "$x": .array([.bool(true), .integer(7), .double(7), .double(.infinity), .float(1.5), .data([0, 255])]),
            "y": .dictionary(["$data": .string("no data")]), "z": .date(date), "u": .url("todo:"),
            "j": .json([0x5B, 0x5D]),
        ])
        let url = try #require(URL(string: "https://example.com/a?b"))
        let item = ExtensionItem(
            title: "title", text: "text",
            attachments: [
                .text("é"), .url(url), .propertyList(list), Attachment(.bytes([0, 1, 255]), type: .bytes, name: "b"),
                Attachment(.file(try AttachedFile(path: directory.path + "/a.png")), type: png, name: "a.png"),
            ], values: ["key": .string("value"), "list": list])
        let result = ExtensionHost(directory: "/nonexistent").blocking.run(TestExtension.manifest("echo"), [item])
        guard case .completed(let items) = result else {
            Issue.record("\(result)")
            return
        }
        var expected = item
        expected.attachments[4] = Attachment(.bytes(Array("a picture".utf8)), type: png, name: "a.png")
        #expect(items == [expected])
    }

    @Test func `attached files are inherited as 3 and up, however many, and nothing else is`() throws {
        let directory = try TemporaryDirectory()
        try directory.put("12345", at: "file")
        // Without close-on-exec, as other code in a host may open it.
        let leaked = unsafe open(directory.path + "/file", O_RDWR)
        defer { close(leaked) }
        let file = Attachment(.file(try AttachedFile(path: directory.path + "/file")), type: .bytes)
        let none = TestExtension.run("descriptors").result
        #expect(none == "completed 0 1 2")
        let many = ExtensionItem(attachments: Array(repeating: file, count: 200))
        let numbers = (0..<203).map(String.init).joined(separator: " ")
        #expect(TestExtension.run("descriptors", [many]).result == "completed \(numbers)")
        #expect(
            TestExtension.run("sizes", [many]).result
                == "completed " + [String](repeating: "5", count: 200).joined(separator: " "))
    }

    @Test func `an input that the extension does not read is dropped with the request`() throws {
        let large = ExtensionItem(text: String(repeating: "x", count: 3 << 20))
        #expect(TestExtension.run("unread", [large]).result == "completed unread")
        let deadline = Duration.milliseconds(300)
        #expect(TestExtension.run("stop", [large], deadline: deadline).result == "failed deadline(\(deadline))")
        let huge = ExtensionItem(text: String(repeating: "x", count: 5 << 20))
        #expect(TestExtension.run("echo", [huge]).result.contains("attach large contents as files"))
    }

    @Test func `an item of the group's container is loaded, and is returned as an item`() throws {
        let container = try TemporaryContainer()
        let open = try container.open()
        _ = try open.coordinator(purpose: "test").blocking.write(bytes: Array("in the container".utf8), to: "a/b")
        let attachment = Attachment(.item("a/b"), type: .bytes)
        let host = ExtensionHost(directory: "/nonexistent")
        let manifest = TestExtension.manifest("container", group: container.path)
        let result = host.blocking.run(manifest, [ExtensionItem(attachments: [attachment])])
        guard case .completed(let items) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(items.map(\.text) == ["in the container"] && items.first?.attachments == [attachment])
        let outside = TestExtension.run("container", [ExtensionItem(attachments: [attachment])]).result
        #expect(outside.contains("there is no container"), "\(outside)")
        let missing = TestExtension.run(
            "container", [ExtensionItem(attachments: [Attachment(.item("../x"), type: .bytes)])], group: container.path)
        #expect(missing.result.hasPrefix("cancelled Extensions.AttachmentError"), "\(missing)")
    }

    @Test func `an address and a flag in the group's defaults reach the app, which shows each once`() async throws {
        let container = try TemporaryContainer()
        let shown = Guarded<[String]>([])
        for number in 0..<20 {
            let url = try #require(URL(string: "https://example.com/\(number)"))
            let items = [ExtensionItem(attachments: [.url(url)])]
            #expect(TestExtension.run("flag", items, group: container.path).result == "completed ")
            // Several instances of the app become active at the same time.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let found = try GroupDefaults(container.open()).transaction { defaults -> DefaultsValue? in
                            guard defaults.value(forKey: "has-new-share") == .bool(true) else { return nil }
                            defaults.set(.bool(false), forKey: "has-new-share")
                            return defaults.value(forKey: "share-url")
                        }
                        if let found, case .url(let text) = found { shown.withLock { $0.append(text) } }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(shown.withLock { $0 } == (0..<20).map { "https://example.com/\($0)" })
    }

    @Test func `a cancellation by the host cancels the extension's task`() throws {
        let container = try TemporaryContainer()
        let waiting = Event()
        let request = ExtensionHost(directory: "/nonexistent").begin(
            TestExtension.manifest("waiting", group: container.path), [], deadline: patience,
            log: { _ in waiting.happen() })
        #expect(waiting.await())
        request.cancel()
        #expect(TestExtension.words(of: request.blocking.result()) == "failed cancelledByHost")
        #expect(container.exists("cancelled"))
        request.cancel()
        #expect(TestExtension.words(of: request.blocking.result()) == "failed cancelledByHost", "it has one result")
    }

    @Test func `a cancelled task cancels its request, also one that ignores it`() async throws {
        for word in ["waiting", "stop", "hang"] {
            let task = Task {
                await ExtensionHost(directory: "/nonexistent").run(
                    TestExtension.manifest(word), [], deadline: patience)
            }
            task.cancel()
            #expect(TestExtension.words(of: await task.value) == "failed cancelledByHost")
        }
    }

    @Test(.needs("python3")) func `an extension in Python without a library counts words`() throws {
        let script = projectDirectory.appending(path: "docs/reference/extension.py").path
        let container = try TemporaryContainer()
        let open = try container.open()
        _ = try open.coordinator(purpose: "test").blocking.write(bytes: Array("one two three".utf8), to: "note")
        let directory = try TemporaryDirectory()
        try directory.put("four words are here", at: "file")
        var manifest = TestExtension.manifest("")
        (manifest.executable, manifest.arguments, manifest.group) = (script, [], container.path)
        let file = try AttachedFile(path: directory.path + "/file")
        let items = [
            ExtensionItem(attachments: [.text("one word, or two"), Attachment(.item("note"), type: .plainText)]),
            ExtensionItem(attachments: [
                Attachment(.file(file), type: .plainText, name: "file"), Attachment(.bytes([0x61]), type: .bytes),
            ]),
        ]
        let host = ExtensionHost(directory: "/nonexistent")
        #expect(TestExtension.words(of: host.blocking.run(manifest, items)) == "completed 4 3 4 1")
        let url = try #require(URL(string: "https://example.com"))
        let refused = TestExtension.words(of: host.blocking.run(manifest, [ExtensionItem(attachments: [.url(url)])]))
        #expect(refused == "cancelled extension.py 1 it cannot count the words of a url")
    }
}
