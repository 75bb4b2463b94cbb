import Foundation
import Glibc
import TestSupport
import Testing

/// A directory with a page, an extension with its script, and the files of browsers.
private struct PageRuns {
    let directory: TemporaryDirectory

    init(script: String? = nil, program: String = BuildDirectory.path + "/page-words") throws {
        directory = try TemporaryDirectory()
        try directory.put("<!DOCTYPE html><title>a page</title><p>One two three", at: "page.html")
        let shared = try String(contentsOfFile: ExamplePage.manifests + "/page-words.js", encoding: .utf8)
        try directory.put(script ?? shared, at: "script.js")
        try install(program: program)
    }

    func install(program: String, arguments: String = "", attributes: String = #"{"script": "script.js"}"#) throws {
        try directory.put(
            """
            {"point": "page-script", "identifier": "com.example.page", "executable": "\(program)",
             "arguments": [\(arguments)], "types": {"property-list": 1}, "attributes": \(attributes)}
            """, at: "page.json")
    }

    var words: [String] {
        ["page-host", "--extensions", directory.path, "--with", "com.example.page"]
    }

    /// Runs the host, and checks that nothing of its browser is left.
    func run(_ more: [String] = [], page: String? = nil, fault: String = "") throws -> (status: Int32, text: String) {
        let result = try RunningProcess(
            words + more + [page ?? directory.path + "/page.html"],
            environment: ["TMPDIR": directory.path, "BROWSER_FAULT": fault]
        ).finish()
        try checkThatNothingIsLeft()
        return result
    }

    func checkThatNothingIsLeft() throws {
        #expect(processes().isEmpty)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(!files.contains { $0.hasPrefix("ph-") }, "\(files)")
    }

    /// The processes whose arguments name the directory.
    func processes() -> [String] {
        let numbers = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).filter { Int($0) != nil }
        return numbers.filter { number in
            let words = (try? Data(contentsOf: URL(filePath: "/proc/\(number)/cmdline"))) ?? Data()
            return words.range(of: Data("--user-data-dir=\(directory.path)".utf8)) != nil
        }
    }
}

/// The example, with a browser that misbehaves.
@Suite(.needs("python3"), .ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A host of page scripts` {
    private let fake = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "browser.py").path

    private func run(
        _ runs: PageRuns, _ fault: String, timeout: String = "30s"
    ) throws -> (status: Int32, text: String) {
        try runs.run(["--browser", fake, "--timeout", timeout], fault: fault)
    }

    @Test func `the page is printed`() throws {
        #expect(try run(PageRuns(), "") == (0, "<html>a page</html>\n"))
    }

    @Test(arguments: [
        ("dies at 1", "has ended"), ("dies at 2", "has ended"), ("dies at 3", "has ended"),
        ("closes its pipe", "has ended"), ("garbage", "not JSON"), ("endless", "more than 16777216 bytes"),
        ("navigates at 2", "the page was left"), ("navigates at 3", "the page was left"),
        ("crashes at 2", "the page's process has ended"), ("throws at 1", "Error: it threw"),
        ("throws at 2", "Error: it threw"), ("throws at 3", "Error: it threw"),
        ("forgets", "never calls its completion function"), ("wrong value", "no property list"),
        ("null value", "no property list"), ("no value", "no property list"),
        ("error of Target.createTarget", "not here"), ("error of Page.navigate", "not here"),
        ("error of Page.createIsolatedWorld", "not here"), ("error of Runtime.evaluate", "not here"),
    ])
    func `a fault of the browser is named`(fault: String, reason: String) throws {
        let (status, text) = try run(PageRuns(), fault)
        #expect(status == 1 && text.contains(reason), "\(fault): \(text)")
    }

    @Test(arguments: ["stops", "chatters", "hangs at 1", "hangs at 2", "hangs at 3", "reads nothing"])
    func `a browser without an answer is ended at the deadline`(fault: String) throws {
        let (status, text) = try run(PageRuns(), fault, timeout: "1s")
        #expect(status == 75 && text.contains("no answer within 1"), "\(fault): \(text)")
    }

    @Test func `a script that is longer than a pipe is sent to a browser that reads late`() throws {
        let long = "// " + String(repeating: "x", count: 1_000_000)
        #expect(try run(PageRuns(script: long), "").status == 0)
        let (status, text) = try run(PageRuns(script: long), "hangs at 1", timeout: "1s")
        #expect(status == 75, "\(text)")
    }

    @Test func `children of the browser are ended, too, also in a session of their own`() throws {
        #expect(try run(PageRuns(), "leaves a child").status == 0)
    }

    @Test func `a signal ends the host and its browser`() throws {
        let runs = try PageRuns()
        let process = try RunningProcess(
            runs.words + ["--browser", fake, runs.directory.path + "/page.html"],
            environment: ["TMPDIR": runs.directory.path, "BROWSER_FAULT": "hangs at 2"])
        #expect(eventually { !runs.processes().isEmpty })
        kill(process.identifier, SIGTERM)
        #expect(try process.finish().status == 128 + SIGTERM)
        try runs.checkThatNothingIsLeft()
    }

    @Test func `the extension's own faults are named`() throws {
        let runs = try PageRuns()
        for (word, reason) in [
            ("cancel", "the user gave it up"), ("exit", "exited with status 7"), ("garbage", "invalid message"),
            ("keyboard", "the item is none"), ("descriptor", "an open file cannot be returned"),
        ] {
            try runs.install(program: BuildDirectory.path + "/test-extension", arguments: "\"\(word)\"")
            let (status, text) = try run(runs, "")
            #expect(status == 1 && text.contains(reason), "\(word): \(text)")
        }
        try runs.install(program: BuildDirectory.path + "/test-extension", arguments: "\"hang\"")
        // The time may be over before the extension begins: the status is the same.
        let (status, text) = try run(runs, "", timeout: "2s")
        #expect(status == 75 && (text.contains("no result within") || text.contains("no answer within 2")), "\(text)")
        for attributes in ["{}", #"{"script": "missing.js"}"#, #"{"script": "."}"#] {
            try runs.install(program: "page-words", attributes: attributes)
            #expect(try run(runs, "").text.contains("script cannot be read"))
        }
    }

    @Test func `a browser that cannot be started is named`() throws {
        #expect(try PageRuns().run(["--browser", "/nonexistent"]).text.contains("cannot be started: '/nonexistent'"))
        let long = try PageRuns()
        let name = String(repeating: "x", count: 40)
        try long.directory.run("mkdir", name)
        let (status, text) = try RunningProcess(
            long.words + [long.directory.path + "/page.html"], environment: ["TMPDIR": "\(long.directory.path)/\(name)"]
        ).finish()
        #expect(status == 1 && text.contains("File name too long"), "\(text)")
    }
}

/// The example, with the browser.
@Suite(
    .tags(.process),
    .ownThreads, .timeLimit(.minutes(5)),
    .enabled(if: succeeds(["sh", "-c", "command -v chromium"]), "chromium is missing: tools/setup --chromium"))
struct `A page in Chromium` {
    @Test func `the lines of its page do what the page shows`() throws {
        let directory = try TemporaryDirectory()
        let (status, text) = try ExamplePage.run("page", home: directory.path)
        #expect(status == 0)
        #expect(
            text.hasSuffix("<html><head><title>3 words</title></head><body><p>One two three</p></body></html>\n"),
            "\(text)")
    }

    @Test func `a file is shown, and the script changes it`() throws {
        let (status, text) = try PageRuns().run()
        #expect(status == 0 && text.contains("<title>3 words</title>"), "\(text)")
    }

    @Test(arguments: [
        ("function run(a) { throw new Error('it threw'); }", "the script has thrown: Error: it threw"),
        ("async function run(a) { throw new Error('it threw'); }", "the script has thrown: Error: it threw"),
        ("function run(", "the script has thrown: SyntaxError"), ("let x = 1;", "has no function run"),
        ("function run(a) { a.completionFunction(undefined); }", "no property list"),
        ("function run(a) { a.completionFunction({b: [null]}); }", "no property list"),
        ("function run(a) { a.completionFunction([NaN]); }", "no property list"),
        ("function run(a) { a.completionFunction({d: new Map()}); }", "no property list"),
        ("function run(a) { a.completionFunction(document); }", "no property list"),
        ("function run(a) { const b = []; b.push(b); a.completionFunction(b); }", "no property list"),
        ("function run(a) { location.href = 'page.html?2'; }", "the page was left"),
        (
            "function run(a) { addEventListener('pagehide', () => a.completionFunction({text: 'a'})); location.href = 'page.html?2'; }",
            "the page was left"
        ),
        (
            "function run(a) { a.completionFunction({text: 'a'}); } function finalize(b) { throw new Error(b.words); }",
            "the script has thrown: Error: 1"
        ),
    ])
    func `a fault of a script is named`(script: String, reason: String) throws {
        let (status, text) = try PageRuns(script: script).run()
        #expect(status == 1 && text.contains(reason), "\(script): \(text)")
    }

    @Test(arguments: ["function run(a) { while (true); }", "function run(a) { globalThis.kept = a; }"])
    func `a script that never completes is ended at the deadline`(script: String) throws {
        let (status, text) = try PageRuns(script: script).run(["--timeout", "5s"])
        #expect(status == 75 && text.contains("during: run of the script"), "\(text)")
    }

    @Test func `the page's own scripts cannot reach the extension's, nor does it theirs`() throws {
        let runs = try PageRuns(
            script: """
                function run(a) { a.completionFunction({text: typeof fromPage + JSON.stringify([1])}); }
                function finalize(b) { document.title = typeof fromPage; }
                """)
        let page = "<script>var fromPage = 1; JSON.stringify = () => { throw 1 }; function run() { throw 1 }</script>"
        try runs.directory.put(page, at: "page.html")
        let (status, text) = try runs.run()
        #expect(status == 0 && text.contains("<title>undefined</title>"), "\(text)")
    }

    @Test func `a page that is not there is named`() throws {
        let runs = try PageRuns()
        #expect(try runs.run(page: runs.directory.path + "/missing.html").text.contains("cannot be shown"))
    }

    @Test func `the page's requests reach 127.0.0.1, and nothing else`() throws {
        let server = """
            import http.server, threading
            class Handler(http.server.BaseHTTPRequestHandler):
                def do_GET(self): print(self.path, flush=True); self.send_error(404)
                def log_message(self, *_): pass
            other = http.server.ThreadingHTTPServer(("127.0.0.2", 0), Handler)
            threading.Thread(target=other.serve_forever, daemon=True).start()
            here = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
            print("ports", here.server_port, other.server_port, "", flush=True)
            here.serve_forever()
            """
        let process = try RunningProcess(["python3", "-c", server])
        try process.waitForText("ports")
        try process.waitForLines(1)
        let ports = process.text.split(separator: " ")
        let runs = try PageRuns()
        let pictures = "<img src='http://127.0.0.1:\(ports[1])/here'><img src='http://127.0.0.2:\(ports[2])/other'>"
        try runs.directory.put("<p>a</p>" + pictures, at: "page.html")
        #expect(try runs.run().status == 0)
        // The page has loaded once both requests have ended.
        #expect(process.text.contains("/here") && !process.text.contains("/other"), "\(process.text)")
        process.kill()
    }
}
