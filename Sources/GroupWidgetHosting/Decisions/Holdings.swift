/// What keeps others waiting as long as a widget's processes have it: they are not to be stopped with it.
package struct Holdings: Hashable, Sendable {
    /// The items that they have locks for, or wait for.
    package var items: [String] = []
    /// Locks on any other files, by whichever call: who holds what, for people.
    package var locks: [String] = []
    /// Some of them run, although they were told to stop: what they hold may not be all.
    package var isGoingOn = false

    package init(items: [String] = [], locks: [String] = [], isGoingOn: Bool = false) {
        (self.items, self.locks, self.isGoingOn) = (items, locks, isGoingOn)
    }

    var isEmpty: Bool { items.isEmpty && locks.isEmpty }
}
