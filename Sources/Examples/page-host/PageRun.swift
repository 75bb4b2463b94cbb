import ExtensionHosting
import Extensions
import FoundationEssentials
import GroupCommandLine
import GroupContainer
import GroupSystemCalls

/// One page, on which an extension's script runs.
struct PageRun {
    let address: URL
    let manifest: ExtensionManifest
    let extensions: ExtensionHost
    let browser: String
    let deadline: Deadline
    let cancellation: Cancellation

    /// The largest script, in bytes.
    private static let largestScript = 1 << 20

    /// Shows the page, runs the script and the extension, and returns the page's HTML after `finalize`. No process is
    /// left. Errors: `PageFault`
    func run() throws -> String {
        let script = try script()
        do {
            let poller = try Poller()
            return try cancellation.during(end: { poller.wake() }) {
                try run(script, in: try Browser(browser, deadline, cancellation, poller))
            }
        } catch let error as Errno {
            throw PageFault.notStarted("'\(browser)': \(error)")
        }
    }

    private func run(_ script: String, in browser: Browser) throws -> String {
        let page = try show(in: browser)
        let world = try World(in: page, of: browser)
        _ = try world.evaluate(script, in: browser, during: "the script")
        let found = try world.evaluate(Self.running, in: browser, during: "run of the script")
        guard let text = found["value"]?.text, let value = DefaultsValue(parsingJSON: Array(text.utf8)) else {
            throw PageFault.notPropertyList
        }
        let finalizing = try Self.finalizing(try answer(to: PageScript(value, at: address)))
        let html = try world.evaluate(finalizing, in: browser, during: "finalize of the script")
        guard let text = html["value"]?.text else { throw PageFault.browserFault("the page has no text") }
        return text
    }

    private func script() throws -> String {
        do {
            let name = try manifest.decodeAttributes(as: PageScript.Attributes.self).script
            let path = name.hasPrefix("/") ? name : "\(manifest.directory ?? ".")/\(name)"
            let bytes = try FileDescriptor.open(path: Array(path.utf8), [.reading, .nonBlocking])
                .readAll(limit: Self.largestScript + 1)
            if bytes.count > Self.largestScript { throw PageFault.noScript("more than \(Self.largestScript) bytes") }
            guard let text = String(validating: bytes, as: UTF8.self) else { throw PageFault.noScript("not UTF-8") }
            return text
        } catch let fault as PageFault {
            throw fault
        } catch let error as Errno {
            throw PageFault.noScript("\(error)")
        } catch {
            throw PageFault.noScript("the manifest has no attribute 'script'")
        }
    }

    /// The names of a page in the protocol: that of its session, and that of its frame.
    private struct Page {
        var session: String
        var frame: String
    }

    /// Shows the address, and returns once the page has loaded.
    private func show(in browser: Browser) throws -> Page {
        func text(_ answer: JSONValue, _ name: String) throws -> String {
            guard let text = answer[name]?.text else { throw PageFault.browserFault("there is no '\(name)'") }
            return text
        }
        let target = try text(browser.call("Target.createTarget", [("url", .string("about:blank"))]), "targetId")
        let session = try text(
            browser.call("Target.attachToTarget", [("targetId", .string(target)), ("flatten", .bool(true))]),
            "sessionId")
        for method in ["Page.enable", "Runtime.enable", "Inspector.enable"] {
            _ = try browser.call(method, page: session)
        }
        _ = try browser.call("Page.setLifecycleEventsEnabled", [("enabled", .bool(true))], page: session)
        var loaded: [String] = []
        func note(_ event: String, _ parameters: JSONValue) {
            guard event == "Page.lifecycleEvent", parameters["name"]?.text == "load" else { return }
            loaded += parameters["loaderId"]?.text.map { [$0] } ?? []
        }
        let answer = try browser.call(
            "Page.navigate", [("url", .string(address.absoluteString))], page: session, take: note)
        if let reason = answer["errorText"]?.text { throw PageFault.notShown(reason) }
        let (frame, loader) = (try text(answer, "frameId"), try text(answer, "loaderId"))
        if !loaded.contains(loader) {
            try browser.waitForEvent(during: "the page's load") { event, parameters in
                try World.checkPage(event)
                note(event, parameters)
                return loaded.contains(loader)
            }
        }
        return Page(session: session, frame: frame)
    }

    /// A world of the page: it has the page's elements, and none of its scripts' names.
    private struct World {
        private let session: String
        private let identifier: String

        init(in page: Page, of browser: Browser) throws {
            session = page.session
            var worlds: [JSONValue] = []
            let answer = try browser.call(
                "Page.createIsolatedWorld", [("frameId", .string(page.frame)), ("worldName", .string("extension"))],
                page: page.session
            ) { event, parameters in
                try Self.checkPage(event)
                if event == "Runtime.executionContextCreated", let world = parameters["context"] {
                    worlds.append(world)
                }
            }
            let number = answer["executionContextId"]
            guard number != nil, let identifier = worlds.last(where: { $0["id"] == number })?["uniqueId"]?.text else {
                throw PageFault.navigated
            }
            self.identifier = identifier
        }

        /// Runs a script, waits until it is done, and returns the result. Errors: `scriptThrew`, `neverCompletes`,
        /// `navigated`, `pageEnded`; those of `Browser.call`
        func evaluate(_ script: String, in browser: Browser, during what: String) throws -> JSONValue {
            let answer: JSONValue
            do {
                answer = try browser.call(
                    "Runtime.evaluate",
                    [
                        ("expression", .string(script)), ("uniqueContextId", .string(identifier)),
                        ("awaitPromise", .bool(true)), ("returnByValue", .bool(true)),
                    ], page: session, during: what
                ) { event, _ in
                    try Self.checkPage(event)
                    // All worlds of the page are gone: another page is there.
                    if event == "Runtime.executionContextsCleared" { throw PageFault.navigated }
                }
            } catch PageFault.browserFault(let text) where text.contains("collected") {
                throw PageFault.neverCompletes
            } catch PageFault.browserFault(let text) where text.contains("navigated") || text.contains("ontext") {
                throw PageFault.navigated
            }
            if let exception = answer["exceptionDetails"] {
                let text = exception["exception"]?["description"]?.text ?? exception["exception"]?["value"]?.text
                throw PageFault.scriptThrew(text ?? exception["text"]?.text ?? "an exception")
            }
            return answer["result"] ?? .null
        }

        static func checkPage(_ event: String) throws {
            if event == "Inspector.targetCrashed" { throw PageFault.pageEnded }
        }
    }

    /// Calls `run`, and gives the value that it completes with, as JSON; nothing if the value is no property list.
    private static let running = """
        (async () => {
            if (typeof run !== "function") throw new Error("the script has no function run");
            function check(name, text) {
                const value = this[name];
                const kind = typeof value;
                if (kind === "string" || kind === "boolean" || Number.isFinite(value) || Array.isArray(value)) return value;
                const plain = [Object.prototype, null];
                if (kind === "object" && value !== null && plain.includes(Object.getPrototypeOf(value))) return value;
                throw new TypeError("no property list");
            }
            // An object with a function `then` can be awaited.
            const value = await {then(complete, fail) { run({completionFunction: complete})?.then?.(undefined, fail); }};
            try { return JSON.stringify(value, check); } catch { return null; }
        })()
        """

    /// Calls `finalize` with the value, if there are both, and gives the page's HTML.
    private static func finalizing(_ value: DefaultsValue?) throws -> String {
        var call = "null"
        if let value {
            guard let json = value.jsonBytes else { throw PageFault.notPropertyList }
            let text = JSONValue.string(String(decoding: json, as: UTF8.self)).encoded()
            call = "typeof finalize === 'function' ? finalize(JSON.parse(\(text))) : null"
        }
        return "(async () => { await (\(call)); return document.documentElement.outerHTML; })()"
    }

    /// Runs the extension. Errors: `PageFault`
    private func answer(to request: PageScript) throws -> DefaultsValue? {
        if manifest.point != .pageScript { throw PageFault.notTaken("'\(manifest.identifier)' is for no page") }
        if let refusal = manifest.refusal(of: request.items) {
            throw PageFault.notTaken("'\(manifest.identifier)': \(refusal)")
        }
        let left = deadline.remaining.map(Duration.nanoseconds) ?? ExtensionRequest.usualDeadline
        let running = extensions.begin(manifest, request.items, deadline: left)
        switch cancellation.during(end: { running.cancel() }, { running.blocking.result() }) {
        case .failed(let failure): throw PageFault.failed(failure)
        case .cancelled(let error): throw PageFault.extensionCancelled(error)
        case .completed(let items):
            do throws(MalformedItem) {
                return try PageScript.value(ofResult: items)
            } catch {
                throw PageFault.malformed(error)
            }
        }
    }
}
