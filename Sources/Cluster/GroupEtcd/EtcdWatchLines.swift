/// A decoder of the lines of a watch: it takes pieces of bytes, and returns responses.
struct EtcdWatchLines {
    /// Whether etcd has confirmed the watch.
    private(set) var isCreated = false
    /// The beginning of the line that is not complete yet.
    private var partial: [UInt8] = []
    /// The events of the newest revision in a fragment of a response. The next fragment may have more events of that
    /// revision.
    private var held: [EtcdEvent] = []
    /// The newest revision of which all events were returned.
    private var newest: UInt64 = 0

    private static let newline = UInt8(ascii: "\n")

    /// Takes the next bytes, and returns the responses that are complete now. At the end of the stream, the last line
    /// is complete without a newline. Errors: the one that etcd has sent; `malformed`
    mutating func take(_ bytes: [UInt8], isAtEnd: Bool = false) throws(EtcdFailure) -> [EtcdWatchResponse] {
        var responses: [EtcdWatchResponse] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: Self.newline) {
            partial += rest[..<end]
            rest = rest[(end + 1)...]
            defer { partial = [] }
            if let response = try response(partial) { responses.append(response) }
        }
        partial += rest
        if partial.count > EtcdConnection.largestResponse {
            throw .malformed("a line of more than \(EtcdConnection.largestResponse >> 20) MiB")
        }
        if isAtEnd && !partial.isEmpty {
            defer { partial = [] }
            if let response = try response(partial) { responses.append(response) }
        }
        return responses
    }

    /// Returns the response of a line; nil for an empty line, and for a fragment whose events may all continue in the
    /// next line.
    private mutating func response(_ line: [UInt8]) throws(EtcdFailure) -> EtcdWatchResponse? {
        if line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") }) { return nil }
        let answer = try EtcdAnswers.decodeStreamed(EtcdAnswers.Watch.self, line)
        guard let header = answer.header else { throw .malformed("a response of a watch without a header") }
        if answer.canceled ?? false { throw Self.failure(answer) }
        if answer.created ?? false { isCreated = true }
        guard isCreated else { throw .malformed("a watch that was not created") }
        var result = EtcdWatchResponse(
            revision: header.revision?.value ?? 0, events: held, isProgress: false,
            clusterIdentifier: header.cluster_id?.value ?? 0)
        let events = answer.events ?? []
        for event in events {
            let event = try EtcdAnswers.event(event)
            let before = result.events.last?.keyValue.modRevision ?? 0
            guard event.keyValue.modRevision > newest, event.keyValue.modRevision >= before else {
                throw .malformed("an event of revision \(event.keyValue.modRevision) after \(max(newest, before))")
            }
            result.events.append(event)
        }
        if events.isEmpty {
            // A sign of life may come between two fragments, so the held events stay.
            result.events = []
            result.isProgress = true
            return result
        }
        held = []
        if answer.fragment ?? false, let last = result.events.last?.keyValue.modRevision {
            let first = result.events.firstIndex { $0.keyValue.modRevision == last } ?? 0
            held = Array(result.events[first...])
            result.events.removeSubrange(first...)
            if result.events.isEmpty { return nil }
        }
        newest = result.events.last?.keyValue.modRevision ?? newest
        result.isProgress = result.events.isEmpty
        return result
    }

    private static func failure(_ answer: EtcdAnswers.Watch) -> EtcdFailure {
        if let oldest = answer.compact_revision?.value, oldest > 0 { return .compacted(oldest) }
        let reason = answer.cancel_reason ?? ""
        return EtcdFailure(
            code: reason.contains("permission denied") ? 7 : 14,
            message: reason.isEmpty ? "the watch was canceled" : reason)
    }
}
