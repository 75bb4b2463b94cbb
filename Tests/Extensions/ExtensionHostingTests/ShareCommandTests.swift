import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

/// group-share, with extensions that behave and misbehave.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `group-share` {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try install("echo", #"{"image/*": 10, "video/*": 1}"#)
    }

    private func install(_ word: String, _ types: String, _ more: String = "") throws {
        let program = BuildDirectory.path + "/test-extension"
        try directory.put(
            #"{"point": "share", "identifier": "com.example.\#(word)", "title": "Test \#(word)", "executable": "\#(program)", "arguments": ["\#(word)"], "types": \#(types)\#(more)}"#,
            at: "\(word).json")
    }

    private func share(_ words: String..., input: String? = nil) throws -> (status: Int32, text: String) {
        try RunningProcess(
            ["group-share", "--extensions", directory.path] + words, input: input,
            environment: ["XDG_DATA_DIRS": "/nonexistent", "XDG_DATA_HOME": "/nonexistent"]
        ).finish()
    }

    private func files(_ suffix: String, _ count: Int) throws -> [String] {
        try (0..<count).map { number in
            try directory.put("x", at: "\(number).\(suffix)")
            return "\(directory.path)/\(number).\(suffix)"
        }
    }

    private func share(_ files: [String]) throws -> (status: Int32, text: String) {
        try RunningProcess(["group-share", "--extensions", directory.path] + files).finish()
    }

    @Test func `ten pictures and a video match, eleven do not, nor does nothing`() throws {
        let (pictures, videos) = (try files("png", 11), try files("mp4", 2))
        let line = "com.example.echo\tshare\tTest echo\n"
        #expect(try share(pictures.dropLast() + videos.prefix(1)) == (0, line))
        let (status, text) = try share(pictures)
        #expect(status == 66 && text.contains("it takes at most 10 of 'image/*', and these are 11"), "\(text)")
        #expect(try share(videos).text.contains("it takes at most 1 of 'video/*', and these are 2"))
        #expect(try share("-", input: "a").status == 66)
        #expect(try share() == (0, line), "without items, all are listed")
        let late = try RunningProcess(
            ["group-share", "--extensions", directory.path, "--with", "com.example.echo"] + pictures
        ).finish()
        #expect(late.status == 65 && late.text.contains("these are 11"))
    }

    @Test func `a missing file is an object with --json`() throws {
        let (status, text) = try share("--json", "\(directory.path)/no-file")
        #expect(status == 66 && text.hasPrefix(#"{"code":"notFound","#), "\(text)")
    }

    @Test func `what comes back is printed`() throws {
        try install("echo", #"{"text": 2, "url": 1, "application/octet-stream": 1}"#)
        try directory.put("in a file\n", at: "a file")
        let with = ["--with", "com.example.echo"]
        #expect(try share(with[0], with[1], "-", input: "a text") == (0, "a text\n"))
        #expect(try share(with[0], with[1], "https://example.com/a?b") == (0, "https://example.com/a?b\n"))
        #expect(try share(with[0], with[1], "\(directory.path)/a file") == (0, "in a file\n"))
        #expect(try share(with[0], with[1], "file://\(directory.path)/a%20file") == (0, "in a file\n"))
        try directory.put(#"{"a":[1]}"#, at: "b")
        let json = try share(with[0], with[1], "--json", "--type", "text", "--title", "t", "\(directory.path)/b")
        #expect(json.status == 0 && json.text.contains(#""result":"completed""#) && json.text.contains(#""title":"t""#))
    }

    @Test func `each end of an extension has its status`() throws {
        for (word, status, part) in [
            ("cancel", 3, "the user gave it up"), ("throw", 3, "com.example.throw"),
            ("exit", 1, "exited with status 7"),
            ("signal", 1, "ended by signal 9"), ("garbage", 1, "invalid message"), ("nothing", 0, ""),
        ] as [(String, Int32, String)] {
            try install(word, #"{"text": 1}"#)
            let end = try share("--with", "com.example.\(word)", "-", input: "a")
            #expect(end.status == status && (part.isEmpty || end.text.contains(part)), "\(word): \(end)")
        }
        try install("hang", #"{"text": 1}"#)
        #expect(try share("--with", "com.example.hang", "--timeout", "1s", "-", input: "a").status == 75)
    }

    @Test func `a path that is no item of the container is a failure, and the rest is printed`() throws {
        let container = try TemporaryContainer()
        try directory.put(
            """
            read -r request
            echo '{"say":"complete","items":[{"text":"a text","attachments":[{"type":"text","item":"../../etc/passwd"}]}]}'
            """, at: "out.sh")
        try directory.put(
            """
            {"point": "share", "identifier": "com.example.out", "executable": "/bin/sh",
             "arguments": ["\(directory.path)/out.sh"], "group": "\(container.path)", "types": {"text": 1}}
            """, at: "out.json")
        let reason = "com.example.out returned '../../etc/passwd', which is no item of its group's container"
        let plain = try share("--with", "com.example.out", "-", input: "a")
        #expect(plain == (1, "group-share: \(reason)\na text\n"), "\(plain)")
        let json = try share("--with", "com.example.out", "--json", "-", input: "a")
        #expect(json.status == 1 && json.text.contains(#""cause":"\#(reason)""#), "\(json)")
    }

    @Test func `a signal ends the extension, too`() throws {
        try install("hang", #"{"text": 1}"#)
        let process = try RunningProcess(
            ["group-share", "--extensions", directory.path, "--with", "com.example.hang", "-"], input: "a")
        var child: Int32?
        let isThere = eventually {
            child = Self.child(of: process.identifier)
            return child != nil
        }
        #expect(isThere)
        kill(process.identifier, SIGTERM)
        #expect(try process.finish().status == 128 + SIGTERM)
        if let child { #expect(OpenFiles.processes(ofGroup: child).isEmpty) }
    }

    /// The extension is a child of the thread that has started it.
    private static func child(of process: Int32) -> Int32? {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        for task in tasks {
            let text = try? String(contentsOfFile: "/proc/\(process)/task/\(task)/children", encoding: .utf8)
            if let child = text?.split(separator: " ").first.flatMap({ Int32($0) }) { return child }
        }
        return nil
    }

    @Test func `wrong words are errors`() throws {
        #expect(
            try share("--with", "com.example.ecko", "-", input: "a").text.contains("did you mean 'com.example.echo'?"))
        #expect(try share("--with", "com.example.echo").status == 64)
        #expect(try share("--type", "a b", "-", input: "a").status == 64)
        for file in [directory.path, directory.path + "/missing"] { #expect(try share(file).status == 66) }
        try directory.put(#"{"point": "share", "other": 1}"#, at: "bad.json")
        #expect(try share().text.contains("bad.json"))
    }

    @Test func `the directory of a desktop entry is quoted`() throws {
        let name = "a \"`$\\%"
        try directory.run("mkdir", name)
        let program = BuildDirectory.path + "/test-extension"
        try directory.put(
            #"{"point": "share", "identifier": "com.example.q", "executable": "\#(program)", "types": {"text": 1}}"#,
            at: "\(name)/q.json")
        let text = try RunningProcess(
            ["group-share", "--extensions", "\(directory.path)/\(name)", "--desktop-entry", "com.example.q"]
        ).finish().text
        // What the file has, and the quotes in it, are unescaped one after the other.
        let quoted = #""\#(directory.path)/a \\"\\`\\$\\\\%%""#
        #expect(text.contains("Exec=group-share --extensions \(quoted) --with"), "\(text)")
    }

    @Test func `the title of a desktop entry hides nothing`() throws {
        let program = BuildDirectory.path + "/test-extension"
        try directory.put(
            """
            {"point": "share", "identifier": "com.example.q", "executable": "\(program)", "types": {"text": 1},
             "title": "a\u{202E}fdp"}
            """, at: "q.json")
        let entry = try share("--desktop-entry", "com.example.q")
        #expect(entry.status == 0 && entry.text.contains(#"Name=a\\342\\200\\256fdp"#), "\(entry)")
    }

    @Test func `a text that comes back is harmless on a terminal, and raw in a pipe`() throws {
        try install("echo", #"{"text": 1}"#)
        try directory.put("one\u{1B}[2J\ntwo\n", at: "text")
        let words = [
            "group-share", "--extensions", directory.path, "--with", "com.example.echo", "--type", "text",
            directory.path + "/text",
        ]
        #expect(try RunningProcess(words).finish() == (0, "one\u{1B}[2J\ntwo\n"))
        let terminal = try TerminalProcess(words, columns: 80, rows: 24)
        try terminal.wait { $0.contains("two") }
        #expect(terminal.text.contains("one\\033[2J") && !terminal.text.contains("\u{1B}[2J"), "\(terminal.text)")
    }

    @Test func `a desktop entry has the types, and the identifier`() throws {
        try install("echo", #"{"text": 1, "image/*": 2, "url": 1}"#, #", "icon": "a\\b""#)
        let (status, text) = try share("--desktop-entry", "com.example.echo")
        #expect(status == 0)
        #expect(text.hasPrefix("[Desktop Entry]\nType=Application\nName=Test echo\nIcon=a\\\\b\n"), "\(text)")
        #expect(text.contains("Exec=group-share --extensions \"\(directory.path)\" --with com.example.echo %U\n"))
        let types = text.split(separator: "\n").first { $0.hasPrefix("MimeType=") } ?? ""
        #expect(
            types.contains("text/plain;") && types.contains("image/png;") && types.contains("x-scheme-handler/https;"))
    }
}
