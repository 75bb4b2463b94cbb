import Foundation
import Glibc
import GroupContainer
import GroupSystemCalls
import TestSupport
import Testing
import WidgetApp
import Widgets

@Suite(.ownThreads, .timeLimit(.minutes(5)), .tags(.process))
struct `Opening a URL` {
    private let place: Place
    private let center: WidgetCenter
    /// The test's thread waits for the app; the pool's threads may be busy with other tests.
    private static let appThread = ThreadExecutor(threads: 1)

    init() throws {
        place = try Place()
        center = try WidgetCenter(place.container)
    }

    private var opened: [String] {
        (try? place.blocking.read("Library/opened.json", as: [String].self)) ?? []
    }

    /// Starts the app once, so that its scheme is registered, and ends it.
    private func install() throws {
        let app = try RunningProcess(["quick-actions", "--group", place.path, "--idle", "0"])
        #expect(app.reap() == 0)
    }

    @Test func `opening a URL whose scheme no app has returns noApp`() throws {
        #expect(try center.open("nobody://x") == .noApp)
        for text in [
            "", "x", "://x", "1x:y", "a b:c", "quick actions://", "a:\n", "a:\u{9B}2J",
            "a:" + String(repeating: "x", count: 70_000),
        ] {
            #expect(throws: CoordinationError.self) { try center.open(text) }
        }
    }

    @Test func `the running app gets each URL once and in order, and the opener gets the result`() throws {
        let app = try RunningProcess(["quick-actions", "--group", place.path])
        let channel = try GroupChannel(place.container, name: "group-container.open.quick-actions")
        #expect(try channel.waitForListener(named: "app", timeout: patience))
        for action in ["compose", "scan", "compose"] {
            #expect(try center.open("quick-actions://\(action)", timeout: patience) == .opened)
        }
        #expect(try center.open("quick-actions://nowhere", timeout: patience) == .refused)
        #expect(
            opened == ["opened compose", "opened scan", "opened compose", "no such place: quick-actions://nowhere"])
        app.signal(SIGTERM)
        app.reap()
    }

    @Test func `a command that another user may have registered is not run`() throws {
        let temporary = try TemporaryContainer()
        for name in ["", "/.group"] { #expect(unsafe chmod(temporary.path + name, 0o2770) == 0) }
        let other = try WidgetCenter(temporary.open())
        let trace = temporary.path + "-trace"
        try other.register(AppLink(launch: ["touch", trace]), scheme: "other")
        let error = #expect(throws: CoordinationError.self) { try other.open("other://x", timeout: .seconds(1)) }
        #expect(error?.code == .notPermitted, "\(String(describing: error))")
        #expect(!FileManager.default.fileExists(atPath: trace))
    }

    @Test func `several openers of a URL start an app that does not run once`() throws {
        try install()
        let center = center
        let results = Guarded<[OpenResult]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { _ in
            let result = try? center.open("quick-actions://share", timeout: patience)
            if let result { results.withLock { $0.append(result) } }
        }
        #expect(results.withLock { $0 } == Array(repeating: .opened, count: 6))
        #expect(opened == Array(repeating: "opened share", count: 6))
    }

    @Test func `a URL for a stopped app waits in its queue until the app goes on`() throws {
        let app = try RunningProcess(["quick-actions", "--group", place.path])
        let channel = try GroupChannel(place.container, name: "group-container.open.quick-actions")
        #expect(try channel.waitForListener(named: "app", timeout: patience))
        try #require(app.stop())
        #expect(try center.open("quick-actions://scan", timeout: .milliseconds(10)) == .queued)
        app.resume()
        #expect(try center.open("quick-actions://share", timeout: patience) == .opened)
        #expect(opened == ["opened scan", "opened share"])
        app.signal(SIGKILL)
        app.reap()
        #expect(try center.open("quick-actions://compose", timeout: patience) == .opened)
        #expect(opened == ["opened scan", "opened share", "opened compose"])
    }

    @Test func `a URL that the app refuses has a reason, and does not block the next URL`() throws {
        let links = try AppLinks(place.container, scheme: "shelf", arguments: [])
        let (center, taken) = (center, Guarded<[String]>([]))
        let app = Task(executorPreference: Self.appThread) {
            try await links.run { url in
                if url.hasSuffix("nowhere") { throw AppLinks.Refusal("there is no such shelf") }
                taken.withLock { $0.append(url) }
            }
        }
        defer { app.cancel() }
        for _ in 0..<70 {
            var reason: String?
            try #require(try center.open("shelf:nowhere", timeout: patience, refused: { reason = $0 }) == .refused)
            #expect(reason == "there is no such shelf")
        }
        #expect(try center.open("shelf:1", timeout: patience) == .opened)
        #expect(taken.withLock { $0 } == ["shelf:1"])
    }

    @Test func `opening a URL whose app cannot be started names the program`() throws {
        let error = #expect(throws: CoordinationError.self) {
            do { _ = try AppLinks(place.container, scheme: "gone", program: "/nowhere/app", arguments: []) }
            _ = try center.open("gone://x")
        }
        #expect(error?.code == .notFound && error?.description.contains("/nowhere/app") == true, "\(error as Any)")
    }

    @Test func `one process at a time may register a scheme`() throws {
        let links = try AppLinks(place.container, scheme: "a+b.c-1", arguments: [])
        #expect(throws: CoordinationError.self) { try AppLinks(place.container, scheme: "A+B.C-1", arguments: []) }
        #expect(try !links.openNext(timeout: .zero) { _ in })
        for scheme in ["", "1a", "a/b", "ä", "a b"] {
            #expect(throws: CoordinationError.self) { try AppLinks(place.container, scheme: scheme, arguments: []) }
        }
    }
}
