public import GroupContainer
import GroupSystemCalls
import Widgets

/// The URLs that widgets and others open in this app: each once and in order, also those that came while the app did not
/// run.
///
///     let links = try AppLinks(container, scheme: "todo", launching: ["serve"])
///     try await links.run { url in show(url) }
///
/// There is one app of a scheme at a time: the object is what says that it runs.
public final class AppLinks: Sendable {
    private let listener: GroupListener

    /// Registers the scheme, and what is started where a URL is to be opened and this app does not run: `program` (this
    /// one, where it is now, unless told) with these arguments; it is started in any working folder, so paths among them
    /// are to begin at the root. Errors: `invalidArgument` where it is no scheme; `conflict` where the app of this scheme runs
    /// already; those of `GroupChannel.listener`.
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
        // First, so that whoever sees it listen can open something in it.
        try WidgetCenter(container).register(AppLink(launch: [program] + arguments), scheme: scheme)
        let channel = try GroupChannel(container, name: AppLink.channel(ofScheme: scheme))
        listener = try channel.listener(named: AppLink.listener, from: .oldest)
    }

    /// Opens what comes, one after the other, until the task is cancelled or `open` throws. A URL is taken once `open`
    /// has returned: then whoever asked for it learns that it was opened.
    public func run(_ open: (String) async throws -> Void) async throws {
        for try await message in listener.messages {
            if let url = message.url { try await open(url) }
            try listener.acknowledge(upTo: message.number)
        }
    }

    /// The same on the calling thread: opens the next one. False: none came in that time (nil has no end).
    public func openNext(timeout: Duration? = nil, _ open: (String) throws -> Void) throws -> Bool {
        guard let message = try listener.next(timeout: timeout) else { return false }
        if let url = message.url { try open(url) }
        try listener.acknowledge(upTo: message.number)
        return true
    }
}

extension GroupMessage {
    /// Nil: whoever posted it did not go through `open`; it is passed over.
    fileprivate var url: String? {
        bytes.flatMap { String(validating: $0, as: UTF8.self) }
    }
}
