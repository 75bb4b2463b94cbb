import Foundation
import GroupSystemCalls
import TestSupport
import Testing

/// A lock for which other processes may wait keeps a widget from being stopped, whichever code took the lock.
@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `A hidden widget with a lock` {
    @Test(arguments: ["posix", "ofd", "flock", "child"])
    func `a hidden widget that holds a file lock of any kind goes on until it releases it`(word: String) throws {
        let run = try HostRun(["a": #""refresh": {"perDay": 86400, "atOnce": 1000}"#])
        try run.write("", for: "locked")
        try run.write(word, for: "a")
        try run.await("a", "active", word)
        try run.send("hide a")
        try run.host.waitForText("widget-host: a: not suspended: process ")
        #expect(run.host.text.contains("lock on '\(run.container.path)/Library/locked'"))
        try run.await("a", "suspending", word + "\tnot suspended: process ")
        #expect(ProcessView(of: run.process(of: "a"))?.condition == .running)
        // The widget is refreshed nevertheless.
        try run.write("free", for: "a")
        try run.await("a", "suspended", "free\n")
        #expect(ProcessView(of: run.process(of: "a"))?.condition == .stopped)
        let text = try run.quit()
        #expect(!text.contains("a: ended"), "\(text)")
    }

    @Test func `a hidden widget that holds a file lock is refreshed, shown, ended, and logged once`() throws {
        let run = try HostRun(["a": #""refresh": {"perDay": 86400, "atOnce": 1000}"#])
        try run.write("flock", for: "a")
        try run.await("a", "active", "flock")
        try run.send("hide a")
        try run.await("a", "suspending", "flock\tnot suspended: process ")
        try run.write("milk", for: "a")
        try run.await("a", "suspending", "milk\tnot suspended: process ")
        try run.send("show a")
        try run.write("bread", for: "a")
        try run.await("a", "active", "bread\n")
        try run.send("hide a")
        try run.await("a", "suspending", "bread\tnot suspended: process ")
        // No widget is suspended, and this one cannot be.
        try run.send("pressure")
        try run.await("a", "notRunning", "bread\n")
        let text = try run.quit()
        #expect(text.components(separatedBy: "widget-host: a: not suspended").count == 3, "\(text)")
    }

    @Test(arguments: ["lock", "transaction"])
    func `a widget that is hidden during a refresh with a lock gives way to its app`(word: String) throws {
        // Nothing but the host's own check can end the refresh.
        let run = try HostRun(
            ["a": #""arguments": ["--refreshes"], "refresh": {"deadline": 3600, "perDay": 86400, "atOnce": 1000}"#],
            options: ["--grace", "3600"])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        try run.write(word, for: "a")
        try run.host.waitForText("is busy with \(word)")
        try run.send("hide a")
        try run.write("bread", for: "a")
        #expect(!FileManager.default.fileExists(atPath: run.container.path + "/Library/half"), "it is undone")
        if word == "lock" { try run.await("a", "suspended", "milk") }
        try run.send("show a")
        try run.await("a", "active", "bread\n")
        let text = try run.quit()
        #expect(!text.contains("failed"), "\(text)")
        let fault = "when it was to be suspended, while another process waited"
        #expect(text.contains(fault) == (word == "transaction"), "\(text)")
    }

    @Test func `a widget that reads nothing during a refresh with a lock is ended for its app`() throws {
        let run = try HostRun(
            ["a": #""refresh": {"deadline": 3600, "perDay": 86400, "atOnce": 1000}"#], options: ["--grace", "3600"])
        try run.write("work", for: "a")
        try run.host.waitForText("a: holds it")
        try run.send("hide a")
        _ = try run.container.groupctl("write", "Library/kept", input: "x")
        try run.host.waitForText("kept a lock on 'Library/kept' when it was to be suspended, while another process")
        try run.quit()
    }

    @Test func `a widget that is hidden during a refresh without a lock goes on with it`() throws {
        let run = try HostRun(
            ["a": #""arguments": ["--refreshes"], "refresh": {"deadline": 3, "perDay": 86400, "atOnce": 1000}"#])
        try run.write("milk", for: "a")
        try run.await("a", "active", "milk")
        try run.write("download", for: "a")
        try run.host.waitForText("is busy with download")
        try run.send("hide a")
        // The refresh ends with its deadline, as that of a visible widget does.
        try run.host.waitForText("failed: a: no answer within 3.0 seconds")
        let text = try run.quit()
        #expect(!text.contains("kept a lock"), "\(text)")
    }

    // A widget that does not use this library.
    // In the mode WAL a connection has shared locks also between transactions.
    @Test(.needs("python3"), arguments: ["delete", "wal"])
    func `a hidden widget with an open database transaction completes it for the app`(mode: String) throws {
        let run = try HostRun([:])
        let program = run.container.directory + "/database-widget"
        try Data(Self.program.replacing("MODE", with: mode).utf8).write(to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
        try run.write("begin", for: "a")
        let manifest = """
            {"kind": "a", "executable": "../database-widget", "interests": ["Library/a"],
             "refresh": {"perDay": 86400, "atOnce": 1000}}
            """
        try Data(manifest.utf8).write(to: URL(filePath: run.widgets + "/a.json"), options: .atomic)
        try run.await("a", "active", "begin")
        try run.send("hide a")
        let file = "\(run.container.path)/Library/data.db" + (mode == "wal" ? "-shm" : "")
        try run.host.waitForText("an exclusive POSIX lock on '\(file)'")
        let app = try RunningProcess(
            ["python3", "-c", Self.app, run.container.path + "/Library/data.db"], input: "")
        try app.waitForText("waits")
        // The hidden widget completes its work.
        try run.write("commit", for: "a")
        let (status, text) = try app.finish()
        #expect(status == 0 && text.contains("rows: 2"), "\(text)")
        try run.await("a", "suspended", "commit")
    }

    private static let program = """
        #!/usr/bin/env python3
        import json, os, sqlite3, sys
        directory = os.environ["GROUP_CONTAINER"] + "/Library"
        data = sqlite3.connect(directory + "/data.db", isolation_level=None)
        data.execute("pragma journal_mode = MODE")
        data.execute("create table if not exists t (x)")
        def send(message):
            print(json.dumps(message), flush=True)
        send({"say": "hello", "version": 2, "kind": "a"})
        for line in sys.stdin:
            message = json.loads(line)
            if message["do"] == "update":
                word = open(directory + "/a").read()
                if word == "begin" and not data.in_transaction:
                    data.execute("begin immediate")
                    data.execute("insert into t values (1)")
                if word == "commit" and data.in_transaction:
                    data.execute("commit")
                send({"say": "answer", "id": message["id"], "result": "newData",
                     "timeline": {"entries": [{"snapshot": {"lines": [{"text": word, "style": "normal"}]}}]}})
            elif message["do"] == "suspend":
                send({"say": "suspended", "id": message["id"]})
            elif message["do"] == "end":
                break
        """

    private static let app = """
        import sqlite3, sys
        data = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=120)
        print("waits", flush=True)
        data.execute("insert into t values (2)")
        print("rows:", data.execute("select count(*) from t").fetchone()[0], flush=True)
        """
}
