public import Foundation
public import GroupContainer
import GroupSystemCalls

/// Defaults that all processes of a group share: a `UserDefaults` whose values are in a suite of the group's container.
/// Code that takes a `UserDefaults` works on it; code that makes one changes the name of the type:
///
///     let defaults = GroupUserDefaults(suiteName: "group.com.example.todo")
///
/// A value that is set is visible to every process when the call returns, and each object reports it: by
/// `didChangeNotification`, and to the observers of its key. Calls that have no place for an error pass it to
/// `UnreportedErrors.handler`, or write it to standard error, and change nothing. The first object of a group
/// identifier opens the container, which then stays open until the process ends; each further object of it is quick to
/// make. An object may be used on all threads, which Foundation gives a subclass of `UserDefaults` no way to declare:
/// the compiler warns of `static let shared = GroupUserDefaults(…)`, and is content with `nonisolated(unsafe) static
/// let shared = …`.
@preconcurrency
open class GroupUserDefaults: UserDefaults {
    /// The values, by calls that throw errors, and with generations, conditions and transactions.
    public let groupDefaults: GroupDefaults
    /// The registered values of the process.
    private static let registered = Guarded<[String: DefaultsValue]>([:])
    private let suite: ObservedSuite
    /// The deliveries to observers of this object.
    private let observations = Guarded<[ChangeDelivery.Weakly]>([])

    /// Opens the defaults of a group identifier, such as `group.com.example.todo`: the suite `standard` of the group's
    /// container, which is created if it does not exist. Nil if `suiteName` is nil or not valid, or the container
    /// cannot be opened: the error is written to standard error.
    public override init?(suiteName: String?) {
        guard let suite = reportingErrors({ try ObservedSuite.kept(Container.opened(ofSuite: suiteName)) }) else {
            return nil
        }
        self.suite = suite
        groupDefaults = suite.defaults
        super.init(suiteName: nil)
        suite.notify(self)
    }

    /// Opens a suite of a container. Nil if the name is not valid, or the suite cannot be opened: the error is written
    /// to standard error.
    public init?(_ container: Container, suite: String = "standard") {
        guard let defaults = reportingErrors({ try GroupDefaults(container, suite: suite) }) else { return nil }
        self.suite = ObservedSuite(defaults)
        groupDefaults = defaults
        super.init(suiteName: nil)
        self.suite.notify(self)
    }

    /// Unavailable: there is no group without a name.
    @available(*, unavailable, message: "name the group: GroupUserDefaults(suiteName:)")
    public convenience init() { preconditionFailure("unavailable") }

    deinit { for observation in observations.withLock({ $0 }) { observation.delivery?.end() } }

    // MARK: Reading

    /// Returns the value of the process's arguments, else the one that is set, else the registered one.
    func value(of key: String) -> DefaultsValue? {
        if let argument = volatileDomain(forName: UserDefaults.argumentDomain)[key] {
            return try? DefaultsValue(propertyList: argument)
        }
        return groupDefaults.value(forKey: key) ?? registeredValue(of: key)
    }

    func registeredValue(of key: String) -> DefaultsValue? { Self.registered.withLock { $0[key] } }

    /// Returns the value of a key: of the process's arguments (`-key value`), else the one that is set, else the
    /// registered one. Foundation's typed getters convert what this method returns.
    open override func object(forKey defaultName: String) -> Any? { value(of: defaultName)?.propertyList }

    /// Returns a URL as it was set, or a text as the path of a file, in which `~` is the home directory; else nil.
    open override func url(forKey defaultName: String) -> URL? {
        value(of: defaultName).flatMap { URL(defaultsValue: $0) }
    }

    /// Returns all values that `object(forKey:)` finds, by their keys.
    open override func dictionaryRepresentation() -> [String: Any] {
        Self.registered.withLock { $0 }.merging(groupDefaults.dictionaryRepresentation()) { $1 }
            .compactMapValues(\.propertyList)
            .merging(volatileDomain(forName: UserDefaults.argumentDomain)) { $1 }
    }

    // MARK: Setting

    /// Sets a value for all processes; nil removes it. The object is one of a property list, or a URL; any other one is
    /// refused: the error is written to standard error, and the old value stays.
    open override func set(_ value: Any?, forKey defaultName: String) {
        change { try groupDefaults.set(try value.map { try .stored($0, forKey: defaultName) }, forKey: defaultName) }
    }

    /// Sets a URL for all processes, with its scheme; nil removes it.
    open override func set(_ url: URL?, forKey defaultName: String) {
        change { try groupDefaults.set(url.map { .url($0.absoluteString) }, forKey: defaultName) }
    }

    /// Removes the value of a key for all processes; the registered value counts again.
    open override func removeObject(forKey defaultName: String) {
        change { try groupDefaults.removeValue(forKey: defaultName) }
    }

    /// Returns when everything that was set is on the disk. All processes see it before. False if the disk did not
    /// confirm it: the error is written to standard error.
    @discardableResult open override func synchronize() -> Bool {
        reportingErrors { try groupDefaults.flush() } != nil
    }

    /// Registers values for the keys for which nothing is set, for all objects of this class in the process. An object
    /// that is in no property list is left out: the error is written to standard error.
    open override func register(defaults registrationDictionary: [String: Any]) {
        for (key, object) in registrationDictionary {
            guard let value = reportingErrors({ try DefaultsValue.stored(object, forKey: key) }) else { continue }
            Self.registered.withLock { $0[key] = value }
        }
    }

    // MARK: Domains

    /// Adds values to a domain of this object that is not kept, a URL as its path. Those of the argument domain precede
    /// all others. If an object is in no property list, the error is written to standard error, and nothing is added.
    open override func setVolatileDomain(_ domain: [String: Any], forName domainName: String) {
        guard let values = reportingErrors({ try DefaultsValue.stored(domain) }) else { return }
        super.setVolatileDomain(values.compactMapValues(\.withPathsOfURLs.propertyList), forName: domainName)
    }

    /// Returns the values that are set, if the name is this object's group identifier; otherwise the values of that
    /// domain of the user, as Foundation's `UserDefaults` does.
    open override func persistentDomain(forName domainName: String) -> [String: Any]? {
        if !isOwn(domainName) { return super.persistentDomain(forName: domainName) }
        return groupDefaults.dictionaryRepresentation().compactMapValues(\.propertyList)
    }

    /// Replaces all values by others, as one change, if the name is this object's group identifier; otherwise those of
    /// that domain of the user. If an object is in no property list, the error is written to standard error, and
    /// nothing is changed.
    open override func setPersistentDomain(_ domain: [String: Any], forName domainName: String) {
        guard let values = reportingErrors({ try DefaultsValue.stored(domain) }) else { return }
        if !isOwn(domainName) {
            return super.setPersistentDomain(
                values.compactMapValues(\.withPathsOfURLs.propertyList), forName: domainName)
        }
        change {
            try groupDefaults.transaction { transaction in
                transaction.removeAll()
                for (key, value) in values { transaction.set(value, forKey: key) }
            }
        }
    }

    /// Removes all values for all processes, if the name is this object's group identifier; otherwise those of that
    /// domain of the user.
    open override func removePersistentDomain(forName domainName: String) {
        if !isOwn(domainName) { return super.removePersistentDomain(forName: domainName) }
        change { try groupDefaults.removeAll() }
    }

    private func isOwn(_ domainName: String) -> Bool { domainName == groupDefaults.container.groupIdentifier }

    /// Adds nothing, and writes an error to standard error: all values of this object are in its container.
    open override func addSuite(named suiteName: String) {
        reportingErrors {
            throw CoordinationError(
                .invalidArgument, operation: "add the suite", item: suiteName,
                reason: "all values of a GroupUserDefaults are in its own container")
        }
    }

    /// Removes nothing, and writes an error to standard error, as no suite can be added.
    open override func removeSuite(named suiteName: String) {
        reportingErrors {
            throw CoordinationError(
                .invalidArgument, operation: "remove the suite", item: suiteName,
                reason: "all values of a GroupUserDefaults are in its own container")
        }
    }

    // MARK: Changes

    /// Makes a change, and delivers it before returning.
    private func change(_ operation: () throws -> Void) { suite.deliveries.make { reportingErrors(operation) } }

    /// Begins a delivery to an observer; it ends with this object, if not before. Error: `limitReached` if there can be
    /// no thread.
    func begin(_ delivery: ChangeDelivery) throws(CoordinationError) {
        observations.withLock { observations in
            observations.removeAll { $0.delivery == nil }
            observations.append(ChangeDelivery.Weakly(delivery: delivery))
        }
        try suite.deliveries.begin(delivery)
    }
}

/// A suite, and the objects of this process that report its changes. One thread delivers to all of them.
final class ObservedSuite: Sendable {
    let defaults: GroupDefaults
    let deliveries = ChangeDeliveries()
    private let objects = Guarded<[WeakDefaults]>([])
    private let notifications = Guarded<ChangeDelivery?>(nil)
    /// The suites of group identifiers, by their containers' paths: each stays open until the process ends, as programs
    /// make an object for each access.
    private static let kept = Guarded<[AbsolutePath: ObservedSuite]>([:])

    init(_ defaults: GroupDefaults) { self.defaults = defaults }

    deinit { deliveries.end() }

    /// Returns the suite `standard` of a container that is kept open, or has been made at that path anew.
    static func kept(_ container: Container) throws(CoordinationError) -> ObservedSuite {
        let path = container.path
        if let suite = kept.withLock({ $0[path] }), suite.defaults.container.opened === container.opened {
            return suite
        }
        let suite = ObservedSuite(try GroupDefaults(container))
        let last = kept.withLock { $0.updateValue(suite, forKey: path) }
        // Released after the lock: it may be the last reference to its container.
        return withExtendedLifetime(last) { suite }
    }

    /// Posts `didChangeNotification` for an object from now on, once for each record of changes. Where the suite does
    /// not exist and cannot be created, in a read-only container or on a full disk, the error is written to standard
    /// error, and no notification is posted.
    func notify(_ object: GroupUserDefaults) {
        objects.withLock { objects in
            objects.removeAll { $0.reference == nil }
            objects.append(WeakDefaults(object))
        }
        reportingErrors {
            let new = try notifications.withLock { (notifications) throws(CoordinationError) -> ChangeDelivery? in
                if notifications != nil { return nil }
                let delivery = ChangeDelivery(from: try defaults.follow()) { [weak self] change, isLast in
                    if isLast && change.isOfValue { self?.post() }
                }
                notifications = delivery
                return delivery
            }
            if let new { try deliveries.begin(new) }
        }
    }

    private func post() {
        for object in objects.withLock({ $0.compactMap(\.reference) }) {
            NotificationCenter.default.post(name: UserDefaults.didChangeNotification, object: object)
        }
    }
}

/// A weak reference for closures that run on any thread. The object may be used on all threads; that it is not
/// `Sendable` comes from Foundation, whose `UserDefaults` refuses this to its subclasses.
struct WeakDefaults: @unchecked Sendable {
    weak let reference: GroupUserDefaults?

    init(_ reference: GroupUserDefaults) { self.reference = reference }
}

extension DefaultsChange {
    /// Whether this is a change of a value, rather than a report about the suite's log.
    var isOfValue: Bool {
        switch kind {
        case .set, .removed, .cleared: true
        case .present, .rescan, .degraded: false
        }
    }
}
