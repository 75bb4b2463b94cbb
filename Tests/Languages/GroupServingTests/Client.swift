import Foundation
import Glibc
import GroupCommandLine
import GroupSystemCalls
import TestSupport

/// A client of `groupctl serve`: of a process of its own, or of a socket.
final class Client: Sendable {
    private let descriptors: Guarded<Descriptors?>
    private let process: RunningProcess?
    private let lines = Guarded<(bytes: [UInt8], isAtEnd: Bool)>(([], false))
    private let more = NSCondition()
    private let last = Guarded(1_000)
    private let parsed = Guarded<(values: [JSONValue], offset: Int)>(([], 0))

    private final class Descriptors: Sendable {
        let socket: FileDescriptor
        init(_ socket: consuming FileDescriptor) { self.socket = socket }
    }

    /// Connects to a socket. With `reads` false, nothing is read before `startReading()`.
    init(socket path: String, reads: Bool = true) throws {
        descriptors = Guarded(Descriptors(try UnixListener.connect(path: Array(path.utf8))))
        process = nil
        if reads { startReading() }
    }

    /// Starts a server of its own.
    init(_ container: TemporaryContainer, _ options: String...) throws {
        process = try RunningProcess(["groupctl", "serve", container.path] + options)
        descriptors = Guarded(nil)
    }

    var processIdentifier: Int32 { process?.identifier ?? 0 }

    func startReading() {
        guard let descriptors = descriptors.withLock({ $0 }) else { return }
        Thread.detachNewThread { [self] in
            var chunk = [UInt8](repeating: 0, count: 65_536)
            while let count = try? descriptors.socket.read(into: &chunk), count > 0 {
                lines.withLock { $0.bytes += chunk[..<count] }
                more.withLock { more.broadcast() }
            }
            lines.withLock { $0.isAtEnd = true }
            more.withLock { more.broadcast() }
        }
    }

    /// All that the server has sent.
    var text: String {
        process?.text ?? lines.withLock { String(decoding: $0.bytes, as: UTF8.self) }
    }

    func send(_ line: String) throws {
        if let process { return try process.send(line) }
        try descriptors.withLock { $0 }?.socket.writeAll(Array((line + "\n").utf8))
    }

    /// Sends a part of a line.
    func sendPiece(_ text: String) throws {
        try descriptors.withLock { $0 }?.socket.writeAll(Array(text.utf8))
    }

    /// Ends the connection, as the end of a process does.
    func close() {
        process?.closeInput()
        if let socket = descriptors.withLock({ $0.take() }) { UnixListener.shutDown(socket.socket.number) }
    }

    /// Says that no request follows, and goes on reading.
    func endSending() {
        if let socket = descriptors.withLock({ $0 }) { shutdown(socket.socket.number, Int32(SHUT_WR)) }
    }

    /// Waits until the server has closed the connection.
    func awaitEnd() -> Bool { eventually { lines.withLock(\.isAtEnd) } }

    /// The id of the last request.
    var lastID: Int { last.withLock { $0 } }

    func kill() { process?.kill() }

    func finish() throws -> String { try process?.finish().text ?? text }

    /// The values of all lines.
    func received() -> [JSONValue] {
        let bytes = Array(text.utf8)
        return parsed.withLock { parsed in
            while let end = bytes[parsed.offset...].firstIndex(of: 0x0A) {
                if let value = try? JSONReader.value(of: Array(bytes[parsed.offset..<end]), deepest: 600) {
                    parsed.values.append(value)
                }
                parsed.offset = end + 1
            }
            return parsed.values
        }
    }

    /// Waits for a line for which `find` returns something.
    func wait<Found>(_ find: (JSONValue) -> Found?) throws -> Found {
        let limit = Date(timeIntervalSinceNow: TimeInterval(patience.components.seconds))
        while true {
            let text = text
            if let found = received().lazy.compactMap(find).first { return found }
            if let process {
                try process.waitForLines(text.utf8.count { $0 == 0x0A } + 1)
                continue
            }
            let isOver = lines.withLock(\.isAtEnd) || Date() > limit
            if isOver { throw WaitedInVain(description: "waited in vain for a line after \(text.suffix(500))") }
            more.withLock { _ = more.wait(until: Date(timeIntervalSinceNow: 0.05)) }
        }
    }

    /// Sends a request without its braces and id, and returns its id.
    func begin(_ request: String) throws -> Int {
        let id = last.withLock { last in
            last += 1
            return last
        }
        try send("{\"id\":\(id),\(request)}")
        return id
    }

    /// Waits for the answer to a request: what is in `ok` or `error`, and which of them.
    func answer(_ id: Int) throws -> Answer {
        try wait { line in
            guard line["id"] == .integer(Int64(id)) else { return nil }
            if let ok = line["ok"] { return Answer(isOK: true, value: ok) }
            return line["error"].map { Answer(isOK: false, value: $0) }
        }
    }

    /// Does a request.
    @discardableResult func ask(_ request: String) throws -> Answer { try answer(begin(request)) }

    func events(of id: Int) -> [JSONValue] {
        received().compactMap { $0["id"] == .integer(Int64(id)) ? $0["event"] : nil }
    }
}

struct Answer {
    var isOK: Bool
    var value: JSONValue

    subscript(name: String) -> JSONValue? { value[name] }
    /// The code of an error.
    var code: String? { if !isOK, case .string(let code)? = value["code"] { code } else { nil } }
    var cause: String { if case .string(let text)? = value["cause"] { text } else { "" } }
}

extension JSONValue {
    subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.0 == name }?.1
    }

    var number: Int? {
        switch self {
        case .integer(let number): Int(number)
        case .unsigned(let number): Int(number)
        default: nil
        }
    }
}

/// A container, and a directory for the socket of its server.
struct ServedPlace {
    let temporary: TemporaryContainer
    let directory: TemporaryDirectory

    init() throws {
        temporary = try TemporaryContainer()
        directory = try TemporaryDirectory()
    }

    var socket: String { directory.path + "/s" }

    /// Starts a server, and returns when it listens.
    func server() throws -> RunningProcess {
        let server = try RunningProcess(["groupctl", "serve", temporary.path, "--socket", socket])
        try server.waitForText("listening at")
        return server
    }
}
