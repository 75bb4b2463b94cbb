import FoundationEssentials
import GroupCommandLine
import GroupProtocolLines
import GroupSystemCalls

/// A browser without a window, which is driven through two pipes: messages of the DevTools protocol, as JSON ended by
/// NUL. It is killed, with everything that it has started, when this object is released.
final class Browser {
    private let process: BrowserProcess
    private let poller: Poller
    private let deadline: Deadline
    private let cancellation: Cancellation
    private let input: PipeSide
    private let output: PipeSide
    private var messages = LineBuffer(largest: Browser.largestMessage, endedBy: 0)
    private var chunk = [UInt8](repeating: 0, count: 65_536)
    private var lastNumber: Int64 = 0

    /// The largest message that is read, in bytes.
    private static let largestMessage = 16 << 20
    /// No page has as many levels as the protocol's own messages and a property list together.
    private static let deepest = 200

    /// Starts a browser whose pages reach this machine only. Errors: those of the system
    init(_ program: String, _ deadline: Deadline, _ cancellation: Cancellation, _ poller: Poller) throws(Errno) {
        let profile = try TemporaryProfile()
        let toIt = try FileDescriptor.pipe()
        let fromIt = try FileDescriptor.pipe()
        input = try PipeSide(toIt.writing.duplicate())
        output = try PipeSide(fromIt.reading.duplicate())
        try poller.add(output.number, for: .input)
        let nothing = try FileDescriptor.open(path: Array("/dev/null".utf8), .readingAndWriting)
        let words = Self.words(program, profile.path).map { Array($0.utf8) }
        // What it writes besides its profile goes there, too.
        let path = Array(profile.path.utf8)
        let variables = ["HOME", "TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map { ($0, path) }
        let process = try SupervisedProcess(
            words, variables: variables, input: nothing, output: nothing,
            errors: nothing.number, attached: [toIt.reading.number, fromIt.writing.number])
        self.process = BrowserProcess(process, profile)
        self.deadline = deadline
        self.cancellation = cancellation
        self.poller = poller
    }

    private static func words(_ program: String, _ profile: String) -> [String] {
        let words = [
            program, "--headless", "--remote-debugging-pipe", "--user-data-dir=\(profile)", "--no-first-run",
            "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-breakpad",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
        ]
        // The sandbox does not work for the superuser.
        return effectiveUser() == 0 ? words + ["--no-sandbox"] : words
    }

    /// Calls a method of a page, or without `page` of the browser, and returns its result. `take` gets each event that
    /// comes meanwhile, and may throw. Errors: `PageFault`; those of `take`
    func call(
        _ method: String, _ parameters: [(String, JSONValue)] = [], page: String? = nil, during what: String? = nil,
        take: (_ event: String, JSONValue) throws -> Void = { _, _ in }
    ) throws -> JSONValue {
        lastNumber += 1
        var members = [
            ("id", JSONValue.integer(lastNumber)), ("method", .string(method)), ("params", .object(parameters)),
        ]
        if let page { members.append(("sessionId", .string(page))) }
        try send(Array(JSONValue.object(members).encoded().utf8) + [0], during: what ?? method)
        while true {
            let message = try nextMessage(during: what ?? method)
            if let event = message["method"]?.text {
                try take(event, message["params"] ?? .null)
            } else if message["id"] == .integer(lastNumber) {
                if let result = message["result"] { return result }
                throw PageFault.browserFault(message["error"]?["message"]?.text ?? "an answer without a result")
            }
        }
    }

    /// Reads events until `take` returns true.
    func waitForEvent(during what: String, _ take: (String, JSONValue) throws -> Bool) throws {
        while true {
            let message = try nextMessage(during: what)
            if let event = message["method"]?.text, try take(event, message["params"] ?? .null) { return }
        }
    }

    private func send(_ message: [UInt8], during what: String) throws {
        var rest = message[...]
        while !rest.isEmpty {
            do throws(Errno) {
                rest = rest.dropFirst(try input.descriptor.writeSome(rest))
            } catch {
                if error != .tryAgain { throw PageFault.browserEnded }
                // What it writes meanwhile is read, so that neither waits for the other.
                try? poller.add(input.number, for: .output)
                defer { try? poller.change(input.number, to: []) }
                try wait(during: what)
            }
        }
    }

    private func nextMessage(during what: String) throws -> JSONValue {
        while true {
            if let message = messages.next() {
                do throws(TextFault) {
                    return try JSONReader.value(of: message, deepest: Self.deepest)
                } catch {
                    throw PageFault.browserFault("a message that is not JSON: \(error)")
                }
            }
            if messages.isTooLong { throw PageFault.tooMuchOutput(limit: Self.largestMessage) }
            try wait(during: what)
        }
    }

    /// Waits until there is something to read, or room to write, and reads it.
    private func wait(during what: String) throws {
        if cancellation.isCancelled { throw PageFault.cancelled }
        if deadline.isOver { throw PageFault.deadline(deadline.timeout ?? .zero, during: what) }
        do throws(Errno) {
            _ = try poller.ready(nanoseconds: deadline.remaining)
        } catch {
            throw PageFault.browserFault("\(error)")
        }
        guard let count = output.take(&chunk) else { return }
        if count == 0 { throw PageFault.browserEnded }
        messages.append(chunk[..<count])
    }
}

/// The browser's processes, which are killed when this object is released, before their files are deleted.
private final class BrowserProcess {
    private let process: SupervisedProcess
    private let profile: TemporaryProfile

    init(_ process: consuming SupervisedProcess, _ profile: TemporaryProfile) {
        self.process = process
        self.profile = profile
    }

    deinit {
        process.endGroup()
        process.awaitEnd()
        _ = process.nextEvent()
        // Its watcher of crashes has a session of its own.
        ProcessTree.endAll()
    }
}

/// The directory with the browser's files, which is deleted when this object is released.
private final class TemporaryProfile {
    let path: String
    private let parent: FileDescriptor

    init() throws(Errno) {
        let directory = environmentValue("TMPDIR") ?? "/tmp"
        // Short, because the path of a socket in it is limited to 107 bytes.
        path = "\(directory)/ph-\(String(randomWord() % 2_176_782_336, radix: 36))"
        if path.utf8.count > 62 { throw Errno.nameTooLong }
        parent = try FileDescriptor.open(path: Array(directory.utf8), [.reading, .directory])
        try parent.createDirectory(name, mode: 0o700)
    }

    deinit { try? parent.removeTree(name) }

    private var name: [UInt8] { Array(path.utf8.split(separator: UInt8(ascii: "/")).last ?? []) }
}

extension JSONValue {
    /// The member of this name, if this is an object.
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    /// The text, if this is one.
    var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }
}
