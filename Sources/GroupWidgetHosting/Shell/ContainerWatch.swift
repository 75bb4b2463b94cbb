import Dispatch
import GroupContainer
import GroupSystemCalls

/// Follows the container for all widgets at once, on threads of its own, and says which of them are concerned: one
/// thread for the items, one for each suite. They sleep until something happens.
final class ContainerWatch: Sendable {
    /// What has come since the last look.
    struct Found: Sendable {
        var changed: Set<String> = []
        /// Apps may have asked for something.
        var hasRequests = false
        /// The container is not there any more.
        var end: CoordinationError?
        var complaints: [String] = []
        /// Addresses that no app of the container opens.
        var unopened: [Address] = []

        var isEmpty: Bool { changed.isEmpty && !hasRequests && end == nil && complaints.isEmpty && unopened.isEmpty }
    }

    /// What a widget leads to.
    struct Address: Hashable, Sendable {
        let url: String
        let kind: String
    }

    private let container: Container
    private let wake: @Sendable () -> Void
    private let found = Guarded(Found())
    /// Which widgets there are; followers of other ones end.
    private let generation = Guarded(0)

    /// A follower that has woken gathers for so long what comes after, so that a thousand changes a second cost no more
    /// than fifty.
    private static let rest: Int64 = 20_000_000

    init(_ container: Container, wake: @escaping @Sendable () -> Void) {
        (self.container, self.wake) = (container, wake)
    }

    /// Empties it.
    func take() -> Found {
        found.withLock { found in
            defer { found = Found() }
            return found
        }
    }

    /// From now on every change that concerns one of these is told; the widgets of before are followed no more.
    func follow(_ interests: [String: [Interest]]) throws(CoordinationError) {
        let number = generation.withLock { number in
            number += 1
            return number
        }
        let concerns = interests.mapValues { Concerns($0) }
        let items = concerns.compactMapValues(\.itemConcern)
        if !items.isEmpty { try followItems(items, concerns, number) }
        for suite in Set(concerns.values.flatMap(\.suites.keys)) {
            let keys = concerns.compactMapValues { $0.suites[suite] }
            do throws(CoordinationError) {
                try followKeys(of: suite, keys, number)
            } catch {
                // Of no concern to the widgets that look elsewhere.
                let cause = "\(keys.keys.sorted().joined(separator: ", ")): interests: \(error)"
                tell { $0.complaints.append(cause) }
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
        start("items", number) { (wait) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait) else { return nil }
            if change.kind.isMarker { return Set(items.keys) }
            return Set(items.filter { _, concern in concern.includes(change) }.keys)
        }
    }

    private func followKeys(
        of suite: String, _ keys: [String: Concerns.Keys], _ number: Int
    ) throws(CoordinationError) {
        var follower = try GroupDefaults(container, suite: suite).follow()
        start(suite, number) { (wait) throws(CoordinationError) in
            guard let change = try follower.next(timeout: wait) else { return nil }
            if change.kind != .set && change.kind != .removed { return Set(keys.keys) }
            return Set(keys.filter { $0.value.contains(change.key) }.keys)
        }
    }

    /// What apps ask of widgets, and whether one is in front.
    func followRequests(_ center: WidgetCenter) throws(CoordinationError) {
        var follower = try center.follow()
        start("requests", nil) { (wait) throws(CoordinationError) in
            guard try follower.next(timeout: wait) != nil else { return nil }
            self.found.withLock { $0.hasRequests = true }
            return []
        }
    }

    /// `next` gives whom the next change concerns; nil: none has come.
    private func start(
        _ name: String, _ number: Int?,
        _ next: sending @escaping (Duration) throws(CoordinationError) -> Set<String>?
    ) {
        let box = Follower(next)
        DispatchQueue(label: "widget-host.\(name)").async { self.run(box, number) }
    }

    private func run(_ follower: Follower, _ number: Int?) {
        while number == nil || generation.withLock({ $0 }) == number {
            do throws(CoordinationError) {
                guard var kinds = try follower.next(.seconds(1)) else { continue }
                while let more = try follower.next(.zero) { kinds.formUnion(more) }
                tell { $0.changed.formUnion(kinds) }
                pause(nanoseconds: Self.rest)
            } catch {
                if error.code == .notFound { return tell { $0.end = error } }
                tell { $0.complaints.append("\(error)") }
                pause(nanoseconds: 1_000_000_000)
            }
        }
    }

    func tell(_ note: (inout Found) -> Void) {
        found.withLock(note)
        wake()
    }
}

/// Of one thread.
private final class Follower: @unchecked Sendable {
    let next: (Duration) throws(CoordinationError) -> Set<String>?
    init(_ next: @escaping (Duration) throws(CoordinationError) -> Set<String>?) { self.next = next }
}

extension Concerns.Keys {
    func contains(_ key: String) -> Bool {
        switch self {
        case .all: true
        case .only(let keys): keys.contains(key)
        }
    }
}
