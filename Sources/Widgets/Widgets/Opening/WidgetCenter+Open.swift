import FoundationEssentials
public import GroupContainer
import GroupSystemCalls

/// The result of opening a URL.
public enum OpenResult: String, Hashable, Sendable {
    /// The app has opened the URL.
    case opened
    /// The app has read the URL and refused it, as there is no such place.
    case refused
    /// The app has not opened the URL in time. The URL stays in the queue, and the app gets it later.
    case queued
    /// No app has registered the scheme.
    case noApp
}

extension WidgetCenter {
    /// Opens a URL such as `todo://item/3` in the app that has registered its scheme, and starts the app if it does not
    /// run. Blocks until the app is done with the URL, or the time is over. The app gets every URL once and in order,
    /// also those that were posted while it did not run; an app that dies in the middle of a URL gets that URL again.
    ///
    /// Errors: `invalidArgument` for a text that is no URL, or longer than 64 KiB; `notFound` where the app cannot be
    /// started, and `notPermitted` where it does not run and another user may have registered it (the URL stays in the
    /// queue then, too); those of `GroupChannel.post`.
    public func open(_ url: String, timeout: Duration = .seconds(10)) throws(CoordinationError) -> OpenResult {
        try open(url, timeout: timeout) { _ in }
    }

    /// Opens a URL, and calls `refused` with the app's reason if the app refuses it.
    package func open(
        _ url: String, timeout: Duration = .seconds(10), refused: (String) -> Void
    ) throws(CoordinationError) -> OpenResult {
        let scheme = AppLink.scheme(of: url)
        guard let scheme, url.utf8.count <= AppLink.largestURL,
            !url.unicodeScalars.contains(where: { $0.value < 0x20 || 0x7F...0x9F ~= $0.value })
        else {
            throw .malformedURL(url, longest: AppLink.largestURL)
        }
        guard let link = try link(ofScheme: scheme) else { return .noApp }
        let channel = try GroupChannel(container, name: AppLink.channel(ofScheme: scheme))
        let number = try channel.post(bytes: Array(url.utf8))
        let end = monotonicNanoseconds().addingReportingOverflow(timeout.nanoseconds).partialValue
        if try !channel.isListening(AppLink.listener) { try launch(link, scheme, channel, until: end) }
        // An app that is just beginning to listen has no place in the channel yet.
        _ = try channel.waitForListener(named: AppLink.listener, timeout: .until(end))
        if try !channel.waitForAcknowledgement(of: number, by: AppLink.listener, timeout: .until(end)) {
            return .queued
        }
        guard let reason = try refusals(ofScheme: scheme).first(where: { $0.number == number })?.reason else {
            return .opened
        }
        refused(reason)
        return .refused
    }

    /// Returns the last refusals of a scheme's app. There is one app of a scheme at a time, so no other process writes
    /// them.
    private func refusals(ofScheme scheme: String) throws(CoordinationError) -> [AppLink.Refusal] {
        guard case .json(let content) = try defaults.readVersion(forKey: AppLink.refusals(ofScheme: scheme)).value
        else { return [] }
        return (try? JSONDecoder().decode([AppLink.Refusal].self, from: Data(content))) ?? []
    }

    /// Records that the app refuses the URL with that number. The caller acknowledges the URL only after this call.
    package func noteRefusal(of number: UInt64, scheme: String, _ reason: String) throws(CoordinationError) {
        let refusal = AppLink.Refusal(number: number, reason: String(reason.prefix(AppLink.longestReason)))
        let kept = Array(try refusals(ofScheme: scheme).suffix(AppLink.keptRefusals - 1)) + [refusal]
        guard let content = try? JSONEncoder().encode(kept) else { return }
        try defaults.set(.json(Array(content)), forKey: AppLink.refusals(ofScheme: scheme))
    }

    private func link(ofScheme scheme: String) throws(CoordinationError) -> AppLink? {
        guard case .json(let content) = try defaults.readVersion(forKey: AppLink.key(ofScheme: scheme)).value
        else { return nil }
        return try? JSONDecoder().decode(AppLink.self, from: Data(content))
    }

    /// Starts the app, one process at a time: the next process finds the app listening, and its own URL in the queue.
    private func launch(
        _ link: AppLink, _ scheme: String, _ channel: GroupChannel, until end: Int64
    ) throws(CoordinationError) {
        if container.hasOtherUsers { throw .unchosenApp(link.launch.first ?? "", scheme: scheme) }
        let file = PrivateFile("widgets", "launch.\(scheme)", in: container)
        let holding = try file.holdBlocking("start the app of '\(scheme)'", timeout: .until(end))
        defer { holding.end() }
        if try channel.isListening(AppLink.listener) { return }
        do throws(Errno) {
            try ChildProcess.startDetached(link.launch.map { Array($0.utf8) })
        } catch {
            throw .unstartableApp(link.launch.first ?? "", scheme: scheme, cause: error)
        }
        // Without this wait, the next process would start the app again.
        _ = try channel.waitForListener(named: AppLink.listener, timeout: .until(end))
    }

    /// Registers an app for a scheme.
    package func register(_ link: AppLink, scheme: String) throws(CoordinationError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let content = try? Array(encoder.encode(link)) else { return }
        let key = AppLink.key(ofScheme: scheme)
        if try defaults.readVersion(forKey: key).value == .json(content) { return }
        try defaults.set(.json(content), forKey: key, durability: .durable)
    }
}

extension Duration {
    /// Returns the time until a moment of the monotonic clock; at least zero.
    fileprivate static func until(_ moment: Int64) -> Duration { .nanoseconds(max(0, moment - monotonicNanoseconds())) }
}
