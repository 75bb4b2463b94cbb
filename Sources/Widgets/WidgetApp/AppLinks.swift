public import GroupContainer
import GroupSystemCalls
import Widgets
// An empty C module. Only a target with WidgetApp among its dependencies finds it: for any other target, the compiler
// reports the missing module, where otherwise the linker would list symbols.
@_exported import AppsOnly

/// The URLs that widgets and other processes open in this app: each once and in order, also those from before the app
/// ran.
///
///     let links = try AppLinks(container, scheme: "todo", arguments: ["serve"])
///     try await links.run { url in show(url) }
///
/// There is one app of a scheme at a time: this object marks the app as running.
public final class AppLinks: Sendable {
    private let listener: GroupListener
    private let center: WidgetCenter
    private let scheme: String

    /// The error that `open` throws to refuse a URL. The process that opened the URL gets the reason, and the next URL
    /// follows.
    public struct Refusal: Error, CustomStringConvertible {
        /// The reason, for people: "there is no entry 7".
        public let reason: String

        /// Creates a refusal for a reason, of which 200 characters are passed on.
        public init(_ reason: String) { self.reason = reason }

        /// The reason.
        public var description: String { reason }
    }

    /// Registers the scheme, and the command that starts this app where a URL is to be opened and the app does not run:
    /// `program` (by default the path of this program) with these arguments. The command may start in any working
    /// directory, so paths among the arguments have to be absolute.
    ///
    /// Errors: `invalidArgument` for a malformed scheme; `conflict` where the app of this scheme runs already; those of
    /// `GroupChannel.listener`.
    public init(
        _ container: Container, scheme: String, program: String? = nil, arguments: [String]
    ) throws(CoordinationError) {
        let scheme = scheme.lowercased()
        let program = program ?? programPath().map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard AppLink.isScheme(scheme), !program.isEmpty,
            !([program] + arguments).contains(where: { $0.contains("\0") })
        else {
            throw .malformedAppLink(scheme)
        }
        // The scheme is registered first, so that a process that sees the listener can open a URL.
        center = try WidgetCenter(container)
        self.scheme = scheme
        try center.register(AppLink(launch: [program] + arguments), scheme: scheme)
        let channel = try GroupChannel(container, name: AppLink.channel(ofScheme: scheme))
        listener = try channel.listener(named: AppLink.listener, since: .start)
    }

    /// Opens the URLs one after the other, until the task is cancelled or `open` throws. A URL is acknowledged once
    /// `open` has returned: the process that opened it then gets `opened`. For a URL that leads nowhere `open` throws
    /// `Refusal`: the loop goes on, and that process gets `refused`.
    public func run(_ open: (String) async throws -> Void) async throws {
        for try await message in listener.messages {
            do {
                guard let url = message.url else { throw Self.noText }
                try await open(url)
            } catch let refusal as Refusal {
                try center.noteRefusal(of: message.number, scheme: scheme, refusal.reason)
            }
            try listener.acknowledge(upTo: message.number)
        }
    }

    /// Opens the next URL on the calling thread. Returns false if no URL came within `timeout` (nil has no limit).
    public func openNext(timeout: Duration? = nil, _ open: (String) throws -> Void) throws -> Bool {
        guard let message = try listener.next(timeout: timeout) else { return false }
        try self.open(message, open)
        return true
    }

    private func open(_ message: GroupMessage, _ open: (String) throws -> Void) throws {
        do {
            guard let url = message.url else { throw Self.noText }
            try open(url)
        } catch let refusal as Refusal {
            try center.noteRefusal(of: message.number, scheme: scheme, refusal.reason)
        }
        try listener.acknowledge(upTo: message.number)
    }

    /// Opens the next URL, for a command that may have to end before: returns false also where `isOver` returns true
    /// after an `Interruption`, as a signal is one.
    package func openNext(
        timeout: Duration, until isOver: () -> Bool, _ open: (String) throws -> Void
    ) throws -> Bool {
        let start = monotonicNanoseconds()
        while true {
            let seen = Interruption.latest
            if isOver() { return false }
            let left = timeout - .nanoseconds(monotonicNanoseconds() - start)
            if let message = try listener.next(timeout: max(.zero, left), since: seen) {
                try self.open(message, open)
                return true
            }
            if left <= .zero { return false }
        }
    }

    /// The refusal of a message that did not come from `WidgetCenter.open`.
    private static let noText = Refusal("the address is not valid UTF-8")
}

extension GroupMessage {
    /// The message as text; nil if it is not valid UTF-8.
    fileprivate var url: String? {
        bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
