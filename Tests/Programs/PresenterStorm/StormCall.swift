import GroupContainer
import GroupSystemCalls
import PresenterModel

/// A request that a worker makes.
struct StormCall: Sendable {
    var request: Schedule.Request
    var coordinator: Coordinator
    /// The presenter for which it is made.
    var presenter: String?
    /// The request and the presenter of the question that it helps to answer.
    var answering: (request: String, presenter: String)?
    /// The request within whose access it is made.
    var outer: String?

    struct Outcome: Sendable {
        /// The place and the generation of what was written last.
        var item = ""
        var generation: Generation?
    }

    fileprivate var intents: [AccessIntent] { request.intents.map(AccessIntent.init) }

    fileprivate var limited: Coordinator {
        var limited = coordinator
        limited.presenterGrace = .microseconds(request.grace)
        limited.needsAnswers = request.needsAnswers
        return limited
    }
}

extension AccessIntent {
    init(_ intent: Intent) {
        let path = ItemPath(intent.path)
        self =
            switch intent.kind {
            case .read: .reading(path)
            case .readDisk: .reading(path, .withoutChanges)
            case .write: .writing(path)
            case .merge: .writing(path, .forMerging)
            case .delete: .writing(path, .forDeleting)
            case .move: .writing(path, .forMoving)
            case .replace: .writing(path, .forReplacing)
            }
    }
}

extension StormWorker {
    /// Makes a request, and throws its error.
    @discardableResult
    func perform(_ call: StormCall) async throws -> StormCall.Outcome {
        if plan.isBlocking && call.request.cancel == nil { return try performBlocking(call) }
        return try await reporting(call) {
            let task = Task {
                try await call.limited.coordinate(
                    call.intents, durability: .relaxed, timeout: .microseconds(call.request.timeout)
                ) { access in try self.use(access, call) }
            }
            if let time = call.request.cancel {
                try WorkThread.start {
                    pause(nanoseconds: Int64(time) * 1_000)
                    task.cancel()
                }
            }
            return try await task.value
        }
    }

    @discardableResult
    func performBlocking(_ call: StormCall) throws -> StormCall.Outcome {
        begin(call)
        do {
            let outcome = try call.limited.blocking.coordinate(
                call.intents, durability: .relaxed, timeout: .microseconds(call.request.timeout)
            ) { access in try use(access, call) }
            end(call, "ok")
            return outcome
        } catch {
            end(call, Self.code(error))
            throw error
        }
    }

    private func reporting(
        _ call: StormCall, _ body: () async throws -> StormCall.Outcome
    ) async throws -> StormCall.Outcome {
        begin(call)
        do {
            let outcome = try await body()
            end(call, "ok")
            return outcome
        } catch {
            end(call, Self.code(error))
            throw error
        }
    }

    private func begin(_ call: StormCall) {
        let request = call.request
        var fields = "request=\(request.name) intents=\(request.intents.map(\.description).joined(separator: ","))"
        fields += " timeout=\(request.timeout) grace=\(request.grace)"
        if request.needsAnswers { fields += " needs=answers" }
        if let cancel = request.cancel { fields += " cancel=\(cancel)" }
        if let presenter = call.presenter { fields += " presenter=\(presenter)" }
        if let (request, presenter) = call.answering { fields += " parent=\(request) answering=\(presenter)" }
        if let outer = call.outer { fields += " outer=\(outer)" }
        events.write(.begins, fields)
    }

    private func end(_ call: StormCall, _ result: String) {
        events.write(.ends, "request=\(call.request.name) result=\(result)")
    }

    private static func code(_ error: any Error) -> String {
        (error as? CoordinationError)?.code.rawValue ?? (error is CancellationError ? "cancelled" : "other")
    }

    // MARK: The access

    private func use(_ access: Access, _ call: StormCall) throws -> StormCall.Outcome {
        let time = awakeNanoseconds()
        try reportGrant(of: access, call, at: time)
        // Before the locks end.
        defer { events.write(.leaves, "request=\(call.request.name)") }
        var outcome = StormCall.Outcome()
        let intents = call.request.intents
        for (index, intent) in intents.enumerated() {
            let path = ItemPath(intent.path)
            switch intent.kind {
            case .read, .readDisk, .replace: break
            case .write, .merge:
                outcome.item = try place(of: path, access)
                outcome.generation = try access.write(bytes: Array(call.request.name.utf8), to: path).generation
            case .delete: try access.remove(path, recursively: true)
            case .move: try access.move(path, to: ItemPath(intents[index + 1].path), replacing: true)
            }
        }
        pause(nanoseconds: Int64(call.request.thinking) * 1_000)
        for inner in call.request.inner {
            // Its error has been reported.
            _ = try? performBlocking(
                StormCall(
                    request: inner, coordinator: container.coordinator(purpose: inner.name), outer: call.request.name))
        }
        return outcome
    }

    private func reportGrant(of access: Access, _ call: StormCall, at time: Int64) throws {
        let intents = call.request.intents
        let places = try intents.map { try place(of: ItemPath($0.path), access) }
        let isDirectory = try intents.contains {
            try $0.isStructural && access.item(ItemPath($0.path))?.type == .directory
        }
        let unresponsive = access.unresponsivePresenters.map { "\($0.processIdentifier):\($0.item)" }
        let items =
            intents.map(\.path)
            + (isDirectory ? intents.flatMap { ["\($0.path)/a", "\($0.path)/b", "\($0.path)/m"] } : [])
        // What is below a directory that was moved meanwhile is not of this request by its old path.
        let versions = items.compactMap { try? version(of: ItemPath($0), access) }
        events.write(
            .granted,
            "request=\(call.request.name) places=\(places.joined(separator: ",")) directory=\(isDirectory ? "yes" : "no")"
                + " unresponsive=\(unresponsive.joined(separator: ",")) versions=\(versions.joined(separator: ","))",
            at: time)
    }

    /// Returns where an item is that was moved while its lock was awaited.
    private func place(of path: ItemPath, _ access: Access) throws -> String {
        String(
            decoding: try access.absolutePath(of: path).bytes.dropFirst(container.path.bytes.count + 1), as: UTF8.self)
    }

    private func version(of path: ItemPath, _ access: Access) throws -> String? {
        if try access.item(path)?.type == .directory { return nil }
        let generation = try access.generation(of: path).map { "\($0)" } ?? "-"
        let content = try access.readBytesIfPresent(path).map { String(decoding: $0, as: UTF8.self) } ?? "-"
        return "\(try place(of: path, access)):\(generation):\(content)"
    }
}
