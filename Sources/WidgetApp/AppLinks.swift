public import GroupContainer
package import GroupSystemCalls
import Widgets
// A C module without anything in it. Only a target that names WidgetApp among its dependencies finds it: for any other
// one the compiler says which module is missing, where otherwise the linker would list symbols.
@_exported import WidgetAppIsForAppsNotForWidgets

/// The URLs that widgets and others open in this app: each once and in order, also those that came while the app did
/// not run.
///
///     let links = try AppLinks(container, scheme: "todo", launching: ["serve"])
///     try await links.run { url in show(url) }
///
/// There is one app of a scheme at a time: the object is what says that it runs.
public final class AppLinks: Sendable {
    private let listener: GroupListener
    private let center: WidgetCenter
    private let scheme: String

    /// Says that the app does not take a URL: thrown where it is opened. The asker learns that, and the next URL
    /// follows.
    public struct Refusal: Error, CustomStringConvertible {
        /// Why, for people: "there is no entry 7".
        public let reason: String

        /// For a reason, of which 200 characters are told.
        public init(_ reason: String) { self.reason = reason }

        /// The reason.
        public var description: String { reason }
    }

    /// Registers the scheme, and what is started where a URL is to be opened and this app does not run: `program` (this
    /// one, where it is now, unless told) with these arguments; it is started in any working directory, so paths among
    /// them are to begin at the root. Errors: `invalidArgument` where it is no scheme; `conflict` where the app of this
    /// scheme runs already; those of `GroupChannel.listener`.
    public init(
        _ container: Container, scheme: String, launching arguments: [String], of program: String? = nil
    ) throws(CoordinationError) {
        let scheme = scheme.lowercased()
        let program = program ?? programPath().map { String(decoding: $0, as: UTF8.self) } ?? ""
        guard AppLink.isScheme(scheme), !program.isEmpty,
            !([program] + arguments).contains(where: { $0.contains("\0") })
        else {
            throw .malformedAppLink(scheme)
        }
        // Registered first, so that a process that sees it listen can open something in it.
        center = try WidgetCenter(container)
        self.scheme = scheme
        try center.register(AppLink(launch: [program] + arguments), scheme: scheme)
        let channel = try GroupChannel(container, name: AppLink.channel(ofScheme: scheme))
        listener = try channel.listener(named: AppLink.listener, from: .oldest)
    }

    /// Opens what comes, one after the other, until the task is cancelled or `open` throws. A URL is taken once `open`
    /// has returned: then the asker learns that it was opened. For a URL that leads nowhere `open` is to throw
    /// `Refusal`: that ends nothing, and the asker learns that it was refused.
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

    /// The same on the calling thread: opens the next one. False: none came in that time (nil has no end).
    public func openNext(timeout: Duration? = nil, _ open: (String) throws -> Void) throws -> Bool {
        guard let message = try listener.next(timeout: timeout) else { return false }
        do {
            guard let url = message.url else { throw Self.noText }
            try open(url)
        } catch let refusal as Refusal {
            try center.noteRefusal(of: message.number, scheme: scheme, refusal.reason)
        }
        try listener.acknowledge(upTo: message.number)
        return true
    }

    /// The same for a command that signals end: false also where one came. It looks for them every tenth of a second.
    package func openNext(
        timeout: Duration, endedBy signals: TerminationSignals, _ open: (String) throws -> Void
    ) throws -> Bool {
        let start = monotonicNanoseconds()
        while signals.received == nil {
            let left = timeout - .nanoseconds(monotonicNanoseconds() - start)
            if try openNext(timeout: max(.zero, min(left, .milliseconds(100))), open) { return true }
            if left <= .zero { return false }
        }
        return false
    }

    /// Of what did not go through `WidgetCenter.open`.
    private static let noText = Refusal("it is no text in UTF-8")
}

extension GroupMessage {
    /// Nil: it is no text.
    fileprivate var url: String? {
        bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
