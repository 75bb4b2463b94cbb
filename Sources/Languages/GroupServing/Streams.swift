import GroupBytes
import GroupCommandLine
import GroupCommands
import GroupContainer
import GroupSystemCalls
import Widgets

extension Connection {
    func follow(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let follower = try open(request)
        entry.held = .stream(Stream(follower) { $0.json })
        let patterns = try (request.texts("include") ?? []).map { Array($0.utf8) }
        let doubts = patterns.compactMap { container.doubt(ofPattern: $0, among: patterns) }
        return .object([("cursor", .string(follower.cursor.description))] + Self.members(ofDoubts: doubts))
    }

    private func open(_ request: Request) throws -> Follower<Change> {
        var filter = ChangeFilter.everything
        let (included, excluded) = (try request.texts("include") ?? [], try request.texts("exclude") ?? [])
        for pattern in included + excluded {
            if let fault = ChangeFilter.fault(ofPattern: Array(pattern.utf8)) {
                throw request.invalid("the pattern '\(shown(pattern))': \(fault)")
            }
        }
        for pattern in included { filter.include(bytes: Array(pattern.utf8)) }
        for pattern in excluded { filter.exclude(bytes: Array(pattern.utf8)) }
        for word in try request.texts("kind") ?? [] {
            guard let kind = Change.Kind.Word(rawValue: word) else {
                throw request.invalid("'\(shown(word))' is no kind of a change")
            }
            filter.kinds = (filter.kinds ?? []).union([kind])
        }
        if let purpose = try request.textIfPresent("excludePurpose") { filter.excludedPurposes = [purpose] }
        try FilterOptions.checkIsNoLink(included.map { Array($0.utf8) }, in: container)
        let follower = try container.follow(
            since: try request.origin(), matching: filter,
            afterRescan: try request.flag("snapshotAfterRescan") ? .snapshot : .marker)
        guard let quiet = try request.milliseconds("settle") else { return follower }
        let atMost = try request.milliseconds("settleMax")
        if let atMost, atMost < quiet { throw request.invalid("'settleMax' is shorter than 'settle'") }
        return follower.debounced(for: quiet, atMost: atMost)
    }

    func followKeys(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let keys = try request.texts("keys")
        let suite = try suite(request)
        let follower = try suite.follow(of: keys.map { Set($0) }, since: try request.origin())
        entry.held = .stream(Stream(follower) { KeyLine($0).json })
        let doubts = [container.doubt(ofSuite: suite.suite)].compactMap(\.self)
        return .object([("cursor", .string(follower.cursor.description))] + Self.members(ofDoubts: doubts))
    }

    func listen(_ request: Request, _ entry: Entry) throws -> JSONValue {
        let beginning: GroupChannel.Beginning
        switch try request.textIfPresent("since") {
        case nil, "now"?: beginning = .now
        case "start"?: beginning = .start
        default: throw request.invalid(#"'since' is "now" or "start""#)
        }
        let (channel, name) = (try channel(request), try request.text("name"))
        let listener = try channel.listener(named: name, since: beginning)
        entry.held = .listener(listener, Stream(listener, of: channel.name))
        return [:]
    }

    private func channel(_ request: Request) throws(CoordinationError) -> GroupChannel {
        try GroupChannel(container, name: try request.text("channel"), purpose: purpose)
    }

    func post(_ request: Request) throws -> JSONValue {
        let (channel, durability) = (try channel(request), try request.durability(unless: .relaxed))
        let content = try request.contentIfPresent()
        let number =
            try content.map { (bytes) throws(CoordinationError) in
                try channel.post(bytes: bytes, durability: durability)
            } ?? channel.signal(durability: durability)
        return ["number": .unsigned(number)]
    }

    func acknowledge(_ request: Request) throws -> JSONValue {
        guard let id = try request.earlier("listen"), case .listener(let listener, _)? = entry(id)?.held
        else { throw request.invalid("'listen' is the id of a request that listens, and has not ended") }
        let number = try request.number("number")
        guard number >= 0 else { throw request.invalid("'number' is that of a message") }
        try listener.acknowledge(upTo: UInt64(number), durability: try request.durability(unless: .relaxed))
        return [:]
    }
}

/// What a stream sends, until it fails or is cancelled.
struct Stream: Sendable {
    /// Returns why it failed; nil where it was cancelled.
    let run: @Sendable (RequestID, LineWriter, CancellationToken) -> CoordinationError?

    /// Lines that are ready are written together, up to this size.
    private static let mostBytes = 65_536

    init<Element: StreamElement>(
        _ follower: Follower<Element>, _ json: @escaping @Sendable (Element) -> JSONValue
    ) where Element.Failure == CoordinationError {
        run = { id, writer, token in
            var follower = follower
            return Self.run(id, writer) { timeout throws(CoordinationError) in
                try follower.next(timeout: timeout, orUntil: token).map(json)
            }
        }
    }

    init(_ listener: GroupListener, of channel: String) {
        run = { id, writer, token in
            Self.run(id, writer) { timeout throws(CoordinationError) in
                do throws(CoordinationError) {
                    return try listener.next(timeout: timeout, orUntil: token)?.json(of: channel)
                } catch {
                    // Lost messages are reported once; the listener continues after them.
                    if error.code != .damaged { throw error }
                    return ["lost": ErrorReport.object(error)]
                }
            }
        }
    }

    private static func run(
        _ id: RequestID, _ writer: LineWriter, _ next: (Duration?) throws(CoordinationError) -> JSONValue?
    ) -> CoordinationError? {
        var lines: [UInt8] = []
        do throws(CoordinationError) {
            while let first = try next(nil) {
                lines = LineWriter.bytes(of: ["id": id.json, "event": first])
                while lines.count < mostBytes, let more = try next(.zero) {
                    lines += LineWriter.bytes(of: ["id": id.json, "event": more])
                }
                writer.write(lines)
                lines = []
            }
            return nil
        } catch {
            writer.write(lines)
            return error
        }
    }
}
