import Dispatch
import GroupContainer
import GroupSystemCalls

/// Follows the container for all widgets at once, and reports which of them are concerned: one thread for the items,
/// and one for each suite. The threads sleep until something happens.
final class ContainerWatch: Sendable {
    /// What was found since the last `take`.
    struct Found: Sendable {
        var changed: Set<String> = []
        /// Whether apps may have requested something.
        var hasRequests = false
        /// The error if the container no longer exists.
        var end: CoordinationError?
        var complaints: [String] = []
        /// URLs that no app of the container opens.
        var unopened: [Address] = []

        var isEmpty: Bool { changed.isEmpty && !hasRequests && end == nil && complaints.isEmpty && unopened.isEmpty }
    }

    /// A URL that a widget opens.
    struct Address: Hashable, Sendable {
        let url: String
        let kind: String
    }

    private let container: Container
    private let wake: @Sendable () -> Void
    private let found = Guarded(Found())
    /// The number of the present set of widgets. Followers for an earlier set end.
    private let generation = Guarded(0)

    /// The time for which a follower collects further changes after each wake-up, so that a thousand changes a second
    /// cost no more than fifty.
    private static let rest: Int64 = 20_000_000

    init(_ container: Container, wake: @escaping @Sendable () -> Void) {
        self.container = container
        self.wake = wake
    }

    /// Returns what was found, and empties it.
    func take() -> Found {
        found.withLock { found in
            defer { found = Found() }
            return found
        }
    }

    /// Follows the changes that concern these widgets, in place of those of the previous call. The new followers begin
    /// before the previous ones end, so that no change in between is missed.
    func follow(_ interests: [String: [WidgetInterest]]) throws(CoordinationError) {
        let number = generation.withLock { $0 } + 1
        let concerns = interests.mapValues { Concerns($0) }
        var followers: [(name: String, follower: Follower)] = []
        let items = concerns.compactMapValues(\.itemConcern)
        if !items.isEmpty { followers.append(("items", try itemFollower(items, concerns))) }
        var suites = Set(concerns.values.flatMap(\.suites.keys))
        let everything = concerns.filter(\.value.isEverything)
        if !everything.isEmpty {
            suites.formUnion(container.suiteNames())
            followers.append(("suites", suiteFollower(unlike: suites, Set(everything.keys), number)))
        }
        for suite in suites.sorted() {
            let keys = concerns.compactMapValues { $0.keys(of: suite) }
            do throws(CoordinationError) {
                followers.append((suite, try keyFollower(of: suite, keys)))
            } catch {
                // Widgets with other interests are not affected.
                let cause = "\(keys.keys.sorted().joined(separator: ", ")): interests: \(error)"
                note { $0.complaints.append(cause) }
            }
        }
        generation.withLock { $0 = number }
        Interruption.raise()
        for (name, follower) in followers { start(name, number, follower) }
    }

    private func itemFollower(
        _ items: [String: ItemConcern], _ concerns: [String: Concerns]
    ) throws(CoordinationError) -> Follower {
        var patterns: [String] = []
        for concern in concerns.values { if case .matching(let some) = concern.items { patterns += some } }
        let isEverything = concerns.values.contains(where: \.isEverything)
        var follower = try container.follow(
            since: .now, matching: isEverything ? .everything : ChangeFilter(including: patterns))
        return Follower { (wait, seen) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait, since: seen) else { return nil }
            if change.kind.isMarker { return Set(items.keys) }
            return Set(items.filter { _, concern in concern.includes(change) }.keys)
        }
    }

    private func keyFollower(
        of suite: String, _ keys: [String: Concerns.Keys]
    ) throws(CoordinationError) -> Follower {
        var follower = try GroupDefaults(container, suite: suite).follow()
        return Follower { (wait, seen) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait, since: seen) else { return nil }
            if change.kind != .set && change.kind != .removed { return Set(keys.keys) }
            return Set(keys.filter { $0.value.contains(change.key) }.keys)
        }
    }

    /// Returns a follower of new suites, which starts a follower of all keys for each new suite. The creation of a
    /// suite concerns these widgets, too: values may have been set before the suite's own follower begins.
    private func suiteFollower(unlike suites: Set<String>, _ kinds: Set<String>, _ number: Int) -> Follower {
        var follower = container.followSuites(unlike: suites)
        return Follower { (wait, seen) throws(CoordinationError) in
            guard let suite = try follower.next(timeout: wait, since: seen)?.name else { return nil }
            let keys = Dictionary(uniqueKeysWithValues: kinds.map { ($0, Concerns.Keys.all) })
            self.start(suite, number, try self.keyFollower(of: suite, keys))
            return kinds
        }
    }

    /// Follows the requests of apps, and whether an app is in front.
    func followRequests(_ center: WidgetCenter) throws(CoordinationError) {
        var follower = try center.follow()
        let requests = Follower { (wait, seen) throws(CoordinationError) in
            guard try follower.next(timeout: wait, since: seen) != nil else { return nil }
            self.found.withLock { $0.hasRequests = true }
            return []
        }
        start("requests", nil, requests)
    }

    /// Starts a thread for a follower. The thread ends when the present set of widgets has another number, or, also
    /// with nil, when the container no longer exists.
    private func start(_ name: String, _ number: Int?, _ follower: Follower) {
        DispatchQueue(label: "widget-host.\(name)").async { self.run(follower, number) }
    }

    private func run(_ follower: Follower, _ number: Int?) {
        var isOver = false
        while !isOver {
            let seen = Interruption.latest
            // The last pass reads the changes from before the followers of the next set began.
            if let number { isOver = generation.withLock { $0 } != number }
            do throws(CoordinationError) {
                guard var kinds = try follower.next(isOver ? .zero : nil, seen) else { continue }
                while let more = try follower.next(.zero, seen) { kinds.formUnion(more) }
                note { $0.changed.formUnion(kinds) }
                if !isOver { pause(nanoseconds: Self.rest) }
            } catch {
                if error.code == .notFound { return note { $0.end = error } }
                if isOver { return }
                note { $0.complaints.append("\(error)") }
                pause(nanoseconds: 1_000_000_000)
            }
        }
    }

    func note(_ note: (inout Found) -> Void) {
        found.withLock(note)
        wake()
    }
}

/// A follower, used by one thread only. `next` returns the kinds that the next change concerns; it waits once, as
/// `Follower.next(timeout:since:)` does, and returns nil if none came.
private final class Follower: @unchecked Sendable {
    typealias Next = (Duration?, Interruption) throws(CoordinationError) -> Set<String>?
    let next: Next

    init(_ next: sending @escaping Next) { self.next = next }
}

extension Concerns.Keys {
    func contains(_ key: String) -> Bool {
        switch self {
        case .all: true
        case .only(let keys): keys.contains(key)
        }
    }
}
