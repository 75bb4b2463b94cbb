import TestSupport
import Testing

/// The example: an app, its share extension, and an action.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `The bookmarks example` {
    @Test func `the lines of its page do what the page tells`() throws {
        let directory = try TemporaryDirectory()
        let (status, text) = try ExamplePage.run("bookmarks", home: directory.path)
        let expected = [
            "com.example.bookmarks.share\tshare\tAdd to bookmarks", "https://example.com/\tAn example",
            "https://example.com/\tAn example", "The Quick Brown Fox",
        ]
        #expect(status == 0)
        #expect(text.split(separator: "\n").map(String.init).suffix(4) == expected[...], "\(text)")
    }

    @Test func `what other programs have put on the list is printed in one line`() throws {
        let container = try TemporaryContainer()
        let list = #"[{"url":"https://example.com/","title":"one\u001b[2J\ntwo"}]"#
        #expect(try container.groupctl("write", "Library/bookmarks.json", input: list).status == 0)
        let printed = try RunningProcess(["bookmarks", "--group", container.path, "list"]).finish()
        #expect(printed == (0, #"https://example.com/\#tone\033[2J\ntwo"# + "\n"))
    }

    @Test func `an app that serves takes what is shared while it runs`() throws {
        let container = try TemporaryContainer()
        let manifest = """
            {"point": "share", "identifier": "com.example.share", "executable": "\(BuildDirectory.path)/bookmarks-share",
             "group": "\(container.path)", "types": {"url": 10}}
            """
        let directory = try TemporaryDirectory()
        try directory.put(manifest, at: "share.json")
        let app = try RunningProcess(["bookmarks", "--group", container.path, "serve"], input: "")
        defer { app.kill() }
        for number in 0..<5 {
            let (status, text) = try RunningProcess([
                "group-share", "--extensions", directory.path, "--with", "com.example.share",
                "https://example.com/\(number)",
            ]).finish()
            #expect(status == 0, "\(text)")
            try app.waitForText("https://example.com/\(number)\t")
        }
        #expect(try container.groupctl("read", "Library/bookmarks.json").text.contains("example.com/4"))
        app.closeOutput()
        #expect(app.reap() == 0)
    }
}
