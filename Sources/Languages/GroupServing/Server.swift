import Dispatch
import GroupBytes
package import GroupContainer
package import GroupSystemCalls

/// Serves programs in any language, by lines of JSON. docs/guide/serve.md describes the lines.
package struct Server: Sendable {
    private let container: Container
    private let purpose: String

    package init(_ container: Container, purpose: String) {
        self.container = container
        self.purpose = purpose
    }

    /// The most clients of a socket at a time.
    package static let mostClients = 1_024
    /// The files that the process has open apart from those of clients, and those that a client has: the ends of its
    /// connection, and the ones of its requests.
    private static let (ownFiles, filesOfClient) = (32, 4)

    /// Serves one client on standard input and output, until it ends. Error: of a process that may have no further
    /// descriptor.
    package func serveStandardStreams() throws(CoordinationError) {
        let writer = LineWriter(1)
        do throws(Errno) {
            try Connection(container, purpose: purpose, writer: writer).serve(input: 0, output: 1)
        } catch {
            throw CoordinationError(error, operation: "serve", item: "standard input")
        }
        if let error = writer.error { throw CoordinationError(error, operation: "serve", item: "standard output") }
    }

    /// Accepts clients until the process ends. Raises the limit of open files, of which a client takes two. Error: the
    /// socket cannot be used any more.
    package func serve(_ socket: UnixListener) throws(CoordinationError) {
        OpenFiles.raiseLimit()
        let room = (Int(clamping: OpenFiles.limit) - Self.ownFiles) / Self.filesOfClient
        let clients = Clients(atMost: max(1, min(Self.mostClients, room)))
        while true {
            do throws(Errno) {
                let client = try socket.accept()
                if clients.enter() { start(client, clients) } else { refuse(client, clients.refusal) }
            } catch {
                let isForNow: Set<Errno> = [.tooManyFiles, .tooManyFilesInSystem, .noMemory]
                guard isForNow.contains(error) else {
                    throw CoordinationError(error, operation: "serve", item: "the socket")
                }
                clients.waitForEnd()
            }
        }
    }

    private func start(_ client: consuming FileDescriptor, _ clients: Clients) {
        let number = client.release()
        let work = { @Sendable in
            let client = FileDescriptor(owning: number)
            do throws(Errno) { try self.serve(client.number) } catch {
                self.refuse(client, "it may open no further file: \(error)")
            }
            clients.leave()
        }
        do throws(Errno) { try WorkThread.start(work) } catch {
            clients.leave()
            refuse(FileDescriptor(owning: number), "it may start no further thread: \(error)")
        }
    }

    private func refuse(_ client: consuming FileDescriptor, _ reason: String) {
        let error = CoordinationError(
            .limitReached, operation: "serve", reason: reason,
            remedy: .init(.tryAgain, "connect again when another client has ended"))
        LineWriter(client.number).write(Connection.answer(nil, error))
    }

    /// Serves the client of a socket.
    private func serve(_ socket: Int32) throws(Errno) {
        try Connection(container, purpose: purpose, writer: LineWriter(socket)).serve(input: socket, output: socket)
    }
}

/// How many clients there are.
private final class Clients: Sendable {
    private let count = Guarded(0)
    private let ended = DispatchSemaphore(value: 0)
    private let most: Int

    init(atMost most: Int) { self.most = most }

    var refusal: String {
        "there are \(most) clients already, "
            + (most < Server.mostClients
                ? "as many as the limit of open files permits ('ulimit -n' is \(OpenFiles.limit))"
                : "the most that it serves")
    }

    func enter() -> Bool {
        count.withLock { count in
            if count == most { return false }
            count += 1
            return true
        }
    }

    func leave() {
        count.withLock { $0 -= 1 }
        ended.signal()
    }

    /// Waits until a client ends; a second at most, as another process may give way, too.
    func waitForEnd() { _ = ended.wait(timeout: .now() + 1) }
}
