import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import Widgets

/// A client's lines and what they have left: locks, streams, refreshes.
///
/// One thread reads the lines. Requests are done in their order, by the lane of the connection. A lock and a refresh
/// begin in their turn, but have a lane each, in which they wait and in which the requests are done that name them. So a
/// request that waits for a lock never keeps another one from ending that lock.
final class Connection: Sendable {
    /// What the client has asked for, as long as it is not answered, or as long as it has what it asked for.
    final class Entry: Sendable {
        let lane: Lane
        let token = CancellationToken()
        private enum Phase { case queued, begun, answered }
        private let phase = Guarded(Phase.queued)
        private let state = Guarded(Held.nothing)
        init(_ lane: Lane) { self.lane = lane }

        /// Notes that the request is being done. Returns false if it was answered.
        func begin() -> Bool {
            phase.withLock { phase in
                if phase == .queued { phase = .begun }
                return phase == .begun
            }
        }

        /// Notes that the request is answered, if it has not begun. Returns whether that is so.
        func skip() -> Bool {
            phase.withLock { phase in
                guard phase == .queued else { return false }
                phase = .answered
                return true
            }
        }

        func noteAnswer() { phase.withLock { $0 = .answered } }

        var held: Held {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }
    /// What a request has left.
    enum Held: Sendable {
        case nothing
        case locks(HeldLocks)
        case refresh(HeldRefresh)
        case stream(Stream)
        case listener(GroupListener, Stream)
    }

    let container: Container
    private let name: Guarded<String>
    let writer: LineWriter
    private let lane = Lane()

    private struct State: Sendable {
        var entries: [RequestID: Entry] = [:]
        /// The requests that are not done, and the bytes of their lines.
        var requests = 0
        var bytes = 0
        /// Whether the reading thread waits for requests to be done.
        var isReaderWaiting = false
        var isOver = false
    }
    private let state = Guarded(State())

    static let longestLine = 64 << 20
    static let mostRequests = 1_024
    static let mostHeld = 256

    init(_ container: Container, purpose: String, writer: LineWriter) {
        self.container = container
        name = Guarded(purpose)
        self.writer = writer
    }

    /// The name of the client in the journal and in other processes' errors.
    var purpose: String {
        get { name.withLock { $0 } }
        set { name.withLock { $0 = newValue } }
    }

    /// Greets the client, and serves it until its input has ended and what it asked for is done, or until it is gone.
    /// Then its streams end, and its locks are free.
    func serve(input: Int32, output: Int32) throws(Errno) {
        let wait = try InputWait()
        writer.write([
            "serve": 1, "version": .string(GroupContainerVersion.package),
            "container": .string(PipeText.lossyString(container.path.bytes)),
            "readOnly": .bool(container.isReadOnly),
        ])
        read(InputLines(descriptor: input, limit: Self.longestLine), input, output, wait)
        end()
    }

    private func read(_ input: consuming InputLines, _ descriptor: Int32, _ output: Int32, _ wait: InputWait) {
        var hasEnded = false
        while true {
            while !hasEnded, hasRoom {
                do throws(InputError) {
                    switch try input.next() {
                    case .line(let line):
                        accept(line, wait)
                        continue
                    case .dry: break
                    case .end: hasEnded = true
                    }
                    break
                } catch {
                    writer.write(Self.answer(nil, GroupServing.invalid("read a request", "\(error)")))
                }
            }
            if hasEnded && isDone { return }
            // Without room, nothing is read until some requests are done: the client waits.
            let isReading = !hasEnded && hasRoom
            let events = wait.wait(reading: isReading ? descriptor : nil, writing: output)
            state.withLock { $0.isReaderWaiting = false }
            if events.isGone { return }
            if !events.isReadable { continue }
            do throws(InputError) { try input.wait() } catch { return }
        }
    }

    /// Whether another request may be read; otherwise the reader is woken when that is so.
    private var hasRoom: Bool {
        state.withLock { state in
            let hasRoom = state.requests < Self.mostRequests && state.bytes < Self.longestLine
            if !hasRoom { state.isReaderWaiting = true }
            return hasRoom
        }
    }

    /// Whether all requests are done; otherwise the reader is woken when that is so.
    private var isDone: Bool {
        state.withLock { state in
            if state.requests > 0 { state.isReaderWaiting = true }
            return state.requests == 0
        }
    }

    private func accept(_ line: [UInt8], _ wait: InputWait) {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { return }
        let request: Request
        do throws(Request.Fault) { request = try Request(line: line) } catch {
            return writer.write(Self.answer(error.id, error.error))
        }
        do throws(CoordinationError) {
            if request.operation == .cancel { return writer.write(Self.answer(request.id, try cancel(request))) }
            let entry = try enter(request, size: line.count)
            do throws(Errno) {
                try entry.lane.add { [weak self] in
                    self?.perform(request, entry)
                    self?.leave(size: line.count, wait)
                }
                if request.operation.hasLane {
                    try lane.add { [weak self] in
                        // Without a wait it is done in its turn: a later request comes after it.
                        self?.perform(request.tryingOnce, entry, isTrial: true)
                        entry.lane.open()
                    }
                }
            } catch {
                forget(request.id)
                leave(size: line.count, wait)
                throw CoordinationError(error, operation: request.operation.rawValue, item: "a thread")
            }
        } catch {
            writer.write(Self.answer(request.id, error))
        }
    }

    /// Records a request that is to be done. Error: `invalidArgument` where its id is in use, or names no lock.
    private func enter(_ request: Request, size: Int) throws(CoordinationError) -> Entry {
        let earlier = try request.earlier(request.has("lock") ? "lock" : "refresh")
        return try state.withLock { (state) throws(CoordinationError) in
            if state.entries[request.id] != nil {
                throw request.invalid("the id is that of a request that is not done, or of what one has left")
            }
            if request.operation.leavesSomething, state.entries.count - state.requests >= Self.mostHeld {
                throw CoordinationError(
                    .limitReached, operation: request.operation.rawValue,
                    reason: "a client has at most \(Self.mostHeld) locks, streams and refreshes",
                    remedy: .init(.releaseLocks, "end some of them, or connect once more"))
            }
            let lane: Lane
            if let earlier {
                guard let found = state.entries[earlier] else {
                    throw request.invalid("there is no lock or refresh of this id: it was not granted, or has ended")
                }
                lane = found.lane
            } else {
                lane = request.operation.hasLane ? Lane(isClosed: true) : self.lane
            }
            let entry = Entry(lane)
            state.entries[request.id] = entry
            state.requests += 1
            state.bytes += size
            return entry
        }
    }

    private func leave(size: Int, _ wait: InputWait) {
        let wakes = state.withLock { state in
            state.requests -= 1
            state.bytes -= size
            return state.isReaderWaiting
        }
        if wakes { wait.wake() }
    }

    func entry(_ id: RequestID) -> Entry? { state.withLock { $0.entries[id] } }

    func forget(_ id: RequestID) { state.withLock { _ = $0.entries.removeValue(forKey: id) } }

    /// Does a request, and answers it; a trial that would have to wait is not answered.
    private func perform(_ request: Request, _ entry: Entry, isTrial: Bool = false) {
        if !entry.begin() { return }
        let answer: Result<JSONValue, any Error>
        if state.withLock(\.isOver) || entry.token.isCancelled {
            answer = .failure(Self.cancelled(request.operation))
        } else {
            answer = Result { () throws(any Error) in try self.answer(to: request, entry) }
        }
        if isTrial, case .failure(let error as CoordinationError) = answer, error.code == .lockTimedOut { return }
        entry.noteAnswer()
        let isHeld = if case .nothing = entry.held { false } else { true }
        // Before the answer, after which the client may use the id again.
        if !isHeld { forget(request.id) }
        switch answer {
        case .success(let value): writer.write(Self.answer(request.id, value))
        case .failure(let error): writer.write(Self.answer(request.id, error))
        }
        switch entry.held {
        case .stream(let stream), .listener(_, let stream): start(stream, request.id, entry)
        case .nothing, .locks, .refresh: break
        }
    }

    /// Ends a wait, a stream, a lock or a refresh.
    private func cancel(_ request: Request) throws(CoordinationError) -> JSONValue {
        guard let id = try request.earlier("request") else { throw request.invalid("the id 'request' is missing") }
        guard let entry = entry(id) else { return ["cancelled": false] }
        if entry.skip() {
            forget(id)
            writer.write(Self.answer(id, Self.cancelled(request.operation)))
        } else {
            end(entry, id)
        }
        return ["cancelled": true]
    }

    private static func cancelled(_ operation: Operation) -> CoordinationError {
        CoordinationError(.cancelled, operation: operation.rawValue, reason: "it was cancelled before it began")
    }

    private func end(_ entry: Entry, _ id: RequestID) {
        entry.token.cancel()
        let release = { @Sendable [weak self] in
            switch entry.held {
            case .locks(let locks): try? locks.unlock()
            case .refresh(let refresh): try? refresh.fail()
            case .nothing, .stream, .listener: return
            }
            entry.held = .nothing
            self?.forget(id)
        }
        // What is held ends after the requests that are to be done under it. Where there is no thread, it ends now.
        do throws(Errno) { try entry.lane.add(release) } catch { release() }
    }

    /// Ends all that the client has left.
    private func end() {
        let entries = state.withLock { state in
            state.isOver = true
            return state.entries
        }
        for (id, entry) in entries { end(entry, id) }
        writer.end()
    }

    static func answer(_ id: RequestID, _ value: JSONValue) -> JSONValue { ["id": id.json, "ok": value] }

    static func answer(_ id: RequestID?, _ error: any Error) -> JSONValue {
        ["id": id?.json ?? .null, "error": ErrorReport.object(error)]
    }
}
