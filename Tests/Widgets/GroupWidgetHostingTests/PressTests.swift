import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing

@Suite(.ownThreads, .timeLimit(.minutes(10)), .tags(.process))
struct `Presses of a hosted widget` {
    private struct Count: Decodable, Sendable { var number = 0 }
    private struct Record: Decodable, Sendable { var performed: [String] = [] }

    private static func run() throws -> HostRun { try HostRun(["p": #""arguments": ["--presses"]"#]) }

    /// Returns the results that the host has logged, by the name of the press.
    private static func results(_ text: String) -> [String: String] {
        var results: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("widget-host: p: press "), words.count >= 7 {
                results[String(words[3])] = String(words[6].prefix { $0 != ":" })
            }
        }
        return results
    }

    /// Returns an app that holds the widget's item.
    private static func lock(in run: HostRun) throws -> RunningProcess {
        let app = try RunningProcess(
            ["groupctl", "lock", run.container.path, "Library/p", "--", "sh", "-c", "echo locked; exec sleep 60"],
            environment: run.environment)
        try app.waitForText("locked")
        return app
    }

    @Test func `a press of a button and of a toggle changes the item, and is shown`() throws {
        let run = try Self.run()
        try run.await("p", "active", #"> 0\n[ ] switch"#)
        try run.send("press p 1")
        try run.await("p", "active", #"> 1\n[ ] switch"#)
        try run.send("press p 2")
        try run.await("p", "active", #"> 2\n[x] switch"#)
        // The second press reverses the first, though the view does not show it yet.
        try run.send("press p 2")
        try run.send("press p 2")
        try run.await("p", "active", #"> 4\n[x] switch"#)
        try run.send("press p 3")
        try run.host.waitForText("not done: there is no gone")
        try run.send("press p 4")
        try run.host.waitForText("line 4 is not pressed: the widget shows ")
        try run.quit()
    }

    @Test func `a press that waits for a lock is shown, and one that an app's death frees is performed`() throws {
        let run = try Self.run()
        try run.await("p", "active", "> 0")
        let app = try Self.lock(in: run)
        try run.send("press p 1")
        pause(nanoseconds: 100_000_000)
        #expect(Self.results(run.host.text).isEmpty)
        app.signal(SIGKILL, toGroup: true)
        try run.await("p", "active", "> 1")
        try run.quit()
    }

    @Test func `a press that ends each process is not known after two, and refreshes go on`() throws {
        let run = try HostRun(["a": ""])
        try run.await("a", "active", "nothing")
        try run.write("buttons", for: "a")
        try run.await("a", "active", "> buttons")
        try run.send("press a 1")
        try run.host.waitForText("of 'crash': unknown: two processes of the widget have not answered")
        try run.write("after", for: "a")
        try run.await("a", "active", "after")
        try run.quit()
    }

    @Test func `the presses of a widget that is removed are in the log`() throws {
        let run = try Self.run()
        try run.await("p", "active", "> 0")
        let app = try Self.lock(in: run)
        try run.send("press p 1")
        try run.send("press p 1")
        try run.send("remove p")
        try run.host.waitForText { $0.contains("of 'add': notDone") && $0.contains(": notDone: the widget is removed") }
        app.signal(SIGKILL, toGroup: true)
        try run.quit()
    }

    @Test func `each press is performed once or not at all, as the host says, whatever is killed`() throws {
        let presses = runsLongTests ? 200 : 50
        var random = SeededGenerator(seed: faultSeed)
        let run = try Self.run()
        try run.await("p", "active", "> 0")
        let coordinator = try run.container.open().coordinator(purpose: "check").blocking
        var (performed, results): (Set<String>, [String: String]) = ([], [:])
        var app: RunningProcess?
        var (widgetKills, kills) = (0, 0)
        for number in 0..<presses {
            try run.send("press p \(1 + number % 2)")
            pause(nanoseconds: Int64.random(in: 0..<8_000_000, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where widgetKills < 2:
                // Another kill of a widget makes its host wait for longer.
                widgetKills += 1
                let process = run.process(of: "p")
                #expect(process > 1)
                if process > 1 { kill(process, SIGKILL) }
                kills += 1
            case 1, 2:
                if let app { app.signal(SIGKILL, toGroup: true) }
                app = try RunningProcess(
                    ["groupctl", "lock", run.container.path, "Library/p", "--", "sleep", "0.2"],
                    environment: run.environment)
            case 3 where number % 3 == 0:
                run.host.signal(SIGKILL)
                results.merge(Self.results(try run.host.finish().text)) { $1 }
                widgetKills = 0
                try run.start(["--grace", "0.3"])
                try run.await("p", "active", "> ")
            default: break
            }
            // More presses than the record keeps are not made between two looks at it.
            let record = try coordinator.read("Library/Presses/p.json", as: Record.self, default: Record())
            performed.formUnion(record.performed)
        }
        if let app { app.signal(SIGKILL, toGroup: true) }
        // All presses before this one have their result then, as they are sent in their order. It is refused as long as
        // too many wait.
        let last = Self.results(run.host.text).count
        let end = monotonicNanoseconds() + 60_000_000_000
        while !run.host.text.contains("of 'gone'"), monotonicNanoseconds() < end {
            try run.send("press p 3")
            pause(nanoseconds: 200_000_000)
        }
        let text = try run.quit()
        #expect(text.contains("of 'gone'") && Self.results(text).count > last)
        results.merge(Self.results(text)) { $1 }
        performed.formUnion(
            try coordinator.read("Library/Presses/p.json", as: Record.self, default: Record()).performed)
        let count = try coordinator.read("Library/p", as: Count.self, default: Count()).number
        #expect(count == performed.count, "seed \(faultSeed)")
        for (name, result) in results {
            #expect(result == (performed.contains(name) ? "done" : "notDone"), "\(name), seed \(faultSeed)")
        }
        print(
            "seed \(faultSeed): \(presses) presses, \(performed.count) performed, \(results.count) results, \(kills) widgets killed"
        )
    }
}
