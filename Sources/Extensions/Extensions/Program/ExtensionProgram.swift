import GroupContainer
import GroupProtocolLines
import GroupSystemCalls

/// An extension as a process, which a host starts for one request.
///
///     try await ExtensionProgram { context in
///         let url = try await context.inputItems[0].attachments[0].loadURL()
///         …
///         try context.complete(returning: [ExtensionItem(text: "shared \(url)")])
///     }.run()
public struct ExtensionProgram: Sendable {
    /// The work on a request.
    public typealias Body = @Sendable (ExtensionContext) async throws -> Void

    /// The process has no host that has sent a request.
    public enum Fault: Error, Sendable, CustomStringConvertible {
        /// The input ended before the first line.
        case noRequest
        /// The first line is no request.
        case malformedRequest(reason: String)

        /// A sentence for people.
        public var description: String {
            switch self {
            case .noRequest: "there is no request on standard input; a host runs this program"
            case .malformedRequest(let reason): "the first line of standard input is no request: \(reason)"
            }
        }
    }

    private let body: Body

    /// Creates a program. `body` does the work on a request, in a task that is cancelled when the host cancels the
    /// request, or has the result.
    public init(_ body: @escaping Body) { self.body = body }

    /// Runs the request, over this process's standard input and output, and returns when the body has ended. Other
    /// output of the process goes to standard error. Exactly one result is sent: the body's; or, if the body returns
    /// without one, that the request is complete, without items; or, if it throws, that the request is cancelled with
    /// that error. Errors: `Fault`; those of the streams, and of opening the container, after which the request is
    /// cancelled. System calls: read(2), write(2)
    public func run() async throws {
        // A person has started it: a request cannot be typed.
        if StandardStreams.kind(of: 0) == .terminal { throw Fault.noRequest }
        let link = try HostLink()
        let context: ExtensionContext
        do {
            context = try await Self.context(link)
        } catch {
            try? link.send(ExtensionMessage.cancel(ExtensionError(error)))
            throw error
        }
        let work = Task { [body] in try await body(context) }
        let watch = Task {
            for await line in link.lines {
                // A newer host may send messages that this version cannot decode; they are ignored.
                if case .cancel? = ProtocolLine.decoded(ExtensionHostMessage.self, from: line) { break }
            }
            work.cancel()
        }
        let result = await work.result
        watch.cancel()
        if context.isFinished { return }
        switch result {
        case .success: try context.complete()
        case .failure(let error): try context.cancel(error)
        }
    }

    /// Reads the request.
    private static func context(_ link: HostLink) async throws -> ExtensionContext {
        var first: [UInt8]?
        for await line in link.lines {
            first = line
            break
        }
        guard let first else { throw Fault.noRequest }
        guard case .begin(let request)? = ProtocolLine.decoded(ExtensionHostMessage.self, from: first) else {
            let reason = ProtocolLine.fault(ExtensionHostMessage.self, in: first)
            throw Fault.malformedRequest(reason: reason.isEmpty ? "it does not begin a request" : reason)
        }
        let container = try environmentValue("GROUP_CONTAINER").flatMap { $0.isEmpty ? nil : try Container(path: $0) }
        return try ExtensionContext(request, container, link)
    }
}
