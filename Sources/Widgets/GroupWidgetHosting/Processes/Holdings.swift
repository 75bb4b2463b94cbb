// Imports nothing: no file, clock or process.

/// What a widget's processes hold that other processes may wait for: while they hold it, they must not be stopped.
package struct Holdings: Hashable, Sendable {
    /// The items that they have locks for, or wait for.
    package var items: [String] = []
    /// The locks on other files, by any call, with their holders: texts for people.
    package var locks: [String] = []
    /// Whether a process other than the widget's own still runs, so that the list may be incomplete. The value is used
    /// only after the signal to stop.
    package var isGoingOn = false

    /// Whether another process waits for one of the items.
    package var isAwaited = false

    package init(
        items: [String] = [], locks: [String] = [], isGoingOn: Bool = false, isAwaited: Bool = false
    ) {
        self.items = items
        self.locks = locks
        self.isGoingOn = isGoingOn
        self.isAwaited = isAwaited
    }

    var isEmpty: Bool { items.isEmpty && locks.isEmpty }
}
