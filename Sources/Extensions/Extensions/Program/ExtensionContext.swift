public import FoundationEssentials
public import GroupContainer
import GroupProtocolLines
import GroupSystemCalls

/// The request that an extension runs for: its input, and the calls with its result.
public final class ExtensionContext: Sendable {
    /// An error of a call with a result or a message.
    public enum Fault: Error, Sendable, CustomStringConvertible {
        /// A result was sent already.
        case finished
        /// An attachment cannot be returned.
        case attachment(AttachmentError)
        /// The result is larger than a message may be, in bytes, or contains a value without a form in JSON. (Larger
        /// contents belong into items of the container.)
        case notEncodable(largest: Int)
        /// The host does not read any more.
        case hostIsGone(reason: String)

        /// A sentence for people.
        public var description: String {
            switch self {
            case .finished: "the request has a result already"
            case .attachment(let error): "\(error)"
            case .notEncodable(let largest):
                "the message is larger than \(largest) bytes, or contains a value that JSON cannot hold; write large contents as items of the container"
            case .hostIsGone(let reason): "the host does not read any more: \(reason)"
            }
        }
    }

    /// The items to work on.
    public let inputItems: [ExtensionItem]
    /// The point for which the extension runs.
    public let point: ExtensionPoint
    /// The extension's identifier, as its manifest has it.
    public let identifier: String
    /// The time that the host gives the request, from its beginning.
    public let deadline: Duration
    /// The container of the extension's group; nil if the host has none for it.
    public let container: Container?
    private let link: HostLink
    private let hasFinished = Guarded(false)

    init(_ request: ExtensionHostMessage.Request, _ container: Container?, _ link: HostLink) throws {
        point = request.point
        identifier = request.extension
        self.container = container
        self.link = link
        deadline = .milliseconds(Int64(min(max(0, request.deadline), 1e9) * 1_000))
        inputItems = try request.items.map { line in
            try line.item(in: container) { number throws(AttachmentError) in try AttachedFile(inherited: number) }
        }
    }

    /// Whether a result was sent.
    public var isFinished: Bool { hasFinished.withLock { $0 } }

    /// Sends the result: the request is complete, with these items for the host. The host then closes the input, which
    /// cancels the task of the extension's body, and gives the process a short time to end. Errors: `finished`,
    /// `attachment`, `notEncodable`, `hostIsGone`. System calls: write(2)
    public func complete(returning items: [ExtensionItem] = []) throws(Fault) {
        var lines: [ItemLine] = []
        do throws(AttachmentError) {
            for item in items {
                lines.append(try ItemLine(item) { _ throws(AttachmentError) in throw .notReturnable })
            }
        } catch {
            throw .attachment(error)
        }
        try finish(.complete(lines))
    }

    /// Sends the result that the request could not be completed, or was given up. See `ExtensionError.init(_:)` for
    /// what the host gets of the error. Errors: `finished`, `notEncodable`, `hostIsGone`. System calls: write(2)
    public func cancel(_ error: any Error) throws(Fault) { try finish(.cancel(ExtensionError(error))) }

    /// Requests the host to open a URL: in the extension's own app, with the scheme that it has registered. There is no
    /// answer, as the app may outlive the request. Errors: `finished`, `notEncodable`, `hostIsGone`. System calls:
    /// write(2)
    ///
    ///     if let url = URL(string: "todo://item/3") { try context.openApp(url) }
    public func openApp(_ url: URL) throws(Fault) { try send(.open(url: url.absoluteString)) }

    /// Writes a line to the host's log. Errors: `finished`, `notEncodable`, `hostIsGone`. System calls: write(2)
    public func log(_ text: String) throws(Fault) { try send(.log(text)) }

    private func send(_ message: ExtensionMessage) throws(Fault) {
        if isFinished { throw .finished }
        try write(Self.line(message))
    }

    private func finish(_ message: ExtensionMessage) throws(Fault) {
        let line = try Self.line(message)
        try hasFinished.withLock { hasFinished throws(Fault) in
            if hasFinished { throw .finished }
            hasFinished = true
        }
        try write(line)
    }

    private static func line(_ message: ExtensionMessage) throws(Fault) -> [UInt8] {
        guard let line = ProtocolLine.encoded(message), line.count <= ProtocolLine.largest else {
            throw .notEncodable(largest: ProtocolLine.largest)
        }
        return line
    }

    private func write(_ line: [UInt8]) throws(Fault) {
        do throws(Errno) {
            try link.send(line: line)
        } catch {
            throw .hostIsGone(reason: "\(error)")
        }
    }
}
