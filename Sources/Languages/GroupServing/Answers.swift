import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import Widgets

extension Connection {
    /// Does what a request asks for, and returns what is answered.
    func answer(to request: Request, _ entry: Entry) throws -> JSONValue {
        if let change = try ItemChange(request) { return try self.change(change, request, entry) }
        switch request.operation {
        case .hello:
            let name = try request.text("purpose")
            purpose = name
            return [:]
        case .status: return try container.status().json(of: container)
        case .read: return try read(request, entry)
        case .list: return try list(request)
        case .lock: return try lock(request, entry)
        case .unlock: return try unlock(request, entry)
        case .transaction: return try transaction(request, entry)
        case .get: return try get(request)
        case .set: return try set(request)
        case .increment: return try increment(request)
        case .keys: return try keys(request)
        case .post: return try post(request)
        case .acknowledge: return try acknowledge(request)
        case .follow: return try follow(request, entry)
        case .followKeys: return try followKeys(request, entry)
        case .listen: return try listen(request, entry)
        case .refresh: return try refresh(request, entry)
        case .finish: return try finish(request, entry)
        case .write, .remove, .move, .copy, .createDirectory, .check, .cancel:
            throw request.invalid("it is done elsewhere")
        }
    }

    private func refresh(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let interests = try (request.texts("interests") ?? []).map { text throws(CoordinationError) in
            guard let interest = WidgetInterest(text: text) else {
                throw request.invalid(
                    "'\(shown(text))' is no interest: a pattern, metadata:PATTERN or defaults:SUITE:KEY")
            }
            if let fault = interest.fault { throw request.invalid("the interest '\(shown(text))': \(fault)") }
            return interest
        }
        let doubts = interests.compactMap { $0.doubt(in: container, among: interests) }
        let begun = try HeldRefresh(
            ofKind: try request.text("widget"), in: container, interests: interests,
            isReload: try request.flag("reload"), timeout: try request.timeout(), orUntil: entry.token)
        if begun.isNeeded { entry.held = .refresh(begun) }
        let last = begun.lastSnapshot.map { JSONValue.object([contentMember($0)]) } ?? .null
        return .object(
            [
                ("needed", .bool(begun.isNeeded)),
                ("changes", .integer(Int64(begun.changes.count + begun.keyChanges.count))), ("last", last),
            ] + Self.members(ofDoubts: doubts))
    }

    /// Returns the member that says why something probably never has a change; none where there is no doubt.
    static func members(ofDoubts doubts: [String]) -> [(String, JSONValue)] {
        doubts.isEmpty ? [] : [("doubts", .array(doubts.map { .string($0) }))]
    }

    private func finish(_ request: Request, _ entry: Entry) throws -> JSONValue {
        guard let id = try request.earlier("refresh"), let holder = entry.holder,
            case .refresh(let refresh) = holder.held
        else { throw request.invalid("'refresh' is the id of a refresh that is needed, and has not ended") }
        let result = try refresh.finish(rendered: try request.content())
        holder.held = .nothing
        forget(id, holder)
        holder.noteEnd()
        return ["result": .string(result.rawValue)]
    }
}
