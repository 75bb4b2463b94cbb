import Foundation
import GroupContainer

/// What an observer of a key is to receive. (There is no `prior`: a change of another process is known once it is
/// made.)
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The bits, as on Apple's systems.
    public let rawValue: UInt
    /// Creates options from their bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The new value, in `newValue`.
    public static let new = Self(rawValue: 1)
    /// The value before, in `oldValue`.
    public static let old = Self(rawValue: 2)
    /// A call with the present value before `observe` returns.
    public static let initial = Self(rawValue: 4)
}

/// A change of a value that is observed.
public struct NSKeyValueObservedChange<Value> {
    /// The value after the change; nil where there is none, or without the option `new`.
    public let newValue: Value?
    /// The value before the change; nil where there was none, or without the option `old`.
    public let oldValue: Value?
}

/// The observation of a key, which ends with the call of `invalidate()`, with the last reference to this object, or
/// with the object that is observed.
public final class NSKeyValueObservation: Sendable {
    private let delivery: ChangeDelivery?

    init(_ delivery: ChangeDelivery?) { self.delivery = delivery }

    deinit { invalidate() }

    /// Ends the observation. A call of the handler that has begun on another thread goes on.
    public func invalidate() { delivery?.end() }
}

extension GroupUserDefaults {
    /// Observes a key: calls the handler for each set, also of the same value, and each removal, in all processes, each
    /// once and in their order. A change by this object is reported on the thread that makes it, before the call
    /// returns; if another thread is in the handler at that time, that thread reports the change next. Other changes
    /// are reported on a thread of the suite. While nothing changes, an observation makes no system call. If changes
    /// cannot be followed, the error is written to standard error.
    public func observe(
        _ key: String, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (GroupUserDefaults, NSKeyValueObservedChange<Any>) -> Void
    ) -> NSKeyValueObservation {
        let start = reportingErrors { try groupDefaults.beginning(ofKey: key) }
        if options.contains(.initial) {
            changeHandler(self, observed(key, nil, start?.value, options.subtracting(.old)))
        }
        guard let start else { return NSKeyValueObservation(nil) }
        let delivery = ChangeDelivery(from: start.follower) { [own = WeakDefaults(self)] change, _ in
            guard let defaults = own.reference, change.isOfValue else { return }
            changeHandler(defaults, defaults.observed(key, change.oldValue, change.newValue, options))
        }
        reportingErrors { try begin(delivery) }
        return NSKeyValueObservation(delivery)
    }

    /// Returns the change that an observer gets. Where nothing is set, the registered value counts.
    private func observed(
        _ key: String, _ old: DefaultsValue?, _ new: DefaultsValue?, _ options: NSKeyValueObservingOptions
    ) -> NSKeyValueObservedChange<Any> {
        func object(_ value: DefaultsValue?, _ option: NSKeyValueObservingOptions) -> Any? {
            options.contains(option) ? (value ?? registeredValue(of: key))?.propertyList : nil
        }
        return NSKeyValueObservedChange(newValue: object(new, .new), oldValue: object(old, .old))
    }

    /// Returns the value of a key, as `object(forKey:)` does.
    public func value(forKey key: String) -> Any? { object(forKey: key) }

    /// Sets a value, as `set(_:forKey:)` does; nil removes it.
    public func setValue(_ value: Any?, forKey key: String) { set(value, forKey: key) }
}

extension GroupDefaults {
    /// Returns the present value of a key, and a follower of all later changes of it. Errors: those of
    /// `follow(of:since:)`.
    fileprivate func beginning(
        ofKey key: String
    ) throws(CoordinationError) -> (value: DefaultsValue?, follower: Follower<DefaultsChange>) {
        let follower = try follow(of: [key], since: .snapshot)
        var behindSnapshot = follower
        guard let first = try behindSnapshot.next(timeout: .zero), first.kind == .present else {
            return (nil, follower)
        }
        return (first.newValue, behindSnapshot)
    }
}
