import Dispatch
import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls

/// A client's lines and what they have left: locks, streams, refreshes.
///
/// One thread reads the lines. Requests are done in their order, by the lane of the connection. A lock and a refresh
/// begin in their turn, but have a lane each, in which they wait and in which the requests are done that name them. So a
/// request that waits for a lock never keeps another one from ending that lock.
final class Connection: Sendable {
    let container: Container
    private let name: Guarded<String>
    let writer: LineWriter
    private let lane = Lane()

    private struct State: Sendable {
        /// The requests that are not done, and those that have left something.
        var entries: [RequestID: Entry] = [:]
        /// The requests that are not done, and the bytes of their lines.
        var requests = 0
        var bytes = 0
        /// Whether the reading thread waits for requests to be done.
        var isReaderWaiting = false
        /// Whether no further line comes: a lock is of no use then after the requests that were sent.
        var inputHasEnded = false
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
    /// When this returns, its streams have ended and its locks are free.
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
                    case .end:
                        hasEnded = true
                        endInput()
                    }
                    break
                } catch {
                    let reason = "it has more than \(Self.longestLine >> 20) MiB"
                    writer.write(Self.answer(nil, GroupServing.invalid("read a request", reason)))
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
            if request.operation == .cancel { return try cancel(request) }
            // Otherwise it would go on in a container that was moved, beside another one at the path.
            if request.operation != .unlock { try container.checkIsInPlace(request.operation.rawValue) }
            let entry = try enter(request, size: line.count)
            do throws(Errno) {
                try entry.lane.add { [weak self] in
                    self?.perform(request, entry)
                    self?.leave(size: line.count, wait)
                }
                if request.operation.hasLane {
                    try lane.add { [weak self] in
                        // Without a wait it is done in its turn: a later request comes after it.
                        if let trial = request.tryingOnce { self?.perform(trial, entry, isTrial: true) }
                        entry.lane.open()
                    }
                }
            } catch {
                forget(request.id, entry)
                entry.noteEnd()
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
            if request.operation.leavesSomething,
                state.entries.values.count(where: \.operation.leavesSomething) >= Self.mostHeld
            {
                throw CoordinationError(
                    .limitReached, operation: request.operation.rawValue,
                    reason: "a client has at most \(Self.mostHeld) locks, streams and refreshes",
                    remedy: .init(.releaseLocks, "end some of them, or connect once more"))
            }
            var holder: Entry?
            if let earlier {
                holder = state.entries[earlier]
                if holder == nil {
                    throw request.invalid("there is no lock or refresh of this id: it was not granted, or has ended")
                }
            }
            let lane = request.operation.hasLane ? Lane(isClosed: true) : holder?.lane ?? self.lane
            let entry = Entry(request.operation, lane, holder: holder)
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

    /// Lets the client use an id again, unless it does already.
    func forget(_ id: RequestID, _ entry: Entry) {
        state.withLock { state in
            if state.entries[id] === entry { state.entries[id] = nil }
        }
    }

    /// Does a request, and answers it; a trial that would have to wait is not answered.
    private func perform(_ request: Request, _ entry: Entry, isTrial: Bool = false) {
        if !entry.begin() { return }
        let answer: Result<JSONValue, any Error>
        if state.withLock(\.isOver) || entry.token.isCancelled {
            answer = .failure(Self.cancelled(entry))
        } else {
            answer = Result { () throws(any Error) in try self.answer(to: request, entry) }
        }
        if isTrial, case .failure(let error as CoordinationError) = answer, error.code == .lockTimedOut { return }
        entry.noteAnswer()
        let isHeld = entry.isHeld
        // Before the answer, after which the client may use the id again.
        if !isHeld { forget(request.id, entry) }
        switch answer {
        case .success(let value): writer.write(Self.answer(request.id, value))
        case .failure(let error): writer.write(Self.answer(request.id, error))
        }
        if !isHeld { return entry.noteEnd() }
        if entry.operation.hasLane {
            if state.withLock(\.inputHasEnded) { release(entry, request.id) }
        } else {
            startStream(request.id, entry)
        }
    }

    /// Cancels a request, and answers when nothing of it is left.
    private func cancel(_ request: Request) throws(CoordinationError) {
        guard let id = try request.earlier("request") else { throw request.invalid("the id 'request' is missing") }
        guard let entry = entry(id) else {
            return writer.write(Self.answer(request.id, JSONValue.object([("cancelled", false)])))
        }
        entry.whenEnded { [writer] in
            writer.write(Self.answer(request.id, JSONValue.object([("cancelled", true)])))
        }
        if entry.skip() {
            forget(id, entry)
            writer.write(Self.answer(id, Self.cancelled(entry)))
            entry.noteEnd()
        } else {
            entry.token.cancel()
            release(entry, id)
        }
    }

    private static func cancelled(_ entry: Entry) -> CoordinationError {
        CoordinationError(
            .cancelled, operation: entry.operation.rawValue, reason: "it was cancelled before it began")
    }

    /// Ends locks or a refresh after the requests that are to be done under them.
    private func release(_ entry: Entry, _ id: RequestID) {
        if !entry.operation.hasLane { return }
        let work = { @Sendable [weak self] in
            if !entry.isHeld { return }
            entry.release()
            self?.forget(id, entry)
            entry.noteEnd()
        }
        // Where there is no thread, it ends now.
        do throws(Errno) { try entry.lane.add(work) } catch { work() }
    }

    /// No further line comes. A lock ends after the requests that name it, as another request may wait for it.
    private func endInput() {
        let entries = state.withLock { state in
            state.inputHasEnded = true
            return state.entries
        }
        for (id, entry) in entries { release(entry, id) }
    }

    /// Ends all that the client has left, and waits for that, so that the client sees its end when its locks are free.
    private func end() {
        let entries = state.withLock { state in
            state.isOver = true
            return state.entries
        }
        let ended = DispatchSemaphore(value: 0)
        for (id, entry) in entries {
            entry.whenEnded { ended.signal() }
            entry.token.cancel()
            release(entry, id)
        }
        for _ in entries { ended.wait() }
        writer.end()
    }

    /// Starts the thread of a stream, after the request was answered.
    private func startStream(_ id: RequestID, _ entry: Entry) {
        let work = { @Sendable [weak self, writer] in
            let failure = entry.stream?.run(id, writer, entry.token)
            // A listener ends with the last reference to it: before the last line, after which the client may listen
            // again, with the same id.
            entry.held = .nothing
            self?.forget(id, entry)
            writer.write((failure ?? nil).map { Self.answer(id, $0) } ?? ["id": id.json, "end": true])
            entry.noteEnd()
        }
        do throws(Errno) { try WorkThread.start(work) } catch {
            entry.held = .nothing
            forget(id, entry)
            writer.write(
                Self.answer(id, CoordinationError(error, operation: entry.operation.rawValue, item: "a thread")))
            entry.noteEnd()
        }
    }

    static func answer(_ id: RequestID, _ value: JSONValue) -> JSONValue { ["id": id.json, "ok": value] }

    static func answer(_ id: RequestID?, _ error: any Error) -> JSONValue {
        var report = ErrorReport.object(error)
        let isOwn = (error as? CoordinationError)?.holders.contains { $0.processIdentifier == ownProcess } ?? false
        if isOwn, case .object(let members) = report {
            report = .object(
                members.map { $0.0 == "advice" ? ("advice", "this server holds it, for this client or another") : $0 })
        }
        return ["id": id?.json ?? .null, "error": report]
    }

    private static let ownProcess = processIdentifier()
}
