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
        (self.container, self.wake) = (container, wake)
    }

    /// Returns what was found, and empties it.
    func take() -> Found {
        found.withLock { found in
            defer { found = Found() }
            return found
        }
    }

    /// Follows the changes that concern these widgets, in place of those of the previous call.
    func follow(_ interests: [String: [WidgetInterest]]) throws(CoordinationError) {
        let number = generation.withLock { number in
            number += 1
            return number
        }
        Interruption.raise()
        let concerns = interests.mapValues { Concerns($0) }
        let items = concerns.compactMapValues(\.itemConcern)
        if !items.isEmpty { try followItems(items, concerns, number) }
        for suite in Set(concerns.values.flatMap(\.suites.keys)) {
            let keys = concerns.compactMapValues { $0.suites[suite] }
            do throws(CoordinationError) {
                try followKeys(of: suite, keys, number)
            } catch {
                // Widgets with other interests are not affected.
                let cause = "\(keys.keys.sorted().joined(separator: ", ")): interests: \(error)"
                note { $0.complaints.append(cause) }
            }
        }
    }

    private func followItems(
        _ items: [String: ItemConcern], _ concerns: [String: Concerns], _ number: Int
    ) throws(CoordinationError) {
        var patterns: [String] = []
        var isEverything = false
        for concern in concerns.values {
            if case .matching(let some) = concern.items { patterns += some }
            if case .all = concern.items { isEverything = true }
        }
        var follower = try container.follow(
            since: .now, matching: isEverything ? .everything : ChangeFilter(including: patterns))
        start("items", number) { (wait, seen) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait, since: seen) else { return nil }
            if change.kind.isMarker { return Set(items.keys) }
            return Set(items.filter { _, concern in concern.includes(change) }.keys)
        }
    }

    private func followKeys(
        of suite: String, _ keys: [String: Concerns.Keys], _ number: Int
    ) throws(CoordinationError) {
        var follower = try GroupDefaults(container, suite: suite).follow()
        start(suite, number) { (wait, seen) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait, since: seen) else { return nil }
            if change.kind != .set && change.kind != .removed { return Set(keys.keys) }
            return Set(keys.filter { $0.value.contains(change.key) }.keys)
        }
    }

    /// Follows the requests of apps, and whether an app is in front.
    func followRequests(_ center: WidgetCenter) throws(CoordinationError) {
        var follower = try center.follow()
        start("requests", nil) { (wait, seen) throws(CoordinationError) in
            guard try follower.next(timeout: wait, since: seen) != nil else { return nil }
            self.found.withLock { $0.hasRequests = true }
            return []
        }
    }

    /// Starts a thread that follows. `next` returns the kinds that the next change concerns; it waits once, as
    /// `Follower.next(timeout:since:)` does, and returns nil if none came.
    private func start(
        _ name: String, _ number: Int?,
        _ next: sending @escaping (Duration?, Interruption) throws(CoordinationError) -> Set<String>?
    ) {
        let box = Follower(next)
        DispatchQueue(label: "widget-host.\(name)").async { self.run(box, number) }
    }

    private func run(_ follower: Follower, _ number: Int?) {
        while true {
            let seen = Interruption.latest
            if let number, generation.withLock({ $0 }) != number { return }
            do throws(CoordinationError) {
                guard var kinds = try follower.next(nil, seen) else { continue }
                while let more = try follower.next(.zero, seen) { kinds.formUnion(more) }
                note { $0.changed.formUnion(kinds) }
                pause(nanoseconds: Self.rest)
            } catch {
                if error.code == .notFound { return note { $0.end = error } }
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

/// A follower, used by one thread only.
private final class Follower: @unchecked Sendable {
    let next: (Duration?, Interruption) throws(CoordinationError) -> Set<String>?
    init(_ next: @escaping (Duration?, Interruption) throws(CoordinationError) -> Set<String>?) { self.next = next }
}

extension Concerns.Keys {
    func contains(_ key: String) -> Bool {
        switch self {
        case .all: true
        case .only(let keys): keys.contains(key)
        }
    }
}
